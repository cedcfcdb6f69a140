"""Records into docs/performance.md: what one core does for the jobs that users have, beside what
they would use instead, and when that is the better choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.contest import RATIOS
from benchmarks.record import Record
from benchmarks.report import Cell, Table, image_name, number

__all__ = ["write"]

INTRODUCTION = """# Performance

What one core does, from the text of documents to matches, beside three things: the *floor*, which
reads the same documents and does nothing (`lxml.etree.fromstring` or `json.loads`); the same *by
hand*, what one would write for exactly these documents and queries; and other engines. Ratios are
of one run, and should carry over to other machines; rates are of this one. [The book of
figures](figures.md) has the rest.
"""

BETTER = """## When another tool is the better one

- **One look back over what is all there**: DuckDB, or any database. XSCL pays for answering as
  documents come.
- **A few queries, or many of one form that never change**: a script. One join in dictionaries (*by
  hand*) takes 100,000 joins of one form as easily as ten, and a step of Bytewax for each query is
  fast while these are few. XSCL is for queries that other people write, and that come and go.
- **A cluster, exactly-once sinks, connectors for everything**: Flink. XSCL's joins and patterns
  run on Spark, but it has no cluster of its own, and few sinks.
- **Dashboards over numbers**: Flink SQL, Materialize, a time-series database, for what they connect
  to. XSCL counts and averages over windows, but is made for values that meet between documents.
- **One document at a time** (filters, routing): a rule engine or `jq`. Nothing joins there.

XSCL is the better one where many standing queries, of many people, come and go over the same
documents; where what joins is deep inside of XML or JSON; where an answer has to come with its
reason (`xscl why`), be taken back when a document is edited, or survive a crash ([what that
costs](figures.md#the-price-of-durable-state)).
"""

PICTURES = (("growth", 0), ("peers", 0), ("pattern_peers", 0))
"""Sections, and which of their plots."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a user does, and how documents come: where its row is, by section and first cell (none:
    the slowest one of the first table), and the columns of its rate and of the floor's and the
    hand's ratio; those in `inverse` say which part of the other it is."""

    title: str
    comes: str
    section: str
    row: str
    rate: str
    floor: str = ""
    hand: str = ""
    inverse: bool = False


JOBS = (
    Job("join feeds: items of real feeds with the same link, written as lines", "a file",
        "user_table", "links, as lines", "a second", "times the floor", "times by hand"),
    Job("100,000 joins over feed items, all matches read", "5,000 at a time", "user_table",
        "items in batches, groups read", "a second", "times the floor", "times by hand"),
    Job("10,000 joins over feed items", "one by one", "user_table", "items one by one",
        "a second", "times the floor", "times by hand"),
    Job("a sequence of three events, matches counted", "1,000 at a time", "pattern_speed",
        "three steps", "events/s", "of the floor", inverse=True),
    Job("10,000 sequences that differ in constants", "1,000 at a time", "pattern_speed",
        "three steps, alike", "events/s", "of the floor", inverse=True),
    Job("a total over a sliding window, by group", "1,000 at a time", "pattern_speed", "a total",
        "events/s", "of the floor", inverse=True),
    Job("400,000 event queries, the slowest of five forms", "1,000 at a time", "event_speed", "",
        "events/s"),
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
            rows.append((job.title, job.comes, "not measured at this size yet", None, None))
            continue
        used[job.section] = named[job.section]
        floor, hand = (cells[name] if name else None for name in (job.floor, job.hand))
        if job.inverse and isinstance(floor, float):
            floor = 1 / floor
        rate = cells[job.rate]
        rate = number(rate) if isinstance(rate, float) else rate
        rows.append((job.title, job.comes, rate, _times(floor), _times(hand)))
    columns = ("job", "documents come", "a second", "times the floor", "times by hand")
    table = Table(columns, tuple(rows))
    return f"{table.markdown()}\n\n{_circumstances(list(used.values()))}\n"


def _row(named: Mapping[str, Record], job: Job) -> dict[str, Cell] | None:
    """The cells of a job's row by their columns, if it was measured at its size."""
    if job.section not in named or named[job.section].reduced:
        return None
    tables = named[job.section].report.tables
    rows = [dict(zip(one.columns, row, strict=True)) for one in tables for row in one.rows]
    if not job.row:
        return min(rows[: len(tables[0].rows)], key=lambda cells: cells[job.rate] or 0)
    return next((cells for cells in rows if next(iter(cells.values())) == job.row), None)


def _times(cell: Cell) -> str | None:
    return number(cell) if isinstance(cell, int | float) else cell


def _circumstances(records: Sequence[Record]) -> str:
    """When, where and at which commits something was measured."""
    commits, dates, machines = (
        " and ".join(dict.fromkeys(getattr(one, what) for one in records))
        for what in ("commit", "date", "machine")
    )
    load = number(max((one.load for one in records), default=0))
    return (
        f"*Measured at commit {commits}, on {dates}, while other processes kept at most {load} "
        f"cores busy, on {machines}.*"
    )


def _pictures(named: Mapping[str, Record]) -> Iterator[str]:
    for name, place in PICTURES:
        if name in named and len(named[name].report.plots) > place:
            report = named[name].report
            yield f"![{report.title}]({image_name(report, place)})\n"


def _peers(named: Mapping[str, Record]) -> Iterator[str]:
    """How many times XSCL's time each engine takes, and what it cannot do."""
    for name in ("peers", "pattern_peers"):
        report = named[name].report if name in named else None
        if report is None or report.tables[1].columns[0] != RATIOS:
            continue
        times, ratios, *_ = report.tables
        _, _, start, *own = times.rows[0]
        columns = times.columns[3:]
        took = ", ".join(f"{cell} ({size})" for size, cell in zip(columns, own, strict=True))
        failed = [
            f"{engine} with {size}: {cell}"
            for (engine, *cells), (_, *shares) in zip(times.rows[1:], ratios.rows, strict=True)
            for size, cell, share in zip(columns, cells[2:], shares, strict=True)
            if share is None and cell != "not tried"
        ]
        lacking = f" — {'; '.join(failed)}; no more was tried." if failed else ""
        yield (
            f"## {report.title}\n\n{ratios.markdown()}\n\nXSCL starts in {start}, and takes with "
            f"its start {took}. All counts agree.{lacking}\n\n{_circumstances([named[name]])}\n"
        )
