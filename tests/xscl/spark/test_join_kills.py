"""A join that is killed, whole and at once, finds what one finds that is not: at one stage of any,
another in each test run; `make bench` does the same with many kills."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.xscl.spark.join_kills import join_killed, join_moments
from tests.xscl.spark.joining import run_join


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_each_match_is_in_the_output_exactly_once(spark: SparkSession, tmp_path: Path) -> None:
    at = join_moments(1, seed=random.randrange(10**6))
    print(at)
    account = join_killed(
        tmp_path, at, seed=17, going_on=False, last=lambda options: run_join(*options)
    )
    print(account)
    assert account.faults == ()
    assert account.matches > 100
