"""The report of patterns on Spark: from figures, and its inputs."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks.report import markdown
from benchmarks.reports import spark_events
from benchmarks.reports.spark_events import EMBEDDED, ONE, STREAM, TWO
from benchmarks.reports.spark_joins import Measured
from benchmarks.scale import FULL
from benchmarks.spark.event_ways import HIGH, PATTERNS, WINDOW, write_events
from benchmarks.spark.inputs import DOCUMENTS
from benchmarks.spark.ways import Batch, Joined
from tests.drawn import turn

TOOK = Joined(rows=9, matches=9, start=4, seconds=40, processor=60)
SLOW = replace(TOOK, seconds=80)


def flow(*state: int) -> Joined:
    return replace(TOOK, batches=tuple(Batch(2_000, 1, rows, 100) for rows in state))


def holds(even: Measured, hot: Measured, stream: Measured) -> list[bool | None]:
    report = spark_events.report(FULL, even, hot, stream)
    assert markdown(report).count("\n| ---") == 2
    return [statement.holds for statement in report.statements]


def test_goals_that_are_reached_and_missed() -> None:
    even = Measured(100, {EMBEDDED: TOOK, ONE: SLOW, TWO: TOOK})
    assert holds(even, even, Measured(20, {STREAM: flow(1, 2, 8, 8, 8, 8)})) == [True] * 3
    slow = Measured(100, {ONE: SLOW, TWO: SLOW})
    growing = Measured(20, {STREAM: flow(1, 2, 3, 4, 5, 6)})
    assert holds(slow, slow, growing) == [False, True, False]
    assert holds(even, slow, growing) == [True, False, False]
    failed = Measured(100, {TWO: "> 1800 s"})
    assert holds(failed, even, Measured(20, {STREAM: "no Java"})) == [None] * 3


@pytest.mark.drawn
def test_a_way_in_a_process_of_its_own(tmp_path: Path) -> None:
    for hot in turn([False, True]):
        folder = write_events(tmp_path / f"in {hot}", 30_000, 3, hot=hot)
        joined = spark_events.taken(folder, 30_000, [EMBEDDED]).of(EMBEDDED)
        assert joined
        assert joined.matches == pairs(folder / DOCUMENTS) > 3


def pairs(documents: Path) -> int:
    """The first high value after each that a pattern begins with, of the same key."""
    by_key: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
    for row in pq.read_table(documents).sort_by("timestamp").to_pylist():
        event = json.loads(row["json"])
        by_key[event["k"]].append((row["timestamp"], event["v"]))
    return sum(
        any(value >= HIGH and first < time <= first + WINDOW for time, value in events)
        for events in by_key.values()
        for first, low in events
        if low < PATTERNS
    )
