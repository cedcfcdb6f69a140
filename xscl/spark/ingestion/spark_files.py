"""Files wherever Spark keeps them: its own view of them (Hadoop's file systems), so that a local
folder, HDFS and an object store are one to us; and its logs of files, a line of JSON for each."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from xscl.errors import XSCLError
from xscl.spark.ingestion.archive import Archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["clear_landing", "exists", "make", "names_in", "put_text", "texts_in"]


def clear_landing(spark: SparkSession, archive: Archive, keep: float) -> int:
    """Deletes the files that landed more than `keep` seconds ago, as far as their items have been
    made; how many.

    Spark's log of what landed still names them for some batches (`retention` drops them at
    its next compaction): who reads all of landing then sets `ignoreMissingFiles`.
    """
    earliest = time.time() - keep
    old = [
        name
        for name, modified in _listed(spark, archive.landing)
        if name.endswith(".parquet") and modified < earliest
    ]
    if not old:
        return 0
    log = f"{archive.checkpoint('items')}/sources/0"
    read = set(names_in(_lines_of(spark, log)))
    gone = [name for name in old if name in read]
    for name in gone:
        _delete(spark, f"{archive.landing}/{name}")
    return len(gone)


def exists(spark: SparkSession, path: str) -> bool:
    """Whether there is a file or a folder."""
    files, where = _at(spark, path)
    return bool(files.exists(where))


def make(spark: SparkSession, path: str) -> None:
    """Makes a folder, and those above it."""
    files, where = _at(spark, path)
    files.mkdirs(where)


def put_text(spark: SparkSession, path: str, text: str) -> None:
    """Puts a file in place, whole: a reader has all of it, or what was there before.  Raises
    XSCLError where it cannot be written."""
    from py4j.protocol import Py4JJavaError

    try:
        files, where = _at(spark, path)
        draft = _at(spark, f"{path}.draft")[1]
        with contextlib.closing(files.create(draft, True)) as out:
            out.write(bytearray(text.encode()))
        if not files.rename(draft, where):
            files.delete(where, False)
            files.rename(draft, where)
    except Py4JJavaError as error:
        raise XSCLError(f"{path}: {error.java_exception.getMessage()}") from error


def texts_in(spark: SparkSession, folder: str, ending: str) -> dict[str, str]:
    """The files of a folder whose names end so, by name."""
    jvm: Any = spark.sparkContext._jvm
    found = {}
    for name, _ in _listed(spark, folder):
        if name.endswith(ending):
            files, where = _at(spark, f"{folder}/{name}")
            with contextlib.closing(files.open(where)) as opened:
                found[name] = jvm.org.apache.commons.io.IOUtils.toString(opened, "UTF-8")
    return found


def _delete(spark: SparkSession, path: str) -> None:
    """Deletes a file, if it is there."""
    files, where = _at(spark, path)
    files.delete(where, False)


def _listed(spark: SparkSession, path: str) -> Iterator[tuple[str, float]]:
    """The names of the files in a folder, each with its time of modification (seconds)."""
    files, where = _at(spark, path)
    for status in files.listStatus(where) if files.exists(where) else ():
        if status.isFile():
            yield status.getPath().getName(), status.getModificationTime() / 1000


def _lines_of(spark: SparkSession, path: str) -> Iterator[str]:
    """The lines of all files in a folder, in no order."""
    if exists(spark, path):
        for row in spark.read.text(path).toLocalIterator():
            yield row.value


def names_in(lines: Iterable[str]) -> Iterator[str]:
    """The names of the files that a log's lines name; its first line is a version.

    >>> list(names_in(["v1", '{"path":"file:///d/landing/part-0.parquet","action":"add"}']))
    ['part-0.parquet']
    """
    for line in lines:
        if line.startswith("{"):
            path: str = json.loads(line)["path"]
            yield path.rpartition("/")[2]


def _at(spark: SparkSession, path: str) -> tuple[Any, Any]:
    context: Any = spark.sparkContext
    where = context._jvm.org.apache.hadoop.fs.Path(path)
    return where.getFileSystem(context._jsc.hadoopConfiguration()), where
