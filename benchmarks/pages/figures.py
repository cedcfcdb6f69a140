"""Records into docs/figures.md and the plots next to it: each figure of the papers, in their order,
with what they state of it and whether that holds here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import reports
from benchmarks.pages import misses, plots
from benchmarks.record import Record
from benchmarks.report import Cell, Statement, Table, image_name, markdown, number, statements_table

__all__ = ["write"]

INTRODUCTION = """# The book of figures

Each figure of the papers that XSCL builds on, measured here, in the order of the papers; after
these, what goes beyond them. Users find their figures on another page,
[performance](performance.md).

Techniques are compared in one run, in processor time, with nothing else running: ratios and
shapes count, not events a second. A section names the command that measures it, the commit of the
product, the day, and how many cores other processes kept busy meanwhile. A statement is *reached*
if it holds here; where its source is a *goal*, it is this project's own, and where this project
asks for less than a paper reports, the paper's number is in parentheses; *(goal: …)* behind a
statement of a paper is what this project asks for, and the verdict is on the paper's number. The
*floor* is reading the same documents and no more: `lxml.etree.fromstring`, or `json.loads`.
Measured on

{machines}
"""

GOAL = "goal"
"""Where the source of a statement begins so, it is this project's."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A paper: its title, what to know before its figures, and the names of these."""

    title: str
    text: str
    names: tuple[str, ...]


CHAPTERS = (
    Chapter(
        "SASE and SASE+",
        "Events are handed to `pattern_stage` as tuples, one a tick: no figure includes the "
        "reading of documents. The first window is not timed; then all ways process a tenth of a "
        "window in turn, and find the same matches in each step. A way that gets through no window "
        "within its limit is measured in the latter half of its steps. Baselines are in "
        "`benchmarks/patterns`, or the product without a technique (`Engine(without=...)`).",
        reports.SASE,
    ),
    Chapter(
        "Cayuga (chapter 4 of the thesis)",
        "From lines of JSON to numbers of outputs, in batches of 1,000, with lateness 0. The first "
        "sixth of a stream is not timed, and of five further parts the median counts. The thesis' "
        "systems were handed tuples and counted outputs; here a document is read, and each output "
        "is reported to its query: ways that differ much in the thesis differ less here. They are "
        "the engine without a technique (`Engine(without=...)`), baselines in "
        "`benchmarks/baselines/events`, and SQL.",
        reports.CAYUGA,
    ),
    Chapter(
        "RUMOR (chapter 5 of the thesis)",
        "As for Cayuga. *XSCL* is the plan with channels, *s_ only* the plan without them, which "
        "is Cayuga's; *No MQO* shares nothing. *Normalised*: divided by the events/s of the same "
        "way under the lightest load, as in the thesis.",
        reports.RUMOR,
    ),
    Chapter(
        "Massively multi-query joins (chapter 6 of the thesis)",
        "Baselines share no code with the engine: *Sequential* evaluates one SQL query for each "
        "XSCL query, *MMQJP* one for each template (Algorithm 1), *with views* after materialising "
        "R_vj, R_L and R_R (section 6.6.2). They run in DuckDB unless the column names SQLite, "
        "over witness relations that are loaded before and not timed. All ways find the same "
        "matches, as far as each gets within its limit. "
        f"{reports.scale_of('figure_6_08').limits} — was not "
        "measured or took too long. *Deduplicated*: queries that join the same "
        "leaves are evaluated once. XSCL is timed from the XML text of both documents to all "
        "matches: *cold* if no pair before joined the same leaves, so that no signature is cached, "
        "else *warm*. *Planning* is the share of a way's time that DuckDB takes to plan its SQL; "
        "SQLite plans in microseconds. *Mirrored = 1*: a template and its mirror image count as "
        "one (table 6.3).",
        reports.JOINS,
    ),
    Chapter(
        "NEXT CEP",
        "As drawn and rewritten, queries find the same matches, compared over the first 2 s of "
        "stream.",
        reports.NEXT,
    ),
    Chapter(
        "AFA",
        "The stream is the paper's synthetic one, one event a millisecond. But for figures 10 and "
        "11 and the levels, the automata run alone: events parsed and in memory, matches counted, "
        "the best of three interleaved runs. Memory is `tracemalloc`'s peak over a tenth of the "
        "stream. Figures 7, 14, 15 and 18 show parameters, automata and a data structure.",
        reports.AUTOMATA,
    ),
    Chapter(
        "Beyond the papers",
        "What users do, other engines over the same input, and bounds.",
        reports.USERS,
    ),
)


def write(records: Sequence[Record], docs: Path) -> None:
    """Writes the page and its plots under a folder."""
    named = {record.report.name: record for record in records}
    machines = [*dict.fromkeys(record.machine for record in records)]
    parts = [INTRODUCTION.format(machines=_machines(machines)), _summary(named)]
    for chapter in CHAPTERS:
        of = [named[name] for name in chapter.names if name in named]
        if of:
            text = f"\n{chapter.text}\n" if chapter.text else ""
            parts += [f"## {chapter.title}\n{text}", *(_section(one, machines) for one in of)]
    for record in records:
        for place, plot in enumerate(record.report.plots):
            plots.write(plot, docs / image_name(record.report, place))
    (docs / "figures.md").write_text("\n".join(parts), encoding="utf-8")


def _summary(named: dict[str, Record]) -> str:
    """How much of each chapter is reached, of what papers state and of this project's goals."""
    rows = list[tuple[Cell, ...]]()
    for chapter in CHAPTERS:
        found = Counter(
            (one.source.startswith(GOAL), _holds(record, one))
            for name in chapter.names
            for record in [named.get(name)]
            if record
            for one in record.report.statements
        )
        counts = [found[goal, holds] for goal in (False, True) for holds in (True, False)]
        rows.append((chapter.title, *counts, found[False, None] + found[True, None]))
    columns = ("", "papers: reached", "missed", "goals: reached", "missed", "not judged")
    return Table(columns, tuple(rows)).markdown() + "\n"


def _holds(record: Record, statement: Statement) -> bool | None:
    """A reduced size says nothing of the full one."""
    return None if record.reduced else statement.holds


def _section(record: Record, machines: Sequence[str]) -> str:
    statements = statements_table(
        (one, record.reduced) for one in record.report.statements
    ) if record.report.statements else ""  # fmt: skip
    parts = [_measured(record, machines), statements]
    if why := misses.explained(record.report.name, record.report.statements):
        parts += ["Why it is missed:", "\n".join(why)]
    return markdown(record.report, "\n\n".join(filter(None, parts)), level=3)


def _measured(record: Record, machines: Sequence[str]) -> str:
    """The line of a section that says how, when and where it was measured."""
    size = ", at a reduced size" if record.reduced else ""
    where = f", on machine {machines.index(record.machine) + 1}" if len(machines) > 1 else ""
    took = f", in {record.seconds:,} s" if record.seconds else ""
    return (
        f"*Measured by `{record.command}`{size}, at commit {record.commit}, on "
        f"{record.date}{where}{took}, with a load of {number(record.load)}."
        f"{' ' + record.note if record.note else ''}*"
    )


def _machines(machines: Sequence[str]) -> str:
    return "\n".join(f"{place}. {machine}" for place, machine in enumerate(machines, 1))
