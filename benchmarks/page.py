"""Records into docs/benchmarks.md and the plots next to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import plots
from benchmarks.record import Record
from benchmarks.report import image_name, markdown, number, statements_table
from benchmarks.reports import EVENTS, FIRST, SASE

__all__ = ["write"]

INTRODUCTION = """# Benchmarks

First what a user may want to know: what one core does and what ten times as much costs, what the
things take that users do, and which other engines are faster at what. Then the figures of section
6.6 of the thesis, and more. Each section names the command, the commit and the day of its
measurement: that command measures it again, `python -m benchmarks NAME` one section alone. Where it
says reduced size, the figures are of fewer items and queries than the full size has. Measured on

{machines}

A load above the number of cores means that the machine did other work at the same time. The *floor*
is reading the same documents and no more: `lxml.etree.fromstring` (`json.loads` for JSON).
"""

THESIS = """## The thesis' figures

Baselines share no code with the engine: *Sequential* evaluates one SQL query for each XSCL query,
*MMQJP* one for each template (Algorithm 1), *with views* after materialising R_vj, R_L and R_R
(section 6.6.2). They run in DuckDB unless the column says SQLite, over witness relations that are
loaded beforehand and not timed. Each run compares the matches of all ways, as far as each gets
within its limit, and stops at a difference. A number after `~` is scaled up from a sample; — was
not measured or took too long.

### Statements of the thesis, and goals
"""

PATTERNS = """## The figures of SASE and SASE+

Techniques are compared in one run, in processor time, over the papers' streams, at sizes that
Python gets through: ratios and shapes count, not events a second. Events are handed to
`pattern_stage` as tuples, so that no reading of documents is in any figure. Baselines are in
`benchmarks/patterns`, or the product without a technique (`Engine(without=...)`).

### Statements of both papers
"""

CAYUGA = """## The figures of Cayuga and RUMOR

Chapters 4 and 5 of the thesis: event queries by the hundred thousand, from lines of JSON text to
numbers of outputs, in processor time, with lateness 0. Absolute rates are of plain Python, and
throughput is normalised where the thesis does so: each line beside its own lightest load. The ways
compared are the engine with techniques switched off (`Engine(without=...)`), baselines in
`benchmarks/baselines/events`, and SQL.

A statement is of the sizes of the thesis; of a reduced size what holds and what does not is of that
size alone, and *not measured* is what it can say nothing about, whatever number stands beside it.
The thesis' systems were handed tuples and counted what came out. Here a document is read, and each
output told to its query: where these cost more than what a figure compares, ways that differ much
in the thesis differ less here. That is behind most of what does not hold, above all of channels, of
selectivity and of what a query with few hits costs.

### Statements of both chapters, and goals
"""

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
    reports = [record.report for record in records]
    parts = [INTRODUCTION.format(machines=_machines(records))]
    sections = {record.report.name: markdown(record.report, measured(record)) for record in records}
    parts += [sections.pop(name) for name in FIRST if name in sections]
    theses = [record.report.name for record in records if record.report.name not in SASE + EVENTS]
    for introduction, of in ((THESIS, theses), (PATTERNS, SASE), (CAYUGA, EVENTS)):
        some = [record for record in records if record.report.name in of]
        if not some:
            continue
        statements = [(s, record.reduced) for record in some for s in record.report.statements]
        names = [record.report.name for record in some if record.report.name in sections]
        parts += [introduction, statements_table(statements) + "\n", *map(sections.pop, names)]
    parts.append(TRIED)
    for report in reports:
        for place, plot in enumerate(report.plots):
            plots.write(plot, docs / image_name(report, place))
    (docs / "benchmarks.md").write_text("\n".join(parts), encoding="utf-8")


def measured(record: Record) -> str:
    """The line of a section that says how and when it was measured."""
    size = ", reduced size" if record.reduced else ""
    return (
        f"*Measured by `{record.command}`{size}, at commit {record.commit}, on {record.date}, "
        f"with a load of {number(record.load)}.{' ' + record.note if record.note else ''}*"
    )


def _machines(records: Sequence[Record]) -> str:
    return "\n".join(f"- {machine}" for machine in dict.fromkeys(r.machine for r in records))
