"""Raw bodies that have been read are deleted when they are old, and no others."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.batches import Batch
from xscl.spark.ingestion.feed_options import FeedOptions
from xscl.spark.ingestion.jobs import start_fetch, start_items
from xscl.spark.ingestion.spark_files import clear_landing
from xscl.spark.ingestion.status import read_status

FEED = "<rss version='2.0'><channel><title>f</title><item><guid>{}</guid></item></channel></rss>"
DAY = 86_400.0


def fetched(spark: SparkSession, archive: Archive, source: Path, guid: str) -> None:
    """An item of this id is fetched, two days ago."""
    source.write_text(FEED.format(guid))
    options = FeedOptions((str(source),), spool=archive.local).written()
    start_fetch(spark, archive, options, trigger=None, keep=DAY).awaitTermination()
    for file in Path(archive.landing).glob("*.parquet"):
        os.utime(file, (time.time() - 2 * DAY,) * 2)


def killed(batch: Batch) -> None:
    raise RuntimeError("killed")


def test_what_is_old_and_read_is_deleted(spark: SparkSession, tmp_path: Path) -> None:
    archive = Archive.at(str(tmp_path / "archive"))
    fetch = partial(fetched, spark, archive, tmp_path / "feed.xml")
    batches: list[Batch] = []

    def items() -> None:
        start_items(spark, archive, trigger=None, on_batch=batches.append).awaitTermination()

    fetch("one")
    assert clear_landing(spark, archive, DAY) == 0
    items()
    fetch("two, and longer")
    assert clear_landing(spark, archive, 3 * DAY) == 0
    assert clear_landing(spark, archive, DAY) == 1
    assert read_status(archive).unread == 1
    # A batch that is not finished is made again of the same files.
    with pytest.raises(StreamingQueryException):
        start_items(spark, archive, trigger=None, on_batch=killed).awaitTermination()
    assert clear_landing(spark, archive, DAY) == 0
    items()
    assert clear_landing(spark, archive, DAY) == 1
    assert not list(Path(archive.landing).glob("*.parquet"))
    items()
    assert [batch.published for batch in batches] == [1, 1]
    status = read_status(archive)
    assert (status.items, status.dead, status.unread) == (2, 0, 0)
    assert (status.fetched, status.landed) == (2, 2)
