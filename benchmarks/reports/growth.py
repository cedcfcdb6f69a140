"""What one core does, and what it costs to have ten times as many queries, documents or windows ten
times as wide."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.baselines.dictionary_join import DictionaryJoin
from benchmarks.engine import found, loaded
from benchmarks.measure import Envelopes, batches, of
from benchmarks.report import Cell, Plot, Report, Table, number, time_text
from benchmarks.scale import Scale
from datasets import ITEM, LeafJoin, feed_stream, random_joins

BATCH = 5_000
ROUNDS = 3
DAY = 86_400
WEEK = 7 * DAY
QUERIES = 1_000
"""Where another thing grows."""
ITEMS = 20_000
WINDOWS = (("2.4 hours", DAY // 10), ("1 day", DAY), ("10 days", 10 * DAY), ("100 days", 100 * DAY))
ENGINE, HAND = "XSCL", "join by hand"


@dataclass(frozen=True, slots=True)
class Speed:
    """Items that went through, their processor seconds and matches."""

    items: int
    seconds: float
    matches: int

    @property
    def per_second(self) -> float:
        return self.items / self.seconds


@dataclass(frozen=True, slots=True)
class Point:
    """One size of what grows: both ways over `total` items, and what the engine took to load."""

    name: str
    size: float
    engine: Speed
    hand: Speed
    load: float
    total: int

    def cells(self) -> tuple[Cell, ...]:
        return (
            self.name,
            of(self.engine.items, self.total),
            self.engine.matches,
            number(self.engine.per_second),
            number(self.hand.per_second),
            time_text(self.load),
        )


def run(scale: Scale) -> Report:
    stream = list(feed_stream(scale.items))
    with loaded(ITEM, random_joins(ITEM, 1)) as engine:
        found(engine, stream[:1])  # What comes with the first query and document of a process.
    some = stream[:ITEMS]
    few = min(QUERIES, scale.many)
    by_queries = [
        measure(f"{n:,}", n, random_joins(ITEM, n, window=WEEK), some, scale) for n in scale.queries
    ]
    sizes = [n for n in (len(stream) // 100, len(stream) // 10, len(stream)) if n]
    joins = random_joins(ITEM, few, window=WEEK)
    by_items = [measure(f"{n:,}", n, joins, stream[:n], scale) for n in sizes]
    by_window = [
        measure(name, width / DAY, random_joins(ITEM, few, window=width), some, scale)
        for name, width in WINDOWS
    ]
    grown = (
        ("queries", by_queries, f"{len(some):,} items, windows of 7 days"),
        ("items", by_items, f"{few:,} queries, windows of 7 days"),
        ("window", by_window, f"{few:,} queries, {len(some):,} items"),
    )
    return Report(
        "growth",
        "What one core does, and what ten times as much costs",
        f"Feed items in the shape of section 6.6.3, from XML text to groups of matches that are "
        f"read, in batches of {BATCH:,}, in processor time; medians of three. *By hand* is a join "
        "in dictionaries for exactly these documents and queries, which only counts. A row stops "
        f"after {scale.limit:g} s.\n\n" + "\n".join(sentences(*grown)),
        tuple(
            Table((what, "items met", "matches", "items/s", "by hand", "to load"), rows)
            for what, points, _ in grown
            for rows in [tuple(point.cells() for point in points)]
        ),
        tuple(
            Plot(f"{unit} ({where})", "items a second", lines(points), log_x=True, log_y=False)
            for (_, points, where), unit in zip(
                grown, ("queries", "items of the stream", "days of the window"), strict=True
            )
        ),
    )


def measure(
    name: str, size: float, joins: Sequence[LeafJoin], documents: Envelopes, scale: Scale
) -> Point:
    """The middle one of several runs, or the only one if it is long."""
    runs = [once(name, size, joins, documents, scale)]
    while len(runs) < ROUNDS and runs[0].engine.seconds < scale.limit / ROUNDS:
        runs.append(once(name, size, joins, documents, scale))
    return sorted(runs, key=lambda run: run.engine.seconds)[len(runs) // 2]


def once(
    name: str, size: float, joins: Sequence[LeafJoin], documents: Envelopes, scale: Scale
) -> Point:
    """Both ways; AssertionError if they find different numbers of matches."""
    started = time.process_time()
    with loaded(ITEM, joins) as engine:
        load = time.process_time() - started

        def read(part: Envelopes) -> int:
            return sum(len(one.queries) for one in engine.publish_many(part, grouped=True))

        by_engine = speed(read, documents, scale.limit)
    met = documents[: by_engine.items]
    by_hand = speed(DictionaryJoin(ITEM, joins).process, met, scale.limit)
    if by_hand.items == by_engine.items and by_hand.matches != by_engine.matches:
        raise AssertionError(f"{by_engine.matches} matches, by hand {by_hand.matches}")
    return Point(name, size, by_engine, by_hand, load, len(documents))


def speed(process: Callable[[Envelopes], int], documents: Envelopes, limit: float) -> Speed:
    items, matches = 0, 0
    gc.collect()
    started = time.process_time()
    for part in batches(documents, BATCH):
        matches += process(part)
        items += len(part)
        if time.process_time() - started > limit:
            break
    return Speed(items, time.process_time() - started, matches)


def lines(points: Sequence[Point]) -> dict[str, list[tuple[float, float]]]:
    return {
        ENGINE: [(point.size, point.engine.per_second) for point in points],
        HAND: [(point.size, point.hand.per_second) for point in points],
    }


def sentences(*grown: tuple[str, Sequence[Point], str]) -> list[str]:
    """What a user wants to know first."""
    (_, by_queries, where), *_ = grown
    most = by_queries[-1]
    result = [
        f"- **One core** takes {number(most.engine.per_second)} items/s under {most.name} queries "
        f"({where}), {number(most.hand.per_second)} by hand, and loads "
        f"{number(most.size / most.load)} queries a second."
    ]
    for what, points, where in grown:
        first, last = points[0], points[-1]
        times = first.engine.per_second / last.engine.per_second
        result.append(
            f"- **{what.capitalize()}.** From {first.name} to {last.name} ({where}), "
            f"{number(first.engine.per_second)} items/s become {number(last.engine.per_second)}: "
            f"with {number(last.size / first.size)} times as much an item takes {number(times)} "
            "times as long."
        )
    return result
