"""`format("feed")`: feeds as a source of Spark's, of a batch or a stream; a row for each body.

A batch reads each feed once, in as many tasks as it has partitions.  A stream gathers in the
driver's Python process: what comes is in the spool, synced, before it is offered, and the offset
is its number, so a batch that Spark repeats is the same to the byte.  The bodies of a batch travel
to the tasks within their partitions: nothing but the driver need see the spool.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from xscl.errors import StateError, XSCLError
from xscl.polling.clock import SystemClock
from xscl.polling.named_feeds import NamedFeeds, feeds_of
from xscl.spark.columns import spark_columns
from xscl.spark.ingestion.bodies import Body, batch_of
from xscl.spark.ingestion.columns import BODIES
from xscl.spark.ingestion.feed_options import FeedOptions
from xscl.spark.ingestion.file_looks import look
from xscl.spark.ingestion.gathering import Gathering
from xscl.spark.ingestion.spool import Spool

__all__ = ["FeedSource"]

_GROUP = 8 * 1024 * 1024
"""Bytes of bodies, more or less, that go from hand to hand together."""

_SMALLEST = 1024 * 1024
"""Bytes of bodies that are worth a task."""

Offset = dict[str, int]
"""`{"sequence": n}`: the bodies of the spool up to this number."""


class FeedSource(DataSource):
    """The source; `feed_options` has its options, `bodies` its columns."""

    @classmethod
    def name(cls) -> str:
        """What it is called in `format(...)`."""
        return "feed"

    def schema(self) -> str:
        """Its columns."""
        return spark_columns(BODIES)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads each feed once."""
        return FeedReader(FeedOptions.of(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Reads feeds again and again."""
        options = FeedOptions.of(self.options)
        if options.spool is None:
            raise XSCLError(
                'format("feed"): a stream needs option("spool", FOLDER), a folder of its own on a '
                "disk of the driver's, where fetched feeds wait to be processed"
            )
        return FeedStreamReader(options, Spool(options.spool))


@dataclass(frozen=True)
class FeedsPartition(InputPartition):
    """Feeds that one task reads."""

    feeds: NamedFeeds


@dataclass(frozen=True)
class BodiesPartition(InputPartition):
    """Bodies for one task, as an Arrow stream."""

    bodies: bytes


@dataclass(frozen=True)
class FeedReader(DataSourceReader):
    """Reads files where the task runs, and addresses so that those of one host are one task's."""

    options: FeedOptions

    def partitions(self) -> Sequence[InputPartition]:
        """The feeds, parted."""
        feeds = NamedFeeds()
        for source in self.options.sources:
            feeds.add(feeds_of(source))
        return [FeedsPartition(part) for part in _parted(feeds, self.options.partitions)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The bodies of some feeds, and the problems of those that cannot be read."""
        assert isinstance(partition, FeedsPartition)
        for group in _groups(self._bodies(partition.feeds)):
            yield batch_of(group, None)

    def _bodies(self, feeds: NamedFeeds) -> Iterator[Body]:
        now = SystemClock().now()
        for path, folders in feeds.files.items():
            looked = look(path, folders, {}, now=now, most_bytes=self.options.max_document)
            if looked is not None:
                yield looked[0]
        for name, problem in feeds.problems.items():
            yield Body(name, now, problem=problem)
        yield from self.options.web.bodies(feeds, self.options.policy)


class FeedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offers what is in the spool.  Of the several readers that Spark makes of one stream, the one
    that is asked for offsets gathers: once before `availableNow`, else in a thread."""

    def __init__(self, options: FeedOptions, spool: Spool) -> None:
        self._options = options
        self._spool = spool
        self._gatherer: _Gatherer | None = None
        self._target: int | None = None

    def initialOffset(self) -> Offset:
        """Before the first body."""
        return {"sequence": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        """How much a batch may take (`maxFilesPerTrigger`, `maxBytesPerTrigger`)."""
        return ReadMaxBytes(self._options.most_bytes)

    def prepareForTriggerAvailableNow(self) -> None:
        """Fetches what is due, all of it."""
        _end_with_parent()
        with self._options.gathering() as gathering:
            gathering.once()
        self._target = self._spool.last

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """How far the next batch goes."""
        if self._target is None:
            self._gather()
        after, last = start["sequence"], self._spool.last
        if last < after:
            raise StateError(
                f"{self._options.spool} ends with body {last:,}, but {after:,} have been "
                "processed: it is not the one that this stream has read so far; give it that one, "
                "or start over with an empty folder and a new checkpoint"
            )
        if self._target is not None:
            last = self._target
        if isinstance(limit, ReadAllAvailable):
            return {"sequence": last}
        end = self._spool.end(
            after, most_rows=self._options.most_bodies, most_bytes=self._options.most_bytes
        )
        return {"sequence": min(end, last)}

    def reportLatestOffset(self) -> Offset:
        """How far one could go, for the query's progress."""
        return {"sequence": self._spool.last}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The bodies between two offsets, dealt out."""
        bodies = pa.Table.from_batches(
            self._spool.read(start["sequence"], end["sequence"]), schema=BODIES
        )
        return [
            BodiesPartition(_written(some)) for some in _dealt(bodies, self._options.partitions)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The bodies of a partition."""
        assert isinstance(partition, BodiesPartition)
        with pa.ipc.open_stream(partition.bodies) as reader:
            yield from reader

    def commit(self, end: Offset) -> None:
        """What has been processed need not be kept."""
        self._spool.forget(end["sequence"])

    def stop(self) -> None:
        """Ends gathering."""
        if self._gatherer is not None:
            self._gatherer.stop()

    def _gather(self) -> None:
        """Sees to it that a thread gathers; raises what ended it."""
        if self._gatherer is None:
            _end_with_parent()
            self._gatherer = _Gatherer(self._options.gathering())
        self._gatherer.check()


class _Gatherer:
    """A thread that gathers until it is stopped."""

    def __init__(self, gathering: Gathering) -> None:
        gathering.open()
        self._gathering = gathering
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="xscl-gathering", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raises what made it fail, if something did."""
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Ends it when it has saved what it has."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._gathering.run(self._stop)
        except BaseException as error:
            self._failure = error
        finally:
            self._gathering.close()


def _end_with_parent() -> None:
    """Ends this process when Spark's is gone, however it went: nobody would get what comes,
    and the next run is to find the spool free.  What is in the spool is whole at any moment."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name="xscl-parent", daemon=True).start()


def _parted(feeds: NamedFeeds, count: int) -> list[NamedFeeds]:
    """Feeds in some parts, all addresses of one host in one: a host is asked by one task alone."""
    parts = [NamedFeeds() for _ in range(count)]
    for number, (path, folders) in enumerate(feeds.files.items()):
        parts[number * count // len(feeds.files)].files[path] = folders
    for address, folders in feeds.addresses.items():
        part = parts[crc32((urlsplit(address).hostname or "").encode()) % count]
        part.addresses[address] = folders
        if address in feeds.credentials:
            part.credentials[address] = feeds.credentials[address]
    parts[0].problems = feeds.problems
    return parts


def _groups(bodies: Iterable[Body]) -> Iterator[list[Body]]:
    group: list[Body] = []
    size = 0
    for body in bodies:
        group.append(body)
        size += len(body.body or b"")
        if size >= _GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _dealt(bodies: pa.Table, parts: int) -> Iterator[pa.Table]:
    """Bodies in some equal parts, or fewer if these were small, or more if large."""
    sizes = pc.binary_length(bodies["body"]).fill_null(0).to_pylist()
    share = min(max(sum(sizes) // parts, _SMALLEST), _GROUP)
    start, size = 0, 0
    for number, one in enumerate(sizes):
        if size and size + one > share:
            yield bodies.slice(start, number - start)
            start, size = number, 0
        size += one
    if start < len(sizes):
        yield bodies.slice(start)


def _written(bodies: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, BODIES, options=options) as writer:
        writer.write_table(bodies)
    return bytes(sink.getvalue())
