"""An ingestion and a join that are killed, all processes together: the one loses nothing that is
spooled and repeats nothing, the other finds what an undisturbed one finds.  One of them in a
test run, at one moment of any, by XSCL_SEED; `make bench` does the same with both and with many
kills."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.drawn import SEED, turn
from tests.xscl.spark.ingesting import ingest
from tests.xscl.spark.join_kills import join_killed, join_moments
from tests.xscl.spark.joining import run_join
from tests.xscl.spark.kills import killed, moments
from tests.xscl.spark.scrolling_feeds import ScrollingFeeds


def what_was_spooled_is_in_the_output_exactly_once(spark: SparkSession, folder: Path) -> None:
    feeds = ScrollingFeeds(total=1_000, rate=75.0)
    at = moments(1, seed=SEED)
    print(at)
    account = killed(
        folder, feeds, at, lapse=150, seed=6, continuing=False,
        last=lambda options: ingest(spark, *options),
    )  # fmt: skip
    print(account)
    assert account.faults == ()
    assert account.total == 1_000
    assert min(account.ingested, account.never_served) > 100
    (kill,) = account.kills
    assert kill.processes >= 3, "the driver, Java and a worker at least"


def each_match_is_in_the_output_exactly_once(spark: SparkSession, folder: Path) -> None:
    at = join_moments(1, seed=SEED)
    print(at)
    account = join_killed(
        folder, at, seed=17, continuing=False, last=lambda options: run_join(*options)
    )
    print(account)
    assert account.faults == ()
    assert account.matches > 100


KILLED = (what_was_spooled_is_in_the_output_exactly_once, each_match_is_in_the_output_exactly_once)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, and loopback addresses by tens")
def test_what_is_killed_continues_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    for check in turn(KILLED):
        print(check.__name__)
        folder = tmp_path / check.__name__
        folder.mkdir()
        check(spark, folder)
