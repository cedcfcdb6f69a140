"""Records into docs/figures.md and the plots next to it: each figure of the papers, in their order,
with what they state of it and whether that holds here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import reports
from benchmarks.pages import plots
from benchmarks.record import Record
from benchmarks.report import Statement, Table, image_name, markdown, number, statements_table

__all__ = ["write"]

INTRODUCTION = """# The book of figures

Each figure of the papers that XSCL builds on, measured here, in the order of the papers; after
these, what goes beyond them. What a user may want to know is on another page,
[performance](performance.md).

A section says which command measures it again, at which commit of the product and on which day it
was measured, and how many cores other processes kept busy meanwhile. *Reached* is what a paper
states, or a goal of this project, and holds here; what does not hold is said as plainly. Measured
on

{machines}

The *floor* is reading the same documents and no more: `lxml.etree.fromstring`, or `json.loads`.
"""

PAPERS = """Techniques are compared in one run, in processor time, over the papers' streams: ratios
and shapes count, not events a second."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A paper: its title, what to know before its figures, and the names of these."""

    title: str
    text: str
    names: tuple[str, ...]


CHAPTERS = (
    Chapter(
        "SASE and SASE+",
        f"{PAPERS} Events are handed to `pattern_stage` as tuples, so that no reading of "
        "documents is in any figure. Baselines are in `benchmarks/patterns`, or the product "
        "without a technique (`Engine(without=...)`).",
        reports.SASE,
    ),
    Chapter(
        "Cayuga (chapter 4 of the thesis)",
        "Event queries by the hundred thousand, from lines of JSON text to numbers of outputs, in "
        "processor time, with lateness 0. The thesis' systems were handed tuples and counted what "
        "came out; here a document is read, and each output is reported to its query: where these "
        "cost more than what a figure compares, ways that differ much in the thesis differ less "
        "here. The ways compared are the engine with techniques switched off "
        "(`Engine(without=...)`), baselines in `benchmarks/baselines/events`, and SQL.",
        reports.CAYUGA,
    ),
    Chapter("RUMOR (chapter 5 of the thesis)", "As for Cayuga.", reports.RUMOR),
    Chapter(
        "Massively multi-query joins (chapter 6 of the thesis)",
        "Baselines share no code with the engine: *Sequential* evaluates one SQL query for each "
        "XSCL query, *MMQJP* one for each template (Algorithm 1), *with views* after materialising "
        "R_vj, R_L and R_R (section 6.6.2). They run in DuckDB unless the column says SQLite, over "
        "witness relations that are loaded beforehand and not timed. Each run compares the matches "
        "of all "
        "ways, as far as each gets within its limit, and stops at a difference. A number after `~` "
        "is scaled up from a sample; — was not measured or took too long.",
        reports.JOINS,
    ),
    Chapter("NEXT CEP", PAPERS, reports.NEXT),
    Chapter("AFA", PAPERS, reports.AUTOMATA),
    Chapter(
        "Beyond the papers",
        "What users do, other engines over the same input, and bounds. Where a join by hand is "
        "beside it, that is what one would write for exactly these documents and queries.",
        reports.USERS,
    ),
)

TRIED = """## Tried, and not kept

Compiling `xpath_stage` and `join_stage` with mypyc 2.4 (gcc -O2; 22 November 2026, processor
time, medians of five pairs): 10,000 feed items with 1,000 queries took 0.95 of the interpreted time
one by one and 1.24 in batches, loading 1,000 different queries 0.92 (of three); the bar was 1.5
times the speed. A frozen dataclass is constructed as slowly compiled as interpreted (0.6 µs). The
build took four changes of the source and three minutes, and was wrong: tests of stage 1 failed (the
`tag` of a comment is a function, against its declared type), and some groups of matches came twice.
"""


def write(records: Sequence[Record], docs: Path) -> None:
    """Writes the page and its plots under a folder."""
    named = {record.report.name: record for record in records}
    parts = [INTRODUCTION.format(machines=_machines(records)), _summary(named)]
    for chapter in CHAPTERS:
        of = [named[name] for name in chapter.names if name in named]
        if of:
            parts += [f"## {chapter.title}\n\n{chapter.text}\n", *map(_section, of)]
    parts.append(TRIED)
    for record in records:
        for place, plot in enumerate(record.report.plots):
            plots.write(plot, docs / image_name(record.report, place))
    (docs / "figures.md").write_text("\n".join(parts), encoding="utf-8")


def _summary(named: dict[str, Record]) -> str:
    """How much of each chapter is reached."""
    rows = tuple(
        (chapter.title, *_verdicts(named[name] for name in chapter.names if name in named))
        for chapter in CHAPTERS
    )
    return Table(("paper", "reached", "missed", "not measured"), rows).markdown() + "\n"


def _verdicts(records: Iterable[Record]) -> tuple[int, int, int]:
    """How many statements hold, do not, and were not measured at their size."""
    found = Counter(_holds(record, one) for record in records for one in record.report.statements)
    return found[True], found[False], found[None]


def _holds(record: Record, statement: Statement) -> bool | None:
    """A reduced size says nothing of the full one."""
    return None if record.reduced else statement.holds


def _section(record: Record) -> str:
    statements = statements_table(
        (one, record.reduced) for one in record.report.statements
    ) if record.report.statements else ""  # fmt: skip
    return markdown(record.report, f"{measured(record)}\n\n{statements}".rstrip(), level=3)


def measured(record: Record) -> str:
    """The line of a section that says how and when it was measured."""
    size = ", at a reduced size" if record.reduced else ""
    took = f", in {record.seconds:,} s" if record.seconds else ""
    return (
        f"*Measured by `{record.command}`{size}, at commit {record.commit}, on "
        f"{record.date}{took}, with a load of {number(record.load)}."
        f"{' ' + record.note if record.note else ''}*"
    )


def _machines(records: Sequence[Record]) -> str:
    return "\n".join(f"- {machine}" for machine in dict.fromkeys(r.machine for r in records))
