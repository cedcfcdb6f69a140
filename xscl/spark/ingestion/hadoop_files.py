"""Files wherever Spark keeps them: its own view of them (Hadoop's file systems), so that a local
folder, HDFS and an object store are one to us."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

__all__ = ["delete", "exists", "lines_of", "listed", "make"]


def exists(spark: SparkSession, path: str) -> bool:
    """Whether there is a file or a folder."""
    files, where = _at(spark, path)
    return bool(files.exists(where))


def make(spark: SparkSession, path: str) -> None:
    """Makes a folder, and those above it."""
    files, where = _at(spark, path)
    files.mkdirs(where)


def delete(spark: SparkSession, path: str) -> None:
    """Deletes a file, if it is there."""
    files, where = _at(spark, path)
    files.delete(where, False)


def listed(spark: SparkSession, path: str) -> Iterator[tuple[str, float]]:
    """The names of the files in a folder, each with its time of modification (seconds)."""
    files, where = _at(spark, path)
    for status in files.listStatus(where) if files.exists(where) else ():
        if status.isFile():
            yield status.getPath().getName(), status.getModificationTime() / 1000


def lines_of(spark: SparkSession, path: str) -> Iterator[str]:
    """The lines of all files in a folder, in no order."""
    if exists(spark, path):
        for row in spark.read.text(path).toLocalIterator():
            yield row.value


def _at(spark: SparkSession, path: str) -> tuple[Any, Any]:
    context: Any = spark.sparkContext
    where = context._jvm.org.apache.hadoop.fs.Path(path)
    return where.getFileSystem(context._jsc.hadoopConfiguration()), where
