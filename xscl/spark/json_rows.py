"""Rows of Arrow as JSON, an object a row, for every type that a column of Spark may have.

Members that are null are left out.  JSON has no type for some values: a moment is seconds since
1970 (UTC, as the timestamp of an envelope), a duration seconds, a date or time of day ISO 8601;
bytes are base64; a decimal is a string with all its digits; what is no finite number is the string
that Spark's own JSON has for it (`NaN`, `Infinity`, `-Infinity`).  A map is an object.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import types

__all__ = ["json_lines"]

_NAMES = {math.inf: "Infinity", -math.inf: "-Infinity"}


def json_lines(batch: pa.RecordBatch) -> Iterator[str]:
    """Each row as a line of JSON, with its end.

    >>> list(json_lines(pa.RecordBatch.from_pylist([{"id": "d1", "timestamp": 1.5, "xml": None}])))
    ['{"id": "d1", "timestamp": 1.5}\\n']
    """
    names = batch.schema.names
    for row in _rows([_plain(column) for column in batch.columns], batch.num_rows):
        yield json.dumps(_object(zip(names, row, strict=True)), ensure_ascii=False) + "\n"


def _rows(columns: list[list[Any]], number: int) -> Iterable[tuple[Any, ...]]:
    return zip(*columns, strict=True) if columns else [()] * number


def _object(members: Iterable[tuple[str, object]]) -> dict[str, object]:
    return {name: value for name, value in members if value is not None}


def _plain(array: pa.Array) -> list[Any]:
    """The values of an array as what JSON can say."""
    kind = array.type
    if types.is_timestamp(kind):
        return _seconds(array.cast(pa.timestamp("us", kind.tz)))
    if types.is_duration(kind):
        return _seconds(array.cast(pa.duration("us")))
    if types.is_struct(kind):
        names = [field.name for field in kind]
        rows = _rows([_plain(member) for member in array.flatten()], len(array))
        there = array.is_valid().to_pylist()
        return [
            _object(zip(names, row, strict=True)) if valid else None
            for row, valid in zip(rows, there, strict=True)
        ]
    if types.is_map(kind):
        lists = array.cast(pa.list_(pa.struct([kind.key_field, kind.item_field])))
        keys, values = map(_plain, lists.flatten().flatten())
        pairs = zip(map(_key, keys), values, strict=True)
        return [None if some is None else _object(some) for some in _cut(lists, pairs)]
    if types.is_list(kind) or types.is_large_list(kind):
        return _cut(array, _plain(array.flatten()))
    if types.is_decimal(kind) or types.is_date(kind) or types.is_time(kind):
        return list(array.cast(pa.string()).to_pylist())
    plain: list[Any] = array.to_pylist()
    if types.is_floating(kind):
        return [_NAMES.get(value, value) if value == value else "NaN" for value in plain]
    if types.is_binary(kind) or types.is_large_binary(kind):
        return [None if value is None else b64encode(value).decode() for value in plain]
    return plain


def _seconds(array: pa.Array) -> list[float | None]:
    since = array.cast(pa.int64()).to_pylist()
    return [None if moment is None else moment / 1_000_000 for moment in since]


def _cut(array: pa.Array, values: Iterable[Any]) -> list[list[Any] | None]:
    """The values of all the lists of an array, list by list."""
    rest = iter(values)
    lengths = array.value_lengths().to_pylist()
    return [None if length is None else list(islice(rest, length)) for length in lengths]


def _key(key: object) -> str:
    return key if isinstance(key, str) else json.dumps(key, ensure_ascii=False)
