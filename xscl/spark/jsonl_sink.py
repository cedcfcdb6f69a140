"""A sink for streaming queries of Spark, `format("xscl-jsonl")`: each batch becomes one file of
JSON Lines, `batch-000000012.jsonl`, exactly once.

The tasks of a batch write their rows below `_temporary` and sync them; when all are there, the
driver joins them in the order of the partitions, syncs the file and renames it into place.  So a
file is whole or absent, whatever is killed.  A batch that is replayed, because its commit was not
remembered, leaves the file that it finds as it is: the rows are the same, and somebody may be
reading them.  Batches are distinguished by their numbers, which start again with each checkpoint;
therefore a folder belongs to one query, named in its file `_query`, and refuses any other.

The folder is on a file system that the driver and all executors see.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from xscl.errors import XSCLError
from xscl.files.whole import put, replace_file
from xscl.spark.json_rows import json_lines

__all__ = ["JsonLinesSink"]


class JsonLinesSink(DataSource):
    """The format `xscl-jsonl`, once it is registered: `spark.dataSource.register(JsonLinesSink)`.

    Its option `path` is the folder.  Any columns can be written; with `stream`, `id`, `timestamp`
    and `xml` the files are envelopes, as `xscl run --events` reads them.
    """

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "xscl-jsonl"

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:
        """The writer into the folder; raises XSCLError where there can be none."""
        if overwrite:
            raise XSCLError(
                "xscl-jsonl adds a file for each batch: use outputMode append or update"
            )
        return _Writer(_local(self.options.get("path")))


@dataclass(frozen=True, slots=True)
class _Part(WriterCommitMessage):
    """What a task has written: the file is None where it had no rows."""

    query: str
    partition: int
    file: Path | None


@dataclass(frozen=True, slots=True)
class _Writer(DataSourceStreamArrowWriter):
    folder: Path

    def write(self, iterator: Iterator[pa.RecordBatch]) -> _Part:
        """Writes the rows of a partition of a batch; runs in a task."""
        task = TaskContext.get()
        assert task is not None, "Spark writes in tasks"
        query = task.getLocalProperty("sql.streaming.queryId")
        batch = task.getLocalProperty("streaming.sql.batchId")
        if query is None or batch is None:
            raise XSCLError("xscl-jsonl is for streaming queries: use writeStream")
        partition = task.partitionId()
        filled = (rows for rows in iterator if rows.num_rows)
        first = next(filled, None)
        if first is None:
            return _Part(query, partition, None)
        _claim(self.folder, query)
        temporary = self._temporary(query, int(batch))
        temporary.mkdir(parents=True, exist_ok=True)
        # Of a task that is tried again, or twice in parallel, each attempt has a file of its own.
        path = temporary / f"part-{partition:05}-{task.taskAttemptId()}.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json_lines(first))
            for rows in filled:
                file.writelines(json_lines(rows))
            file.flush()
            os.fsync(file.fileno())
        return _Part(query, partition, path)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Joins what the tasks have written to the batch's file; runs in parallel to the driver."""
        parts = [part for part in messages if isinstance(part, _Part) and part.file is not None]
        if not parts:
            return
        temporary = self._temporary(parts[0].query, batchId)
        target = self.folder / f"batch-{batchId:09}.jsonl"
        if not target.exists():
            whole = temporary / "whole"
            with open(whole, "wb") as file:
                for part in sorted(parts, key=lambda part: part.partition):
                    assert part.file is not None
                    with open(part.file, "rb") as rows:
                        shutil.copyfileobj(rows, file, 1 << 20)
            put(whole, target)
        _remove(temporary)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Removes what the tasks of a failed batch have written; runs in parallel to the driver.

        Where none of them could say what it wrote, the batch's next attempt removes it.
        """
        for query in {part.query for part in messages if isinstance(part, _Part)}:
            _remove(self._temporary(query, batchId))

    def _temporary(self, query: str, batch: int) -> Path:
        return self.folder / "_temporary" / query / str(batch)


def _local(path: str | None) -> Path:
    """The folder of the option `path`, absolute: tasks may run elsewhere."""
    if not path:
        raise XSCLError("xscl-jsonl needs a folder: .start(path) or .option('path', path)")
    parts = urlsplit(path)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(unquote(parts.path))
    if parts.scheme:
        raise XSCLError(
            f"xscl-jsonl writes to a folder of a file system, not to {path!r}; "
            "Spark's own format json writes there"
        )
    return Path(path).absolute()


def _claim(folder: Path, query: str) -> None:
    """Makes the folder the query's, or raises XSCLError if it is another's."""
    marker = folder / "_query"
    if not marker.exists():
        folder.mkdir(parents=True, exist_ok=True)
        if next(folder.glob("batch-*.jsonl"), None) is not None:
            raise XSCLError(f"{folder} holds batches of an unknown query: give another folder")
        # The second one finds the name taken.
        with contextlib.suppress(FileExistsError):
            replace_file(marker, query, new=True)
    owner = marker.read_text(encoding="utf-8")
    if owner != query:
        raise XSCLError(
            f"{folder} holds the batches of another query ({owner}, this one is {query}): give "
            "another folder, or the checkpoint of that query to continue with it"
        )


def _remove(temporary: Path) -> None:
    """Removes a batch's folder of parts, and those above it that are empty then."""
    shutil.rmtree(temporary, ignore_errors=True)
    with contextlib.suppress(OSError):
        temporary.parent.rmdir()
        temporary.parent.parent.rmdir()
