"""Records into docs/performance.md: what one core does for the jobs that users have, beside what
they would use instead, and when that is the better choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.record import Record
from benchmarks.report import Cell, Table, image_name, number

__all__ = ["write"]

INTRODUCTION = """# Performance

What one core does, from the text of documents to what a user reads, beside three things: the
*floor*, which reads the same documents and does nothing (`lxml.etree.fromstring` or `json.loads`);
the same *by hand*, what one would write for exactly these documents and queries; and other engines.
Ratios are of one run, and hold elsewhere; rates are of this machine. [The book of
figures](figures.md) has the rest.
"""

BETTER = """## When another tool is the better one

- **One look back over a table** (what is joined is all there): DuckDB, or any database. A `SELECT`
  for each query is several times faster than XSCL, which pays for answering as documents come.
- **A few queries that never change**: a script with dictionaries, or Bytewax. It is the *by hand*
  of the table, and XSCL is at best as fast. It stops being an option where queries come and go, or
  are many: its time grows with their number, XSCL's hardly does.
- **More than one machine, exactly-once sinks, connectors for everything**: Flink. XSCL's joins and
  patterns run on Spark, but its operations are not Flink's.
- **Windows over numbers, dashboards**: Flink SQL, Materialize, a time-series database. XSCL counts
  and averages over windows, but what it is made for is values that meet between documents.
- **One document at a time** (filters, routing): a rule engine or `jq`. Nothing joins there.

XSCL is the better one where many standing queries, of many people, come and go over the same
documents; where what joins is deep inside of XML or JSON; where an answer has to come with its
reason (`xscl why`), be taken back when a document is edited, and survive a crash.
"""

PICTURES = (("growth", 0), ("peers", 0), ("pattern_peers", 0))
"""Sections, and which of their plots."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a user does: where its row is, by section and first cell, and the columns of its rate
    and of the floor's and the hand's ratio; those in `inverse` say which part of the other it
    is."""

    title: str
    section: str
    row: str
    rate: str
    floor: str = ""
    hand: str = ""
    inverse: bool = False


JOBS = (
    Job("join feeds: items of real feeds with the same link, as lines", "user_table",
        "links, as lines", "a second", "times the floor", "times by hand"),
    Job("100,000 joins over a stream of items, groups read", "user_table",
        "items in batches, groups read", "a second", "times the floor", "times by hand"),
    Job("10,000 joins, each item as it comes", "user_table", "items one by one", "a second",
        "times the floor", "times by hand"),
    Job("a sequence of three events", "pattern_speed", "three steps", "events/s", "of the floor",
        inverse=True),
    Job("10,000 sequences that differ in constants", "pattern_speed", "three steps, alike",
        "events/s", "of the floor", inverse=True),
    Job("a total over a sliding window, by group", "pattern_speed", "a total", "events/s",
        "of the floor", inverse=True),
    Job("400,000 event queries, counted", "event_speed", "LinearStat", "events/s"),
)  # fmt: skip


def write(records: Sequence[Record], docs: Path) -> None:
    """Writes the page; its pictures are those of the other page."""
    named = {record.report.name: record for record in records}
    parts = [INTRODUCTION, _jobs(named), *_pictures(named), *_peers(named), BETTER]
    (docs / "performance.md").write_text("\n".join(parts), encoding="utf-8")


def _jobs(named: Mapping[str, Record]) -> str:
    rows = list[tuple[Cell, ...]]()
    used = dict[str, Record]()
    for job in JOBS:
        cells = _row(named, job)
        if cells is None:
            rows.append((job.title, "not measured at this size yet", None, None))
            continue
        used[job.section] = named[job.section]
        floor, hand = (cells[name] if name else None for name in (job.floor, job.hand))
        if job.inverse and isinstance(floor, float):
            floor = 1 / floor
        rows.append((job.title, cells[job.rate], _times(floor), _times(hand)))
    table = Table(("job", "documents a second", "times the floor", "times by hand"), tuple(rows))
    return f"{table.markdown()}\n\n{_circumstances(list(used.values()))}\n"


def _row(named: Mapping[str, Record], job: Job) -> dict[str, Cell] | None:
    """The cells of a job's row by their columns, if it was measured at its size."""
    if job.section not in named or named[job.section].reduced:
        return None
    for table in named[job.section].report.tables:
        for row in table.rows:
            if row[0] == job.row:
                return dict(zip(table.columns, row, strict=True))
    return None


def _times(cell: Cell) -> str | None:
    return number(cell) if isinstance(cell, int | float) else cell


def _circumstances(records: Sequence[Record]) -> str:
    """When and at which commits the table was measured."""
    lines = dict.fromkeys(
        f"commit {one.commit}, {one.date}, load {number(one.load)}" for one in records
    )
    machines = dict.fromkeys(one.machine for one in records)
    return f"*Measured at {'; '.join(lines)}, on {' and '.join(machines)}.*"


def _pictures(named: Mapping[str, Record]) -> Iterator[str]:
    for name, place in PICTURES:
        if name in named and len(named[name].report.plots) > place:
            report = named[name].report
            yield f"![{report.title}]({image_name(report, place)})\n"


def _peers(named: Mapping[str, Record]) -> Iterator[str]:
    """The tables that say how many times XSCL's time each engine takes."""
    for name in ("peers", "pattern_peers"):
        for table in named[name].report.tables if name in named else ():
            if table.columns[0].startswith("times XSCL"):
                yield f"## {named[name].report.title}\n\n{table.markdown()}\n"
