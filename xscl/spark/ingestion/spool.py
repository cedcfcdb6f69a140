"""Bodies that were fetched and have not landed yet: a folder of segments, each an Arrow IPC file of
some rows of `columns.BODIES`, only ever added to at the end and forgotten from the beginning.

A segment is whole or absent whenever the process ends.  Its name has the
sequence numbers that it holds, the size of its bodies and its checksum: how far a batch may go is
mostly read off the names.  One process writes; any may read, from the folder as it is at that
moment.
"""

from __future__ import annotations

import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from xscl.errors import StateError
from xscl.files.whole import DRAFT, replace_file, sync_folder
from xscl.spark.ingestion.bodies import Body, batch_of
from xscl.spark.ingestion.columns import BODIES

__all__ = ["Spool"]

_NAME = re.compile(r"(\d{16})-(\d{16})-(\d+)-([0-9a-f]{8})\.arrow")
_UNBOUNDED = sys.maxsize
_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True, slots=True)
class _Segment:
    """A file with the bodies `first` to `last`, of `size` bytes together."""

    path: str
    first: int
    last: int
    size: int
    checksum: int


class Spool:
    """The bodies in a folder, numbered from 1 on.  Making one has no effect on the folder."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = os.fspath(folder)

    @property
    def last(self) -> int:
        """The sequence number of the last body; 0 if there has been none."""
        segments = self._segments()
        return segments[-1].last if segments else 0

    @property
    def backlog(self) -> int:
        """The bytes on the disk that forgetting may free: those of all segments but the last."""
        total = 0
        for segment in self._segments()[:-1]:
            with suppress(FileNotFoundError):
                total += os.stat(segment.path).st_size
        return total

    def recover(self) -> None:
        """Makes the folder if need be, and removes what a crash left half-written; for the one
        process that writes, before it does."""
        os.makedirs(self._folder, exist_ok=True)
        for name in os.listdir(self._folder):
            if name.endswith(DRAFT):
                os.unlink(os.path.join(self._folder, name))
        sync_folder(os.path.dirname(os.path.abspath(self._folder)))

    def append(self, bodies: Iterable[Body]) -> int:
        """Adds bodies as one segment, which is on the disk when this returns; the last sequence
        number.  Raises StateError if it cannot be written."""
        rows, last = list(bodies), self.last
        if not rows:
            return last
        content = _written(batch_of(rows, last + 1))
        size = sum(len(row.body or b"") for row in rows)
        name = f"{last + 1:016}-{last + len(rows):016}-{size}-{zlib.crc32(content):08x}.arrow"
        try:
            replace_file(os.path.join(self._folder, name), memoryview(content))
        except OSError as error:
            raise StateError(
                f"{self._folder}: fetched feeds cannot be written: {error.strerror}"
            ) from error
        return last + len(rows)

    def read(self, after: int, upto: int) -> Iterator[pa.RecordBatch]:
        """Exactly the rows with after < sequence <= upto, in order.

        Raises StateError if some are not there (any more), or a segment is damaged.
        """
        next = after + 1
        for segment in self._segments():
            if segment.last < next:
                continue
            if segment.first > next or next > upto:
                break
            batch = _read(segment).slice(next - segment.first)
            batch = batch.slice(0, upto - next + 1)
            yield batch
            next += batch.num_rows
        if next <= upto:
            raise StateError(
                f"{self._folder} does not hold the fetched bodies {next:,} to {upto:,}; it belongs "
                "together with the checkpoints next to it: restore both from one copy, or start "
                "over with an empty folder"
            )

    def end(
        self, after: int, *, most_rows: int | None = None, most_bytes: int | None = None
    ) -> int:
        """How far a batch may go from `after` on that is to have at most so many rows, of at most
        so many bytes in bodies; but one row at least, where there is one."""
        furthest = after + max(most_rows, 1) if most_rows is not None else _UNBOUNDED
        room = most_bytes if most_bytes is not None else _UNBOUNDED
        end = after
        for segment in self._segments():
            if end >= furthest:
                break
            if segment.last <= after:
                continue
            if segment.first > after and segment.size <= room:
                end, room = segment.last, room - segment.size
                continue
            for number, size in enumerate(_sizes(segment), segment.first):
                if number <= after:
                    continue
                if size > room and end > after:
                    return min(end, furthest)
                end, room = number, room - size
        return min(end, furthest)

    def forget(self, upto: int) -> None:
        """Deletes the segments whose bodies are all numbered `upto` or less, but never the last
        one: it is what the count continues from."""
        for segment in self._segments()[:-1]:
            if segment.last > upto:
                break
            with suppress(FileNotFoundError):
                os.unlink(segment.path)

    def _segments(self) -> list[_Segment]:
        """In order; none where there is no such folder."""
        try:
            names = sorted(os.listdir(self._folder))
        except FileNotFoundError:
            return []
        segments = []
        for name in names:
            if found := _NAME.fullmatch(name):
                first, last, size = map(int, found.groups()[:3])
                path = os.path.join(self._folder, name)
                segments.append(_Segment(path, first, last, size, int(found[4], 16)))
        return segments


def _written(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, BODIES, options=_OPTIONS) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _read(segment: _Segment) -> pa.RecordBatch:
    try:
        content = Path(segment.path).read_bytes()
    except OSError as error:
        raise StateError(f"{segment.path} cannot be read: {error.strerror}") from error
    if zlib.crc32(content) != segment.checksum:
        raise StateError(
            f"{segment.path} is damaged: it is not as it was written; restore it from a copy, or "
            "start over with an empty folder"
        )
    with pa.ipc.open_file(content) as reader:
        return reader.get_batch(0)


def _sizes(segment: _Segment) -> list[int]:
    """The bytes of each body of a segment."""
    return pc.binary_length(_read(segment)["body"]).fill_null(0).to_pylist()  # type: ignore[no-any-return]
