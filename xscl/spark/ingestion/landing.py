"""What has landed and been read need not stay for ever."""

from __future__ import annotations

import time

from pyspark.sql import SparkSession

from xscl.spark.ingestion import hadoop_files
from xscl.spark.ingestion.layout import Layout
from xscl.spark.ingestion.spark_logs import names_in

__all__ = ["clear_landing"]


def clear_landing(spark: SparkSession, layout: Layout, keep: float) -> int:
    """Deletes the files that landed more than `keep` seconds ago, as far as their items have been
    made; how many.

    Spark's log of what landed still names them for some batches (`retention` lets go of them at
    its next compaction): who reads all of landing then sets `ignoreMissingFiles`.
    """
    earliest = time.time() - keep
    old = [
        name
        for name, modified in hadoop_files.listed(spark, layout.landing)
        if name.endswith(".parquet") and modified < earliest
    ]
    if not old:
        return 0
    log = f"{layout.checkpoint('items')}/sources/0"
    read = set(names_in(hadoop_files.lines_of(spark, log)))
    gone = [name for name in old if name in read]
    for name in gone:
        hadoop_files.delete(spark, f"{layout.landing}/{name}")
    return len(gone)
