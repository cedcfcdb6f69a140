"""Feed items from XML text to matches: in batches and one by one, with and without windows."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.baselines.dictionary_join import DictionaryJoin
from benchmarks.engine import found, loaded
from benchmarks.measure import Envelopes, Rate, batches, check, floor_now, of, rate
from benchmarks.report import Cell, Report, Statement, Table, number, time_text
from benchmarks.scale import Scale
from datasets import ITEM, LeafJoin, feed_stream, random_joins

BATCH = 10_000
WINDOWS = {"7 days": 7 * 86_400, "without end": None}
LONGER = 4
"""A stream may take so many limits."""


def run(scale: Scale) -> Report:
    documents = list(feed_stream(scale.items))
    rows: list[tuple[Cell, ...]] = []
    rates: dict[tuple[str, int], Rate] = {}
    ratios: dict[tuple[str, int], float] = {}
    for name, window in WINDOWS.items():
        joins = random_joins(ITEM, scale.many, window=window)
        for size in (BATCH, 1):
            found_by: list[Rate] = []
            for way, process in (("dictionary join", by_hand), ("XSCL", by_engine)):
                lowest = floor_now(documents)
                measured = process(joins, documents, size, scale)
                ratios[name, size] = 1 / measured.per_second / lowest
                rows.append((name, size, way, *cells(measured, lowest, len(documents))))
                found_by.append(measured)
            check(*found_by)
            rates[name, size] = found_by[1]
    return Report(
        "feed_rates",
        "Feed items a second, from XML text to matches",
        f"{scale.items:,} items in the shape of section 6.6.3, {scale.many:,} queries. A run "
        f"begins no batch after {scale.limit * LONGER:g} s: a row that names fewer items than "
        "there are was cut short, and has not met the end of the stream, when most is held. "
        "The floor is measured before each row, as the median of several runs. "
        "The dictionary join is written by hand for exactly these documents and queries.",
        (
            Table(
                (
                    "window",
                    "batch",
                    "way",
                    "items",
                    "items/s",
                    "floor, items/s",
                    "times the floor",
                    "p50",
                    "p99",
                    "matches",
                ),
                tuple(rows),
            ),
        ),
        (),
        goals(rates, ratios, scale),
    )


def by_engine(joins: Sequence[LeafJoin], documents: Envelopes, size: int, scale: Scale) -> Rate:
    with loaded(ITEM, joins) as engine:
        parts = batches(documents, size)
        return rate(parts, lambda part: found(engine, part), scale.limit * LONGER)


def by_hand(joins: Sequence[LeafJoin], documents: Envelopes, size: int, scale: Scale) -> Rate:
    join = DictionaryJoin(ITEM, joins)
    return rate(batches(documents, size), join.process, scale.limit * LONGER)


def cells(measured: Rate, lowest: float, total: int) -> tuple[Cell, ...]:
    alone = measured.documents == len(measured.each)
    return (
        of(measured.documents, total),
        number(measured.per_second),
        number(1 / lowest),
        measured.seconds / measured.documents / lowest,
        time_text(measured.percentile(50)) if alone else None,
        time_text(measured.percentile(99)) if alone else None,
        measured.matches,
    )


def goals(
    rates: dict[tuple[str, int], Rate], ratios: dict[tuple[str, int], float], scale: Scale
) -> tuple[Statement, ...]:
    """What is to be reached with all items and 100,000 queries."""
    full = scale.full
    batched, alone = ratios["7 days", BATCH], ratios["7 days", 1]
    tail = rates["7 days", 1].percentile(99)
    endless = max(rates["without end", size].per_second for size in (BATCH, 1))
    return (
        Statement(
            "goal, feed items",
            "7-day windows in batches: at most 5 times the floor's time",
            batched <= 5 if full else None,
            f"{number(batched)} times",
        ),
        Statement(
            "goal, feed items",
            "7-day windows one by one: at most 10 times the floor's time, p99 under 1 ms",
            alone <= 10 and tail < 1e-3 if full else None,
            f"{number(alone)} times, p99 {time_text(tail)}",
        ),
        Statement(
            "goal, feed items",
            "windows without end: at least 10,000 items/s",
            endless >= 10_000 if full else None,
            f"{number(endless)} items/s",
        ),
    )
