"""Files wherever Spark keeps them: its own view of them (Hadoop's file systems), so that a local
folder, HDFS and an object store are one to us; and its logs of files, a line of JSON for each."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from math import inf
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
    read = set(_read_by(spark, archive.checkpoint("items")))
    gone = [name for name in old if name in read]
    for name in gone:
        _delete(spark, f"{archive.landing}/{name}")
    return len(gone)


def _read_by(spark: SparkSession, checkpoint: str) -> Iterator[str]:
    """The names of the files that a stream has read, in batches that are committed: one that is
    not is made again of the same files."""
    commits = [int(name) for name, _ in _listed(spark, f"{checkpoint}/commits") if name.isdecimal()]
    if not commits:
        return
    # The last line of a batch's offsets is that of its source.
    offset = json.loads(_text(spark, f"{checkpoint}/offsets/{max(commits)}").splitlines()[-1])
    log = _lines_of(spark, f"{checkpoint}/sources/0")
    yield from names_in(log, up_to=int(offset["logOffset"]))


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
    return {
        name: _text(spark, f"{folder}/{name}")
        for name, _ in _listed(spark, folder)
        if name.endswith(ending)
    }


def _text(spark: SparkSession, path: str) -> str:
    """What a file has."""
    jvm: Any = spark.sparkContext._jvm
    files, where = _at(spark, path)
    with contextlib.closing(files.open(where)) as opened:
        return str(jvm.org.apache.commons.io.IOUtils.toString(opened, "UTF-8"))


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


def names_in(lines: Iterable[str], *, up_to: float = inf) -> Iterator[str]:
    """The names of the files that a log's lines name, those of a source `up_to` a batch of the log;
    its first line is a version.

    >>> list(names_in(["v1", '{"path":"file:///d/landing/part-0.parquet","action":"add"}']))
    ['part-0.parquet']
    """
    for line in lines:
        if line.startswith("{"):
            entry = json.loads(line)
            if entry.get("batchId", 0) <= up_to:
                path: str = entry["path"]
                yield path.rpartition("/")[2]


def _at(spark: SparkSession, path: str) -> tuple[Any, Any]:
    context: Any = spark.sparkContext
    where = context._jvm.org.apache.hadoop.fs.Path(path)
    return where.getFileSystem(context._jsc.hadoopConfiguration()), where
