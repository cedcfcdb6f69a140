"""The report of joins on Spark: from figures, and its inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import xscl
from benchmarks.report import markdown
from benchmarks.reports import spark_joins
from benchmarks.reports.spark_joins import EMBEDDED, HALVES, ONE, STREAM, TWO, Measured
from benchmarks.scale import FULL, QUICK
from benchmarks.spark.inputs import SHARED, shared_strings, write
from benchmarks.spark.ways import Batch, Joined
from datasets import feed_stream

TOOK = Joined(rows=5, matches=9, start=10, seconds=40, processor=60, shuffled=2**20)
SLOW = replace(TOOK, seconds=80)


def flow(*state: int) -> Joined:
    """A stream whose batches take a second each, but for the first, with state of so many rows."""
    batches = [Batch(2_000, 9 if n == 0 else 1, rows, 100) for n, rows in enumerate(state)]
    return replace(TOOK, batches=tuple(batches))


def reported(grown: Measured, stream: Measured, hot: Measured, even: Measured) -> list[bool | None]:
    report = spark_joins.report(FULL, [grown], stream, hot, even)
    assert markdown(report).count("\n| ---") == 3
    return [statement.holds for statement in report.statements]


def test_goals_that_are_reached_and_missed() -> None:
    grown = Measured(225_000, {EMBEDDED: TOOK, HALVES: TOOK, ONE: SLOW, TWO: TOOK})
    stream = Measured(300_000, {EMBEDDED: TOOK, STREAM: flow(1, 2, 8, 8, 8, 8)})
    even = Measured(100, {EMBEDDED: TOOK, TWO: TOOK})
    assert reported(grown, stream, even, even) == [True] * 5
    slower = Measured(225_000, {EMBEDDED: TOOK, ONE: TOOK, TWO: SLOW})
    growing = Measured(300_000, {STREAM: flow(1, 2, 3, 4, 5, 6)})
    hot = Measured(100, {TWO: SLOW})
    assert reported(slower, growing, hot, even) == [False, False, True, False, False]


def test_a_way_that_did_not_come_to_its_end_is_said_and_judged_by_nobody() -> None:
    failed = Measured(225_000, {EMBEDDED: TOOK, ONE: TOOK, TWO: "> 1800 s"})
    stream = Measured(300_000, {STREAM: "no Java"})
    assert reported(failed, stream, failed, failed) == [None] * 5
    report = spark_joins.report(FULL, [failed], stream, failed, failed)
    assert "> 1800 s" in markdown(report)


def seconds_each(some: list[dict[str, object]]) -> float:
    first, last = (int(str(some[n]["timestamp"])) for n in (0, -1))
    return (last - first) / len(some)


def test_a_longer_stream_is_as_dense() -> None:
    scale = replace(QUICK, items=2_000)
    short, long = (spark_joins.items(scale, part) for part in (1 / 2, 3))
    assert short == list(feed_stream(2_000))[:1_000]
    each = [seconds_each(some) for some in (short, long)]
    assert each[0] == pytest.approx(each[1], rel=0.1)


def test_a_hot_string_makes_as_many_matches_as_an_even_stream() -> None:
    found = []
    for hot in (True, False):
        with xscl.Engine() as engine:
            engine.load(SHARED)
            found.append(engine.count(list(shared_strings(2_000, hot))).total())
    assert found[0] == pytest.approx(found[1], rel=0.01)


def test_a_way_in_a_process_of_its_own(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", shared_strings(40, hot=True), SHARED, 15)
    joined = spark_joins.measured(folder, 40, [EMBEDDED]).of(EMBEDDED)
    assert joined
    assert (joined.rows, joined.matches) == (190, 190)
