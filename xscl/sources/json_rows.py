"""Files of rows without envelopes become documents, each row one of JSON: JSON Lines or an array,
CSV and Parquet, lazily, each with the place after it.

The first bytes show a Parquet file, else the name shows which kind it is, else the first character.
A row that cannot be a document goes to `on_error`; the others are read.
"""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, BinaryIO

from xscl.errors import DocumentError, XSCLError
from xscl.files.gzipped import opened
from xscl.sources.csv_rows import csv_rows, read_header
from xscl.sources.envelopes import (
    STDIN,
    LineEnvelope,
    Place,
    as_far_as_it_goes,
    checked,
    lines_of,
    refused,
    sought,
)
from xscl.sources.fields import Fields
from xscl.sources.json_array import array_values, is_array
from xscl.sources.limits import MAX_DOCUMENT, TOO_DEEP, printable_path, too_large
from xscl.sources.tables import rows as rows_of

__all__ = ["documents_of", "read_rows"]

OnError = Callable[[DocumentError], object]
Make = Callable[[object, str], dict[str, object]]
Entries = Iterator[tuple[LineEnvelope, Place]]

_PARQUET = b"PAR1"
_CSV = (".csv", ".tsv")
_LINES = (".jsonl", ".ndjson")
_JSON = (*_LINES, ".json")
_AT_ONCE = 1_000
_LOOK = 4096
"""Bytes by which a file shows what it is."""


def read_rows(
    path: str,
    stream: str,
    on_error: OnError,
    *,
    fields: Fields = Fields(),  # noqa: B008 - it is frozen
    max_document: int = MAX_DOCUMENT,
    after: Place | None = None,
) -> Entries:
    """The rows of a file as envelopes of a stream, from a place on; `-` is standard input.

    A row without an id of its own gets the file's name and its number.  A cell of CSV is text, an
    empty one no member.  Raises XSCLError for a file that has no rows at all.
    """
    after = after or Place()
    name = STDIN if path == "-" else printable_path(path)
    modified = None if path == "-" else os.stat(path).st_mtime

    def make(value: object, id: str) -> dict[str, object]:
        envelope = {"stream": stream, "id": id, "json": value}
        try:
            return envelope | fields.of_json(value, modified)
        except ValueError as error:
            raise DocumentError(str(error), stream=stream, document=id) from error

    with opened(path) as file:
        seen = file.peek(_LOOK)[:_LOOK]  # type: ignore[attr-defined]
        begin = seen.lstrip(b"\xef\xbb\xbf \t\r\n")
        suffix = os.path.splitext(path.lower().removesuffix(".gz"))[1]
        if begin.startswith(_PARQUET) or suffix in (".parquet", ".pq"):
            yield from _parquet(path, name, make, on_error, max_document, after)
        elif suffix in _CSV or (suffix not in _JSON and begin[:1] not in (b"{", b"[")):
            with as_far_as_it_goes(file, name, on_error):
                yield from _csv(file, name, make, on_error, max_document, after, suffix == ".tsv")
        elif is_array(
            seen,
            whole=len(seen) < _LOOK,
            lined=suffix in _LINES and not _is_one_line(path),
        ):
            end = 0 if path == "-" else os.stat(path).st_size
            with as_far_as_it_goes(file, name, on_error):
                yield from _array(file, name, make, on_error, max_document, after, end)
        else:
            yield from lines_of(file, name, on_error, max_document, after, make)


def _is_one_line(path: str) -> bool:
    """Whether nothing is behind the first line of a file; a pipe, which gives its bytes once, may
    have more."""
    if not os.path.isfile(path):
        return False
    with opened(path) as file, suppress(EOFError, OSError, zlib.error):
        while (piece := file.readline(1 << 16)) and (piece.isspace() or not piece.endswith(b"\n")):
            pass
        return not file.read(_LOOK).strip()
    return False


def _csv(
    file: BinaryIO,
    name: str,
    make: Make,
    on_error: OnError,
    limit: int,
    after: Place,
    tabs: bool,
) -> Entries:
    header, separator, begin = read_header(file, name, tabs=tabs)
    place = begin
    if after.offset > begin.offset:
        place = after._replace(offset=sought(file, after.offset))
    for row in csv_rows(file, place, separator=separator, limit=limit):
        try:
            if row.problem is not None:
                raise ValueError(row.problem)
            if len(row.cells) != len(header):
                expected = f"{len(header)}, one for each column of the header"
                raise ValueError(f"it has {len(row.cells)} cells; expected {expected}")
            value = {key: cell for key, cell in zip(header, row.cells, strict=True) if cell}
            id = after.id(name, row.line, row.start)
            found = checked(make(value, id), (name, row.line))
        except (ValueError, DocumentError) as error:
            position = {"line": row.line, "offset": row.start}
            on_error(refused(error, (name, row.line), position, row.raw))
        else:
            yield found, row.end._replace(others=after.others)


def _array(
    file: BinaryIO,
    name: str,
    make: Make,
    on_error: OnError,
    limit: int,
    after: Place,
    end: int,
) -> Entries:
    number = 0
    try:
        for number, (value, size) in enumerate(array_values(file, limit), 1):
            if number <= after.lines:
                continue
            try:
                if size > limit:
                    raise ValueError(too_large(limit))
                found = checked(make(value, after.id(name, number, number - 1)), (name, number))
            except (ValueError, DocumentError) as error:
                raw = json.dumps(value).encode()
                on_error(refused(error, (name, number), {"line": number}, raw))
            else:
                yield found, after._replace(lines=number, offset=end)
    except ValueError as error:
        problem = f"value {number + 1} of the array cannot be read, nor what follows it: {error}"
        on_error(DocumentError(problem, stream="?", document=name))


def documents_of(
    table: object, stream: str, on_error: OnError, fields: Fields
) -> Iterator[dict[str, object]]:
    """The rows of a table, or mappings, as envelopes of a stream, without ids but those of
    `fields`; those that cannot be documents go to `on_error`."""
    for number, row in enumerate(rows_of(table)):
        try:
            value = _as_json(row)
            envelope = {"stream": stream, "json": value, **fields.of_json(value, None)}
        except ValueError as error:
            on_error(DocumentError(str(error), stream=stream, document=f"row {number:,}"))
        else:
            yield envelope


def _parquet(
    path: str, name: str, make: Make, on_error: OnError, limit: int, after: Place
) -> Entries:
    if path == "-":
        raise XSCLError("standard input: a Parquet file is read from its end; name the file")
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    end = os.stat(path).st_size
    with ExitStack() as stack:
        try:
            # Arrow opens only names that are UTF-8.
            source = path if name == path else stack.enter_context(open(path, "rb"))
            table = stack.enter_context(closing(ParquetFile(source)))
        except (pa.ArrowException, OSError) as error:
            raise XSCLError(f"{name} cannot be read as Parquet: {error}") from error
        number = 0
        for group in range(table.num_row_groups):
            first, number = number, number + table.metadata.row_group(group).num_rows
            if number <= after.lines:
                continue
            try:
                batches = table.iter_batches(batch_size=_AT_ONCE, row_groups=[group])
                reader = pa.RecordBatchReader.from_batches(table.schema_arrow, batches)
                for at, row in enumerate(rows_of(reader), first + 1):
                    if at <= after.lines:
                        continue
                    try:
                        value = _as_json(row)
                        if len(json.dumps(value)) > limit:
                            raise ValueError(too_large(limit))
                        found = checked(make(value, after.id(name, at, at - 1)), (name, at))
                    except (ValueError, DocumentError) as error:
                        on_error(refused(error, (name, at), {"line": at}, _text(row)))
                    else:
                        yield found, after._replace(lines=at, offset=end)
            except (pa.ArrowException, OSError, XSCLError) as error:
                # What has been read of it stays; the other groups are read.
                problem = f"rows {first + 1:,} to {number:,} cannot be read whole: {error}"
                on_error(DocumentError(problem, stream="?", document=name))


def _as_json(row: Any) -> Any:
    """A row as JSON has it; raises ValueError where it has none."""
    try:
        return _plain(row)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def _plain(value: Any) -> Any:
    """A value of a table as JSON has it; raises ValueError where it has none."""
    match value:
        case None | str() | bool() | int():
            return value
        case float():
            if value == value and not isfinite(value):
                raise ValueError(f"{value} is no number of JSON")
            return None if value != value else float(value)
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case datetime() if value != value:
            return None
        case datetime() | date() | time():
            return value.isoformat().replace("+00:00", "Z")
        case timedelta():
            return value.total_seconds()
        case Decimal() if not value.is_finite():
            raise ValueError(f"{value} is no number of JSON")
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return b64encode(value).decode()
    if type(value).__name__ == "NAType":
        # pandas' NA, which its rows may have.
        return None
    if getattr(value, "shape", None) == ():
        # A scalar of NumPy.
        return _plain(value.item())
    return str(value)


def _text(row: dict[str, object]) -> bytes:
    return json.dumps(row, default=str).encode()
