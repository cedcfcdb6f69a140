"""`xscl ingest` on the Spark that tests share, with a way out of its own."""

from __future__ import annotations

from unittest import mock

from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from xscl.cli.main import cli

__all__ = ["ingest"]


def ingest(spark: SparkSession, *options: str, proxy: str | None = None, code: int = 0) -> Result:
    """Runs the command to its end, which has a code; what fetches sees a proxy, or none."""
    environment = {"http_proxy": proxy or "", "no_proxy": "" if proxy else "*"}
    # Names that only the proxy knows are looked up in vain: once, and not for long.
    environment |= {"RES_OPTIONS": "attempts:1 timeout:1 ndots:1", "LOCALDOMAIN": "."}
    # That a job has ended is seen soon.
    tick = mock.patch("xscl.cli.spark_jobs.running._TICK", 0.05)
    with mock.patch.dict(spark.sparkContext.environment, environment), tick:
        done = CliRunner().invoke(
            cli, ["ingest", *options], standalone_mode=False, catch_exceptions=False
        )
    assert (done.return_value, done.stdout) == (code, ""), done.stderr
    return done
