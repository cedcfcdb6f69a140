"""How the streaming queries end: in order, and where a batch fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from xscl.cli.spark_jobs.running import run_jobs
from xscl.errors import XSCLError
from xscl.spark.streaming import in_short, start

GIVEN = "x" * 50_000
FAILED = r"^the read job failed: java\.lang\.ClassNotFoundException: x{300}"


def started(
    spark: SparkSession, folder: Path, write: Callable[[DataFrame, int], None]
) -> StreamingQuery:
    """A query named `read` that writes the lines of `folder/lines`."""
    (folder / "lines").mkdir()
    (folder / "lines" / "one.txt").write_text("one\n")
    lines = spark.readStream.text(str(folder / "lines")).writeStream.queryName("read")
    writing = lines.foreachBatch(in_short(write))
    return start(writing.option("checkpointLocation", str(folder / "checkpoint")), 0.1)


def test_of_what_java_says_at_length_the_cause_is_left(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spark's thread must not die of a stack that is too small for the text."""

    def write(batch: DataFrame, number: int) -> None:
        spark._jvm.java.lang.Class.forName(GIVEN)  # type: ignore[union-attr]

    query = started(spark, tmp_path, write)
    with pytest.raises(XSCLError, match=FAILED):
        run_jobs([query], threading.Event(), lambda: None)
    assert "StackOverflowError" not in capfd.readouterr().err


def test_a_batch_under_way_is_finished(spark: SparkSession, tmp_path: Path) -> None:
    stopped, under_way, written = threading.Event(), threading.Event(), []

    def write(batch: DataFrame, number: int) -> None:
        under_way.set()
        assert stopped.wait(60)
        # What an interrupt of Spark's would break off.
        spark._jvm.java.lang.Thread.sleep(700)  # type: ignore[union-attr]
        written.append(batch.count())

    query = started(spark, tmp_path, write)
    threading.Thread(target=lambda: under_way.wait(60) and stopped.set()).start()
    run_jobs([query], stopped, lambda: None)
    assert written == [1]
    assert query.lastProgress is not None
    assert query.exception() is None
