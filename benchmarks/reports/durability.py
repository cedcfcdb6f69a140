"""What a state file costs: documents a second with one and without, and the time to open one."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import xscl
from benchmarks.engine import found, loaded
from benchmarks.measure import Envelopes, Rate, batches, check, of, rate
from benchmarks.report import Cell, Report, Statement, Table, number, time_text
from benchmarks.scale import Scale
from datasets import ITEM, LeafJoin, feed_stream, random_joins

BATCHES = (1, 100, 10_000)
TOGETHER = "200 ms"
"""For so long a single document may be pending until it is written."""
QUERIES = 1_000
ITEMS = 40_000
QUERIES_OPENED = 100
ITEMS_OPENED = 60_000
ALONE = 1_000
"""Documents that go one by one: what each costs does not depend on how many there were."""

Take = Callable[[xscl.Engine, Envelopes], int]
TAKEN: dict[str, Take] = {
    "grouped": found,
    "counts": lambda engine, part: engine.count(part, batch=len(part)).total(),
}


def run(scale: Scale) -> Report:
    documents = list(feed_stream(min(ITEMS, scale.items)))
    joins = random_joins(ITEM, min(QUERIES, scale.many), window=7 * 86_400)
    rows: list[tuple[Cell, ...]] = []
    ratios: dict[tuple[str, int], float] = {}
    alone: list[float] = []
    for way, take in TAKEN.items():
        for size, every in (*((size, None) for size in BATCHES), (1, TOGETHER)):
            some = documents[: ALONE * size]
            memory, durable = best_of(joins, some, size, every, take, scale)
            check(memory, durable)
            ratio = durable.relative_speed(memory)
            if every is None:
                ratios[way, size] = ratio
            else:
                alone.append(durable.per_second)
            speeds = number(memory.per_second), number(durable.per_second)
            both = of(min(memory.documents, durable.documents), len(some))
            rows.append((size, every or "each batch", way, both, *speeds, ratio))
    least = min(ratios[way, BATCHES[-1]] for way in TAKEN)
    return Report(
        "durability",
        "The price of durable state",
        f"Items in the shape of section 6.6.3 from XML text to matches, {len(joins):,} queries "
        "with windows of 7 days, with a state file and without, in turns; each counts as the best "
        f"of {rounds(scale)}. No batch begins after {scale.limit:g} s. Times are of the clock, as "
        "a batch is a transaction, forced to the disk; documents that come alone may be written "
        "together. A file is opened with the documents that it holds and "
        f"{min(QUERIES_OPENED, scale.many):,} queries with windows without end.",
        (
            Table(
                (
                    "batch",
                    "written",
                    "matches",
                    "items",
                    "items/s in memory",
                    "items/s durable",
                    "ratio",
                ),
                tuple(rows),
            ),
            Table(("items held", "file", "to open it", "items/s"), opened(scale)),
        ),
        (),
        (
            Statement(
                "goal, durability",
                "in batches of 10,000 at least 0.6 of the speed in memory",
                least >= 0.6 if scale.full else None,
                f"{number(least)}",
            ),
            Statement(
                "goal, durability",
                f"one by one, written every {TOGETHER}, at least 3,000 items/s",
                min(alone) >= 3_000 if scale.full else None,
                f"{number(min(alone))} items/s",
            ),
        ),
    )


def rounds(scale: Scale) -> int:
    return min(2, scale.rounds)


def best_of(
    joins: Sequence[LeafJoin],
    documents: Envelopes,
    size: int,
    every: str | None,
    take: Take,
    scale: Scale,
) -> tuple[Rate, Rate]:
    """The fastest runs in memory and with a state file, which take turns."""
    memory: list[Rate] = []
    durable: list[Rate] = []
    for _ in range(rounds(scale)):
        with tempfile.TemporaryDirectory() as folder:
            for state, to in ((None, memory), (Path(folder) / "state.duckdb", durable)):
                together = None if state is None else every
                with loaded(ITEM, joins, state=state, commit_every=together) as engine:
                    parts = batches(documents, size)
                    to.append(rate(parts, partial(take, engine), scale.limit, time.perf_counter))
    return fastest(memory), fastest(durable)


def fastest(rates: Sequence[Rate]) -> Rate:
    return max(rates, key=lambda one: one.per_second)


def opened(scale: Scale) -> tuple[tuple[Cell, ...], ...]:
    """How long it takes to open files of so many documents, none of which is ever dropped."""
    documents = list(feed_stream(min(ITEMS_OPENED, scale.items)))
    joins = random_joins(ITEM, min(QUERIES_OPENED, scale.many), window=None)
    rows: list[tuple[Cell, ...]] = []
    for part in (100, 10, 1):
        some = documents[: len(documents) // part]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.duckdb"
            with loaded(ITEM, joins, state=path) as engine:
                for batch in batches(some, BATCHES[-1]):
                    found(engine, batch)
            size = f"{number(path.stat().st_size / 2**20)} MiB"
            started = time.perf_counter()
            engine = xscl.Engine(path)
            taken = time.perf_counter() - started
            engine.close()
        rows.append((len(some), size, time_text(taken), number(len(some) / taken)))
    return tuple(rows)
