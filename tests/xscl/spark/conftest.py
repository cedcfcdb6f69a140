"""Tests within this process share one session of Spark, on one core."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.xscl.spark.java import QUICK_JAVA
from xscl.spark.session import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark with one partition after a shuffle and without its web pages."""
    one = session("tests", master="local[1]", settings=QUICK_JAVA)
    yield one
    one.stop()
