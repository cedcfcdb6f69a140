"""Patterns on Spark compared with the embedded engine: many events of many keys, half of them in
one key, and a stream."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Cell, Report, Statement, Table, number
from benchmarks.reports.spark_joins import (
    KEPT,
    Measured,
    Way,
    goal_of,
    growth,
    measured,
    said,
    seconds,
    state_in_thirds,
    sustained,
)
from benchmarks.scale import Scale
from benchmarks.spark.event_ways import KEYS, PATTERNS, WINDOW, write_events
from benchmarks.spark.ways import Joined

NAME = "spark_events"
LIMIT = 1_800
"""Seconds that one process may take."""
EVENTS = {True: 3_000_000, False: 50_000}
FILE = {True: 100_000, False: 5_000}
"""Events of a file; two are a batch of a stream."""
STREAMED = {True: 2_000_000, False: 10_000}
"""Events that come as a stream."""

EMBEDDED = ("embedded", "1")
ONE, TWO = ("batch", "local[1]"), ("batch", "local[2]")
STREAM = ("stream", "local[2]")


def run(scale: Scale) -> Report:
    events, size = EVENTS[scale.full], FILE[scale.full]
    streamed = STREAMED[scale.full]
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        folder = write_events(root / "even", events, events // size)
        even = taken(folder, events, [EMBEDDED, ONE, TWO])
        folder = write_events(root / "hot", events, events // size, hot=True)
        hot = taken(folder, events, [EMBEDDED, TWO])
        folder = write_events(root / "stream", streamed, streamed // size)
        stream = taken(folder, streamed, [EMBEDDED, STREAM])
    return report(scale, even, hot, stream)


def taken(folder: Path, events: int, ways: Sequence[Way]) -> Measured:
    # What waits for time to go on is not found at the end of a stream.
    return measured(folder, events, ways, "benchmarks.spark.event_ways", apart=STREAM)


def report(scale: Scale, even: Measured, hot: Measured, stream: Measured) -> Report:
    """What was measured, as a section of the page."""
    return Report(
        NAME,
        "Patterns on Spark",
        f"{even.documents:,} events of {KEYS:,} keys under {PATTERNS} patterns that are the same "
        f"up to a constant, `SEQ(S a, S b)` with `[k]` within {WINDOW} s (60,000 events): from "
        "Parquet with JSON text and query text to the number of matches, which is the embedded "
        f"engine's. Each cell is a process, once, within {LIMIT:,} s; times are start + work "
        "(of the embedded engine: loading the queries + work). Hot: half of the events "
        "have one key. The stream's files come two to a batch.",
        (batch_table(even, hot), stream_table(stream)),
        (),
        statements(scale, even, hot, stream),
    )


def batch_table(even: Measured, hot: Measured) -> Table:
    columns = (
        "keys",
        "events",
        "matches",
        "embedded",
        "embedded, events/s",
        "local[1]",
        "local[1], events/s",
    )
    rows: list[tuple[Cell, ...]] = []
    for name, one in (("even", even), ("half in one", hot)):
        found = one.found()
        cells: list[Cell] = [name, one.documents, found.matches if found else None]
        for way in (EMBEDDED, ONE, TWO):
            joined = one.of(way)
            rate = number(one.documents / joined.seconds) if joined else None
            cells += [seconds(one.ways.get(way)), rate]
        rows.append(tuple(cells))
    return Table((*columns, "local[2]", "local[2], events/s"), tuple(rows))


def stream_table(stream: Measured) -> Table:
    spark = stream.of(STREAM)
    columns = ("events", "batches", "matches", "events/s", "state: first third", "second", "last")
    row: tuple[Cell, ...] = (stream.documents, *[None] * 6)
    if spark:
        row = (
            stream.documents,
            len(spark.batches),
            spark.matches,
            number(sustained(spark.batches)),
            *state_in_thirds(spark.batches),
        )
    return Table(columns, (row,))


def statements(
    scale: Scale, even: Measured, hot: Measured, stream: Measured
) -> tuple[Statement, ...]:
    """The goals; only the full size can show them."""
    cores = even.times(ONE, TWO)
    one, other = hot.of(TWO), even.of(TWO)
    skew = one.seconds / other.seconds if one and other else None
    flow: Joined | None = stream.of(STREAM)
    kept = growth(flow.batches) if flow else None

    def goal(text: str, value: float | None, holds: bool, here: str) -> Statement:
        return goal_of("patterns on Spark", scale, text, value, holds, here)

    return (
        goal(
            "`local[2]` is at least 1.6 times as fast as `local[1]`",
            cores,
            (cores or 0) >= 1.6,
            said(cores, "times"),
        ),
        goal(
            "half of the events in one key take at most 1.5 times an even spread's time",
            skew,
            (skew or 0) <= 1.5,
            said(skew, "times"),
        ),
        goal(
            "a stream's state does not grow after the window",
            kept,
            (kept or 0) <= KEPT,
            said(kept, "times the middle third's in the last"),
        ),
    )
