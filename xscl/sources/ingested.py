"""Items that `xscl ingest` has written, as envelopes: the Parquet files of DIR/items, batch by
batch in the order in which they were ingested, the items of a batch in order of time.

A batch counts once its folder holds `_SUCCESS`.  It is read without Spark, and a batch at
a time is in memory, or, of a large batch, the items of a period.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.parquet import ParquetFile

from xscl.errors import DocumentError, XSCLError
from xscl.times import to_seconds

__all__ = ["read_items"]

OnError = Callable[[DocumentError], object]
T = TypeVar("T")

_MOMENTS = pa.schema([("timestamp", pa.int64())])
_DATES = ("published", "updated")
_ITEMS = pa.schema(
    [
        *(("stream", pa.string()), ("id", pa.string()), *_MOMENTS, ("xml", pa.string())),
        *((name, pa.int64()) for name in _DATES),
    ]
)
"""The columns that make an envelope, and the dates; times in microseconds."""

_BATCH = re.compile(r"batch=(\d+)")
_AT_ONCE = 256 * 1024 * 1024
"""Bytes of items that are sorted at a time."""


def read_items(
    folder: str,
    on_error: OnError,
    on_dates: Callable[[int, int], object] = lambda items, undated: None,
) -> Iterator[dict[str, object]]:
    """The items of the folder that `xscl ingest --to` fills, or of its folder `items`.

    Timestamps are in seconds, exact to the microsecond.  `on_dates` gets how many items were read
    and how many of them have no date, or one in the future: their time is that of the fetch.
    Raises XSCLError if there is no whole batch; a file that cannot be read goes to `on_error`, and
    the others are read.
    """
    place = Path(folder)
    if (place / "items").is_dir():
        place /= "items"
    batches = sorted(_whole_batches(place))
    if not batches:
        raise XSCLError(
            f"no ingested items in {folder!r}: give the folder that `xscl ingest --to` fills, "
            "once it has a whole batch"
        )
    return _read([batch for _, batch in batches], on_error, on_dates)


def _whole_batches(place: Path) -> Iterator[tuple[int, Path]]:
    """The batches that are whole, each with its number."""
    if place.is_dir():
        for batch in place.iterdir():
            numbered = _BATCH.fullmatch(batch.name)
            if numbered and (batch / "_SUCCESS").exists():
                yield int(numbered[1]), batch


def _read(
    batches: list[Path], on_error: OnError, on_dates: Callable[[int, int], object]
) -> Iterator[dict[str, object]]:
    for batch in batches:
        files = [path for path in sorted(batch.glob("*.parquet")) if path.name[0] not in "._"]
        for first, end in pairwise(_bounds(files, on_error)):
            tables = _each(files, partial(_rows, schema=_ITEMS, first=first, end=end), on_error)
            items = _concat(_ITEMS, tables).sort_by("timestamp")
            for rows in items.to_batches(max_chunksize=1024):
                found = [*zip(*rows.to_pydict().values(), strict=True)]
                on_dates(len(found), sum(moment not in dates for _, _, moment, _, *dates in found))
                for stream, id, moment, xml, *_ in found:
                    yield {"stream": stream, "id": id, "timestamp": to_seconds(moment), "xml": xml}


def _bounds(files: list[Path], on_error: OnError) -> list[int | None]:
    """The bounds of periods of whose items not more are in memory than may be, as far as they are
    of like size and of different moments; None is no bound."""
    size = sum(_each(files, _size, on_error))
    if size <= _AT_ONCE:
        return [None, None]
    tables = _each(files, partial(_rows, schema=_MOMENTS), on_error)
    moments = _concat(_MOMENTS, tables).sort_by("timestamp")["timestamp"]
    step = max(1, len(moments) * _AT_ONCE // size)
    cuts = moments.take(pa.array(range(step, len(moments), step), pa.int64())).unique()
    return [None, *cuts.to_pylist(), None]


def _each(files: list[Path], read: Callable[[Path], T], on_error: OnError) -> Iterator[T]:
    """The result of reading each file; one that cannot be read is reported, and leaves the list."""
    for path in list(files):
        try:
            yield read(path)
        except (OSError, KeyError, pa.ArrowException) as error:
            files.remove(path)
            problem = f"it cannot be read as ingested items: {error}"
            on_error(DocumentError(problem, stream="?", document=str(path)))


def _concat(schema: pa.Schema, tables: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *tables])


def _size(path: Path) -> int:
    """The bytes of a file's items in memory."""
    with ParquetFile(path) as file:
        groups = [file.metadata.row_group(group) for group in range(file.num_row_groups)]
    chunks = (group.column(column) for group in groups for column in range(group.num_columns))
    return sum(c.total_uncompressed_size for c in chunks if c.path_in_schema in _ITEMS.names)


def _rows(
    path: Path, *, schema: pa.Schema, first: int | None = None, end: int | None = None
) -> pa.Table:
    """A file's rows from a moment on, before another."""
    kept = []
    # Spark writes timestamps as INT96 unless it is configured otherwise.
    with ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
        for rows in file.iter_batches(batch_size=1024, columns=schema.names):
            for name in ("timestamp", *_DATES):
                if name in rows.schema.names:
                    moments = rows[name].cast(pa.timestamp("us")).cast(pa.int64())
                    rows = rows.set_column(rows.schema.names.index(name), name, moments)
                elif name in schema.names:
                    # Files of other makers may have no such column: their items count as dated.
                    rows = rows.append_column(name, rows["timestamp"])
            if first is not None:
                rows = rows.filter(pc.greater_equal(rows["timestamp"], first))
            if end is not None:
                rows = rows.filter(pc.less(rows["timestamp"], end))
            kept.append(rows.select(schema.names).cast(schema))
    return pa.Table.from_batches(kept, schema)
