"""Tables at the engine's edge: rows and envelopes out of tables, matches into one.

Tables come through Arrow's C data interface (its PyCapsule protocol), which pyarrow, pandas,
Polars and DuckDB speak, a record batch at a time; an iterable of dicts is a table, too.  Rows of
parameters are section 9 of the language, and a file of them is CSV as in RFC 4180.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from pathlib import Path

import pyarrow as pa

from xscl.errors import XSCLError
from xscl.matches.match import Match

__all__ = ["envelopes", "read_parameters", "rows", "to_arrow"]

log = logging.getLogger("xscl")

_AT_ONCE = 1_000
_MEMBERS = ("stream", "id", "timestamp", "xml", "json")
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")

_MATCHES = pa.schema(
    [
        ("id", pa.string()),
        ("query", pa.string()),
        ("stream", pa.string()),
        ("time", pa.float64()),
        ("documents", pa.list_(pa.string())),
        ("streams", pa.list_(pa.string())),
        ("nodes", pa.list_(pa.int64())),
        ("bindings", pa.map_(pa.string(), pa.int64())),
        ("result", pa.string()),
    ]
)


def rows(table: object) -> Iterator[dict[str, object]]:
    """The rows of a table, lazily: anything of Arrow, a pandas or Polars DataFrame, or an
    iterable of mappings.

    What a table lacks (a null, pandas' NaN and NaT) is None; dates and timestamps are datetimes,
    those of a time zone in UTC; an index of pandas that has no name is left out.  Raises
    XSCLError for what is no table.

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
    so that a malformed one is skipped like any other.  Raises XSCLError for what is no table and
    for one without a column of documents.

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


def to_arrow(matches: Iterable[Match]) -> pa.Table:
    """A table of matches, a row each, with the members of their JSON form as columns.

    `time` is in seconds, `bindings` a map.  `result` is text: of a JSON result it is JSON text,
    which unlike that of XML never starts with `<`.  A result that cannot be built is logged and
    null.  The matches are read a thousand at a time, and none is kept.

    >>> to_arrow([]).column_names[:5]
    ['id', 'query', 'stream', 'time', 'documents']
    """
    iterator = iter(matches)
    tables = [_MATCHES.empty_table()]
    while some := [_record(match) for match in islice(iterator, _AT_ONCE)]:
        tables.append(pa.Table.from_pylist(some, _MATCHES))
    return pa.concat_tables(tables)


def read_parameters(path: str | Path) -> Iterator[dict[str, object]]:
    """The rows of a CSV file (UTF-8, a header, RFC 4180) as parameters.

    A column of JSON numbers alone is one of numbers, any other is text: with `007` in it, an
    empty cell, or an integer of so many digits that no double has them.  The column `name`, which
    names queries, is always text.  Blank lines are skipped.
    Raises XSCLError with the file and line for what is no such file; it is read whole before the
    first row is given.
    """
    header, lines = _read_csv(path)
    columns: list[Sequence[object]] = []
    for name, *cells in zip(header, *lines, strict=True):
        numbers = [_number(cell) for cell in cells]
        columns.append(cells if name == "name" or None in numbers else numbers)
    return (dict(zip(header, row, strict=True)) for row in zip(*columns, strict=True))


def _reader(table: object) -> pa.RecordBatchReader | None:
    """What reads a table by record batches; None for what is no table."""
    if isinstance(table, list):
        return None
    # Never imported here: a table of pandas is there only if its user has imported it.
    pandas = sys.modules.get("pandas")
    try:
        if hasattr(table, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(table)
        elif hasattr(table, "__arrow_c_array__"):
            batch = pa.record_batch(table)
            reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
        elif pandas is not None and isinstance(table, pandas.DataFrame):
            # pandas before 2.2.
            reader = pa.Table.from_pandas(table).to_reader()
        else:
            return None
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
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"))
    elif pa.types.is_timestamp(column.type):
        column = _moments(column)
    try:
        return list(column.to_pylist(maps_as_pydicts="lossy"))
    except (ValueError, OverflowError) as error:
        if pa.types.is_timestamp(column.type):
            # A moment beyond Python's calendar must not cost the other rows theirs.
            return list(column.cast(pa.string()).to_pylist())
        raise XSCLError(f"column {name!r} of the table cannot be read: {error}") from error


def _moments(column: pa.Array) -> pa.Array:
    """A column of timestamps with units and a time zone that Python's datetimes have."""
    unit = "us" if column.type.unit == "ns" else column.type.unit
    zone = None if column.type.tz is None else "UTC"
    return column.cast(pa.timestamp(unit, zone), safe=False)


def _mappings(entries: object) -> Iterator[Mapping[str, object]]:
    """The entries of an iterable; raises XSCLError for one that is no mapping."""
    if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        raise XSCLError(
            f"found a {type(entries).__name__}; expected a table (Arrow, pandas, Polars) or an "
            "iterable of dicts"
        )
    return (_mapping(entry, number) for number, entry in enumerate(entries, 1))


def _mapping(entry: object, number: int) -> Mapping[str, object]:
    if not isinstance(entry, Mapping):
        raise XSCLError(f"entry {number} is a {type(entry).__name__}; expected a dict")
    return entry


def _envelope(row: dict[str, object]) -> dict[str, object]:
    envelope = {name: value for name, value in row.items() if value is not None}
    if isinstance(text := envelope.get("json"), str):
        envelope["json"] = text.encode()
    return envelope


def _record(match: Match) -> dict[str, object]:
    """A match as a row of the table."""
    return {
        "id": match.id,
        "query": match.query,
        "stream": match.stream,
        "time": match.time,
        "documents": match.documents,
        "streams": match.streams,
        "nodes": match.nodes,
        "bindings": list(match.bindings.items()),
        "result": _result(match),
    }


def _result(match: Match) -> str | None:
    """The result as text, None where it cannot be built."""
    try:
        result = match.result
        if not match.json:
            return str(result)
        text = json.dumps(result, ensure_ascii=False)
        # Half of a surrogate pair, which a string of JSON may hold, is text only when escaped.
        return json.dumps(result) if _HALF_A_PAIR.search(text) else text
    except Exception:
        # Whatever is wrong with one result, the others are unaffected.
        log.exception("the result of match %s of query %r cannot be built", match.id, match.query)
        return None


def _read_csv(path: str | Path) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a file, all of one width."""
    content = Path(path).read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise XSCLError(f"{path}, line {line}: it is not UTF-8: {error.reason}") from error
    header: list[str] = []
    lines = []
    for line, cells in _csv_rows(path, text):
        if not header:
            header = _checked(cells, f"{path}, line {line}")
        elif len(cells) != len(header):
            raise XSCLError(
                f"{path}, line {line}: found {len(cells)} cells; expected {len(header)}, one for "
                "each column of the header"
            )
        else:
            lines.append(cells)
    if not header:
        raise XSCLError(f"{path}, line 1: the file is empty; expected a header of column names")
    return header, lines


def _csv_rows(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line it starts on."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise XSCLError(f"{path}, line {line}: it is no CSV: {error}") from error


def _checked(header: list[str], place: str) -> list[str]:
    for position, name in enumerate(header):
        if not name:
            raise XSCLError(f"{place}: column {position + 1} of the header has no name")
        if name in header[:position]:
            raise XSCLError(f"{place}: two columns are named {name!r}; rename one")
    return header


def _number(cell: str) -> int | float | None:
    """The number that a cell is in JSON; None for text, for what is beyond all doubles and for an
    integer that no double is, which would be compared as another."""
    found = _JSON_NUMBER.fullmatch(cell)
    if found is None or not isfinite(float(cell)):
        return None
    if found["fraction"]:
        return float(cell)
    return int(cell) if int(cell) == float(cell) else None
