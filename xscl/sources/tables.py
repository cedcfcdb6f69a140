"""Tables as sources: rows of parameters and document envelopes out of tables.

Tables come through Arrow's C data interface (its PyCapsule protocol), which pyarrow, pandas,
Polars and DuckDB speak, a record batch at a time; an iterable of dicts is a table, too.  Rows of
docs/language-reference.md#parameters says what parameters are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from xscl.errors import XSCLError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["envelopes", "rows"]

_AT_ONCE = 1_000
_MEMBERS = ("stream", "id", "timestamp", "start", "xml", "json")
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


def rows(table: object) -> Iterator[dict[str, object]]:
    """The rows of a table, lazily: anything of Arrow, a pandas or Polars DataFrame, or an
    iterable of mappings.

    A missing value (a null, pandas' NaN and NaT) is None; dates are dates, timestamps
    datetimes, those of a time zone in UTC; an index of pandas that has no name is left out.  Raises
    XSCLError for a value that is no table.

    >>> import pyarrow as pa
    >>> list(rows(pa.table({"author": ["Danny Ayers", None], "least": [1, 2]})))
    [{'author': 'Danny Ayers', 'least': 1}, {'author': None, 'least': 2}]
    """
    reader = _reader(table)
    if reader is not None:
        return _read(reader, reader.schema.names)
    return (row if isinstance(row, dict) else dict(row) for row in _mappings(table))


def envelopes(source: object) -> Iterator[Mapping[str, object]]:
    """Document envelopes, lazily: the rows of a table, or an iterable of mappings as they are.

    In a table a null is a member that the envelope does not have, and a text in the column
    `json` is JSON text: the envelope has it as bytes, which are parsed where all documents are,
    so that a malformed one is skipped like any other.  Raises XSCLError for a value that is no
    table and for a table without a column of documents.

    >>> import pyarrow as pa
    >>> list(envelopes(pa.table({"id": ["d1", "d2"], "xml": ["<a/>", None], "json": [None, "7"]})))
    [{'id': 'd1', 'xml': '<a/>'}, {'id': 'd2', 'json': b'7'}]
    """
    reader = _reader(source)
    if reader is None:
        return _mappings(source)
    names = [name for name in reader.schema.names if name in _MEMBERS]
    if not {"xml", "json"} & set(names):
        found = ", ".join(f"`{name}`" for name in reader.schema.names) or "none"
        raise XSCLError(
            f"the table's columns are {found}; expected `xml`, the text of XML documents, or "
            "`json`, JSON values or their text"
        )
    return (_envelope(row) for row in _read(reader, names))


def _reader(table: object) -> pa.RecordBatchReader | None:
    """A reader of a table by record batches; None for a value that is no table."""
    if isinstance(table, list):
        return None
    # Never imported here: a table of pandas is there only if its user has imported it.
    pandas = sys.modules.get("pandas")
    is_frame = pandas is not None and isinstance(table, pandas.DataFrame)
    is_stream = hasattr(table, "__arrow_c_stream__")
    if not (is_frame or is_stream or hasattr(table, "__arrow_c_array__")):
        return None
    import pyarrow as pa

    try:
        if is_stream:
            reader = pa.RecordBatchReader.from_stream(table)
        elif hasattr(table, "__arrow_c_array__"):
            batch = pa.record_batch(table)
            reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
        else:
            # pandas before 2.2.
            reader = pa.Table.from_pandas(table).to_reader()
    except (pa.ArrowException, TypeError, ValueError) as error:
        problem = f"the {type(table).__name__} cannot be read as a table: {error}"
        raise XSCLError(problem) from error
    names = reader.schema.names
    for name in names:
        if names.count(name) > 1:
            raise XSCLError(f"the table has {names.count(name)} columns {name!r}; rename them")
    return reader


def _read(reader: pa.RecordBatchReader, names: list[str]) -> Iterator[dict[str, object]]:
    """The rows of some columns."""
    names = [name for name in names if not _UNNAMED_INDEX.fullmatch(name)]
    for batch in reader:
        for start in range(0, batch.num_rows, _AT_ONCE):
            part = batch.slice(start, _AT_ONCE)
            cells = [_cells(part.column(name), name) for name in names]
            for row in zip(*cells, strict=True):
                yield dict(zip(names, row, strict=True))


def _cells(column: pa.Array, name: str) -> list[object]:
    """The values of a column, as Python has them."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        column = _moments(column)
    try:
        return list(column.to_pylist(maps_as_pydicts="lossy"))
    except (ValueError, OverflowError) as error:
        if pa.types.is_temporal(column.type):
            # A moment beyond Python's calendar must not cost the other rows theirs.
            return list(column.cast(pa.string()).to_pylist())
        raise XSCLError(f"column {name!r} of the table cannot be read: {error}") from error


def _moments(column: pa.Array) -> pa.Array:
    """A column of timestamps with units and a time zone that Python's datetimes have."""
    import pyarrow as pa

    unit = "us" if column.type.unit == "ns" else column.type.unit
    zone = None if column.type.tz is None else "UTC"
    return column.cast(pa.timestamp(unit, zone), safe=False)


def _mappings(entries: object) -> Iterator[Mapping[str, object]]:
    """The entries of an iterable; raises XSCLError for one that is no mapping."""
    if type(entries) is not list and (
        isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable)
    ):
        raise XSCLError(
            f"found a {type(entries).__name__}; expected a table (Arrow, pandas, Polars) or an "
            "iterable of dicts"
        )
    return _checked(entries)


def _checked(entries: Iterable[object]) -> Iterator[Mapping[str, object]]:
    for number, entry in enumerate(entries, 1):
        # Most are dicts, and to ask whether something is a Mapping takes some time.
        if not isinstance(entry, dict) and not isinstance(entry, Mapping):
            raise XSCLError(f"entry {number} is a {type(entry).__name__}; expected a dict")
        yield entry


def _envelope(row: dict[str, object]) -> dict[str, object]:
    envelope = {name: value for name, value in row.items() if value is not None}
    if isinstance(text := envelope.get("json"), str):
        envelope["json"] = text.encode()
    return envelope
