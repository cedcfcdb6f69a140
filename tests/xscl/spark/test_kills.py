"""An ingestion that is killed, whole and at once, loses nothing that was spooled and repeats
nothing: at one moment of any, another in each test run; `make bench` does the same with many kills.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.xscl.spark.ingesting import ingest
from tests.xscl.spark.kills import killed, moments
from tests.xscl.spark.scrolling_feeds import ScrollingFeeds


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, and loopback addresses by tens")
def test_what_was_spooled_is_in_the_output_exactly_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    feeds = ScrollingFeeds(total=1_000, rate=75.0)
    at = moments(1, seed=random.randrange(10**6))
    print(at)
    account = killed(
        tmp_path, feeds, at, lapse=150, seed=6, going_on=False,
        last=lambda options: ingest(spark, *options),
    )  # fmt: skip
    print(account)
    assert account.faults == ()
    assert account.total == 1_000
    assert min(account.ingested, account.never_served) > 100
    (kill,) = account.kills
    assert kill.processes >= 3, "the driver, Java and a worker at least"
