"""The ways of the benchmark of joins, over a few documents."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.spark.inputs import SHARED, shared_strings, write
from benchmarks.spark.ways import batch, stream


def test_both_ways_find_all_and_say_what_it_took(spark: SparkSession, tmp_path: Path) -> None:
    folder = write(tmp_path / "in", shared_strings(40, hot=True), SHARED, 15)
    whole, flow = batch(spark, folder), stream(spark, folder)
    assert (whole.rows, whole.matches) == (flow.rows, flow.matches) == (190, 190)
    assert whole.shuffled > 0
    assert [one.documents for one in flow.batches] == [30, 10]
    assert flow.batches[-1].state_rows > 0
