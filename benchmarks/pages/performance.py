"""Records into docs/performance.md: what one core does for the jobs that users have, beside what
they would use instead, and when that is the better choice."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.contest import RATIOS
from benchmarks.record import Record
from benchmarks.report import Cell, Table, image_name, number

__all__ = ["write"]

INTRODUCTION = """\
{headline} That is from the text of documents to matches, compared with three things: the *floor*,
which reads the same documents and nothing else (`lxml.etree.fromstring` or `json.loads`); the same
*by hand*, what one would write for exactly these documents and queries (a join by hand only counts
its matches); and other engines. Compare ratios, each of which is of one run: rates depend on the
machine and the data. The table is of the Python API in one process, but for the first row; peers
are compared with the command `xscl run`. [The book of figures](figures.md) has the rest."""

BETTER = """## When another tool is the better one

- **One look back over what is all there**: DuckDB, or any database. XSCL pays for answering as
  documents come.
- **A few queries that never change**: a script, Bytewax or Pathway. XSCL gains with the number of
  queries that share work, and is made for queries that other people write, and that come and go.
  Even 100,000 joins of one form are one join in dictionaries (*by hand*).
- **A cluster, exactly-once sinks, connectors for everything**: Flink. XSCL's joins and patterns
  run on Spark, but it has no cluster of its own, and few sinks.
- **Dashboards over numbers**: Flink SQL, Materialize or a time-series database, for what they
  connect to. XSCL counts and averages over windows, but is made for values that meet between
  documents.
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


JOINS = "user_table"
"""The section that the jobs are of in which documents are joined."""

JOBS = (
    Job("join feeds: items of real feeds with the same link, written as lines", "a file",
        "user_table", "links, as lines", "a second", "times the floor", "times by hand"),
    Job("100,000 joins over 50,000 items, matches read in groups", "5,000 at a time", "user_table",
        "items in batches, groups read", "a second", "times the floor", "times by hand"),
    Job("10,000 joins over 50,000 items, matches read in groups", "one by one", "user_table",
        "items one by one", "a second", "times the floor", "times by hand"),
    Job("a sequence of three events, matches counted", "1,000 at a time", "pattern_speed",
        "three steps", "events/s", "of the floor", inverse=True),
    Job("the same sequence", "one by one", "pattern_speed", "three steps, one by one", "events/s",
        "of the floor", inverse=True),
    Job("10,000 sequences that differ in a constant of 10,000 values", "1,000 at a time",
        "pattern_speed", "three steps, alike", "events/s", "of the floor", inverse=True),
    Job("a total over a sliding window, by group", "1,000 at a time", "pattern_speed", "a total",
        "events/s", "of the floor", inverse=True),
    Job("400,000 event queries, the slowest of five forms", "1,000 at a time", "event_speed", "",
        "events/s"),
)  # fmt: skip


def write(records: Sequence[Record], docs: Path) -> None:
    """Writes the page; its pictures are those of the other page."""
    named = {record.report.name: record for record in records}
    rates, jobs = _jobs(named)
    text = INTRODUCTION.format(headline=_headline(rates))
    introduction = textwrap.fill(text, 100, break_on_hyphens=False)
    parts = [f"# Performance\n\n{introduction}\n", jobs, *_pictures(named), *_peers(named), BETTER]
    (docs / "performance.md").write_text("\n".join(parts), encoding="utf-8")


def _headline(rates: Sequence[tuple[Job, float]]) -> str:
    """The slowest and the fastest of the joins' rates, and of the others'."""
    joins, others = (
        sorted(rate for job, rate in rates if (job.section == JOINS) is of_joins)
        for of_joins in (True, False)
    )
    if not joins or not others:
        return "What one core does."
    return (
        f"One core takes {_rounded(joins[0])} to {_rounded(joins[-1])} documents a second under "
        f"joins, and {_rounded(others[0])} to {_rounded(others[-1])} events a second under "
        "patterns."
    )


def _rounded(rate: float) -> str:
    """Two figures of a rate.

    >>> _rounded(16_493.0)
    '16,000'
    """
    return f"{float(f'{rate:.2g}'):,.0f}"


def _jobs(named: Mapping[str, Record]) -> tuple[list[tuple[Job, float]], str]:
    """The rate of each job that was measured, and the table of all."""
    rows = list[tuple[Cell, ...]]()
    used = dict[str, Record]()
    rates = list[tuple[Job, float]]()
    for job in JOBS:
        cells = _row(named, job)
        if cells is None:
            rows.append((job.title, job.comes, "not measured at this size yet", None, None))
            continue
        used[job.section] = named[job.section]
        floor, hand = (cells[name] if name else None for name in (job.floor, job.hand))
        if job.inverse and isinstance(floor, float):
            floor = 1 / floor
        rate = float(str(cells[job.rate]).replace(",", ""))
        rates.append((job, rate))
        rows.append((job.title, job.comes, number(rate), _times(floor), _times(hand)))
    columns = ("job", "documents come", "a second", "times the floor", "times by hand")
    table = Table(columns, tuple(rows))
    lacking = "Where there is —, nothing was measured or written by hand."
    return rates, f"{table.markdown()}\n\n{lacking} {_circumstances(list(used.values()))}\n"


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
        lacking = f" {'; '.join(failed)}; larger numbers were not tried." if failed else ""
        yield (
            f"## {report.title}\n\nBelow 1, the other engine takes less processor time than XSCL. "
            "DuckDB answers once, when all is there; the others answer as documents come.\n\n"
            f"{ratios.markdown()}\n\nXSCL starts in {start}, and takes with its start {took}. All "
            f"counts agree.{lacking}\n\n{_circumstances([named[name]])}\n"
        )
