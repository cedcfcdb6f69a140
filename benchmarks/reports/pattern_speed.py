"""The speed of patterns, the whole way from JSON text: SASE's headline, SASE+'s p1s3, 10,000
similar queries, patterns alongside joins; and the memory that they take over a long stream."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import xscl
from benchmarks.engine import resident
from benchmarks.measure import Rate, rate
from benchmarks.patterns.streams import stocks, typed
from benchmarks.report import Report, Statement, Table, number
from benchmarks.scale import Scale

EVENTS = 100_000
LONG = 1_000_000
BATCH = 1_000
SIMILAR = 10_000
ALONGSIDE = 1_000
DOMAIN = 100

THREE = (
    "EVENT SEQ(E1 a, E2 b, E3 c) WHERE [attr1] AND a.attr2 = :first AND a.attr3 < c.attr3 "
    "WITHIN 10000"
)
"""Over events of which one comes in a second."""
KLEENE = (
    "PATTERN (STOCK+ a[], STOCK b) WHERE skip_till_next_match "
    "{[symbol] AND a[1].price % 500 = 0 AND b.volume < 150} WITHIN 1000"
)
TOTAL = "SELECT attr1, SUM(attr3) AS total FROM WINDOW{1000 s}(E1) GROUP BY attr1"
JOIN = "E1/*[attr2 = :first]/attr1->a JOIN {a = b, 100 s} E2//attr1->b"
WITH_JOINS = "EVENT SEQ(E1 a, E2 b) WHERE [attr1] AND a.attr2 = :first WITHIN 100"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a row shows: batches, and JSON text read by `json.loads` alone."""

    name: str
    queries: int
    all: Rate
    floor: Rate

    @property
    def cells(self) -> tuple[str | int | float, ...]:
        return (
            self.name,
            self.queries,
            self.all.documents,
            number(self.all.per_second),
            f"{self.all.percentile(99) * 1e6:,.0f}",
            self.all.per_second / self.floor.per_second,
            self.all.matches,
        )


def run(scale: Scale) -> Report:
    full = scale.full
    events = min(EVENTS, scale.items * 5)
    similar = min(SIMILAR, scale.subscriptions)
    sequence, stock = [*_typed(events)], [*_stocks(events)]
    one = [{"first": "1"}]
    many = [{"first": str(value)} for value in range(similar)]
    three = measured("three steps", THREE, one, sequence, BATCH, scale)
    single = measured("three steps, one by one", THREE, one, sequence, 1, scale)
    kleene = measured("p1s3", KLEENE, [{}], stock, BATCH, scale)
    kleene_single = measured("p1s3, one by one", KLEENE, [{}], stock, 1, scale)
    total = measured("a total", TOTAL, [{}], sequence, BATCH, scale)
    shared = measured("three steps, alike", THREE, many, [*_typed(events, similar)], BATCH, scale)
    lone = measured(
        "three steps, one of these", THREE, one, [*_typed(events, similar)], BATCH, scale
    )
    values = min(ALONGSIDE, scale.subscriptions)
    lines = [*_typed(events, values)]
    rows = [{"first": str(value)} for value in range(values)]
    joins = measured("joins", JOIN, rows, lines, BATCH, scale)
    patterns = measured("patterns", WITH_JOINS, rows, lines, BATCH, scale)
    both = measured("joins and patterns", (JOIN, WITH_JOINS), rows, lines, BATCH, scale)
    separate = 1 / (1 / joins.all.per_second + 1 / patterns.all.per_second)
    together = both.all.per_second / separate
    grown, length = growth(min(LONG, scale.items * 10), scale)
    table = (three, single, kleene, kleene_single, total, lone, shared, joins, patterns, both)
    return Report(
        "pattern_speed",
        "Patterns, the whole way",
        "From lines of JSON to matches, with lateness 0. Three steps: SASE's "
        f"`SEQ` of three of 20 types with [id] (of {DOMAIN} values), a predicate of one event and "
        "one of two, WITHIN 10,000 s at one event a second. p1s3: SASE+'s Kleene plus under "
        f"skip_till_next_match, partition windows of 500. Batches of {BATCH:,}, or one by one; "
        "the floor is `json.loads` alone. A total: the sum of an attribute by another over the "
        f"last 1,000 s, an event query. Alike: {similar:,} queries that are the same up to "
        "constants, over as many values. No query reads most of the types.",
        (
            Table(
                (
                    "query",
                    "queries",
                    "events",
                    "events/s",
                    "p99, µs a batch",
                    "of the floor",
                    "matches",
                ),
                tuple(row.cells for row in table),
            ),
            Table(("events with WITHIN", "grown by, MB"), ((length, number(grown / 1e6)),)),
        ),
        (),
        (
            goal("three steps: at least 40,000 events/s", three, 40_000, full),
            goal("Kleene plus: at least 20,000 events/s", kleene, 20_000, full),
            Statement(
                "goal, patterns",
                "10,000 queries that differ in constants: at least half of the events/s of one",
                shared.all.per_second >= lone.all.per_second / 2 if full else None,
                f"{number(shared.all.per_second / lone.all.per_second)} of them with {similar:,}",
            ),
            Statement(
                "goal, patterns",
                "1,000 joins and 1,000 patterns together: no slower than one after the other",
                together >= 1 if full else None,
                f"{number(together)} of (1/a + 1/b)^-1, {values:,} of each",
            ),
            Statement(
                "goal, patterns",
                "state is flat over 1,000,000 events with WITHIN",
                grown <= 50e6 if full else None,
                f"{number(grown / 1e6)} MB more at the end of {length:,} than after a tenth",
            ),
        ),
    )


def goal(text: str, row: Measured, least: float, full: bool) -> Statement:
    """A goal of so many events a second."""
    holds = row.all.per_second >= least if full else None
    return Statement("goal, patterns", text, holds, f"{number(row.all.per_second)} events/s")


def measured(
    name: str,
    query: str | tuple[str, ...],
    rows: Sequence[dict[str, str]],
    lines: Sequence[str],
    size: int,
    scale: Scale,
) -> Measured:
    """A query for each row of constants, over lines of JSON in batches of a size."""
    parts: Any = [lines[start : start + size] for start in range(0, len(lines), size)]
    with xscl.Engine(lateness=0) as engine:
        for one in (query,) if isinstance(query, str) else query:
            if rows == [{}]:
                engine.subscribe(one)
            else:
                engine.subscribe_many(one, rows)
        xscl.collect_rarely()
        all_ = rate(parts, lambda part: _published(engine, part), scale.limit)
    floor = rate(parts, lambda part: len(_read(part)), scale.limit)
    return Measured(name, len(rows), all_, floor)


def growth(length: int, scale: Scale) -> tuple[int, int]:
    """The bytes by which the process grows from a tenth of a stream on, and how long it was."""
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe_many(THREE, [{"first": "1"}])
        engine.subscribe(KLEENE)
        xscl.collect_rarely()
        done, before, started = 0, None, time.perf_counter()
        stock, sequence = _stocks(length), _typed(length)
        while done < length and time.perf_counter() - started < scale.limit * 10:
            _published(engine, [line for line, _ in zip(stock, range(BATCH // 2), strict=False)])
            _published(engine, [line for line, _ in zip(sequence, range(BATCH // 2), strict=False)])
            done += BATCH
            if before is None and done * 10 >= length:
                before = resident()
        return resident() - (before or resident()), done


def _published(engine: xscl.Engine, lines: Any) -> int:
    return engine.publish_many(_read(lines), grouped=True).total


def _read(lines: Any) -> list[Any]:
    return [json.loads(line) for line in lines]


def _typed(events: int, values: int = 10) -> Iterator[str]:
    for one in typed(events, (DOMAIN, values, 1_000)):
        first, second, third = one.values
        yield _line(f"E{one.type}", one.tick, attr1=first, attr2=second, attr3=third)


def _stocks(events: int) -> Iterator[str]:
    for one in stocks(events):
        yield _line("STOCK", one.tick, symbol=one.symbol, price=one.price, volume=one.volume)


def _line(stream: str, tick: int, **members: Any) -> str:
    event = {"stream": stream, "id": f"{stream}-{tick}", "timestamp": tick, "json": members}
    return json.dumps(event)
