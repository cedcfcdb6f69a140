"""Settings of all tests: an example may take as long as a busy machine makes it, and those that
need Spark share one session on one core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark on one core, with one partition after a shuffle and without its web pages."""
    from xscl.spark.session import session

    one = session("tests", master="local[1]")
    yield one
    one.stop()
