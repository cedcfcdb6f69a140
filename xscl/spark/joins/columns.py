"""The columns of a join on Spark: documents on their way into cells, and what the cells find."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    DataType,
    DateType,
    NumericType,
    StringType,
    TimestampNTZType,
)
from pyspark.sql.types import TimestampType as Timestamp

from xscl.errors import XSCLError
from xscl.spark.columns import INTEGERS, MOMENT, TEXTS

__all__ = ["DUPLICATE", "FOUND", "GROUPS", "LATE", "MATCHES", "READ", "UNREADABLE", "envelopes_of"]

READ = pa.schema(
    [
        ("cells", INTEGERS),
        ("stream", pa.string()),
        ("id", pa.string()),
        ("time", pa.int64()),
        ("start", pa.int64()),
        ("xml", pa.string()),
        ("json", pa.string()),
        ("problem", pa.string()),
    ]
)
"""A document that was read: the cells that it goes to, its time and, if it has one, its start
(microseconds); or why it is skipped."""

_MATCH = [
    ("id", pa.string()),
    ("query", pa.string()),
    ("stream", pa.string()),
    ("time", MOMENT),
    ("documents", TEXTS),
    ("streams", TEXTS),
    ("nodes", INTEGERS),
    ("bindings", pa.map_(pa.string(), pa.int32())),
]
MATCHES = pa.schema([*_MATCH, ("result", pa.string()), ("start", MOMENT), ("variables", TEXTS)])
"""A match, with the members of its JSON form; `result` is XML or JSON text, null where nobody asked
for it and the match has documents; `start` and `variables` are those of events, else null."""

GROUPS = pa.schema(
    [
        ("documents", TEXTS),
        ("streams", TEXTS),
        ("time", MOMENT),
        ("matches", pa.int64()),
        ("channel", pa.string()),
        ("queries", TEXTS),
    ]
)
"""All matches of the same documents: how many, and the channel of the queries that they satisfy;
`queries` are the names of these, in the first row of a channel in each cell, else null."""

_SKIPPED = [("skipped", pa.string()), ("count", pa.int64()), ("body", pa.string())]
FOUND = {
    False: pa.schema([*MATCHES, *_SKIPPED]),
    True: pa.schema([*GROUPS, *_SKIPPED]),
}
"""By whether they are grouped: rows of matches; and rows in which `skipped` is not null, of a
document that cannot be read, with its problem and its body, or of `count` documents that are
duplicates or late."""

_AS_THE_ENGINE = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timeZone": "UTC",
}
"""How members are written that the engine reads of tables itself: exact times, and nulls."""

UNREADABLE = "_problem"
"""A column that documents may have: why there is no envelope, where there is none."""

DUPLICATE = "duplicate"
LATE = "late"
"""Why documents are skipped that could be read."""


def envelopes_of(documents: DataFrame) -> DataFrame:
    """The documents with the columns of an envelope, each of one type: `timestamp` microseconds as
    text; raises XSCLError for columns that no document can be read from."""
    types: dict[str, DataType] = {field.name: field.dataType for field in documents.schema}
    found = ", ".join(f"`{name}`" for name in types) or "none"
    if missing := [name for name in ("id", "timestamp") if name not in types]:
        raise XSCLError(
            f"the documents have no column {' and no '.join(f'`{name}`' for name in missing)}; "
            f"their columns are {found}; expected are `stream`, `id`, `timestamp` and `xml` or "
            "`json`"
        )
    bodies = [name for name in ("xml", "json") if name in types]
    if not bodies:
        raise XSCLError(
            f"the documents' columns are {found}; expected `xml`, the text of XML documents, or "
            "`json`, JSON values or their text"
        )
    texts = [
        name
        for name in ("stream", "id", *bodies)
        if name in types and isinstance(types[name], StringType | BinaryType)
    ]
    stream = _text("stream") if "stream" in types else F.lit("S")
    moments = {name: _micros(name, types[name]) for name in ("timestamp", "start") if name in types}
    columns = [
        F.coalesce(stream, F.lit("S")).alias("stream"),
        _text("id").alias("id"),
        moments["timestamp"].alias("timestamp"),
        moments.get("start", F.lit(None).cast("bigint")).alias("start"),
    ]
    for name in ("xml", "json"):
        column: Column = F.lit(None).cast("string")
        if name in types:
            column = _text(name) if name in texts else F.to_json(F.col(name), _AS_THE_ENGINE)
        columns.append(column.alias(name))
    problems = [F.col(UNREADABLE)] if UNREADABLE in types else []
    for name in texts:
        wrong = F.col(name).isNotNull() & _text(name).isNull()
        problems.append(F.when(wrong, F.lit(f"its `{name}` is no UTF-8")))
    for name, moment in moments.items():
        is_none = moment.isNull() & F.col(name).isNotNull()
        problems.append(F.when(is_none, F.lit(f"its `{name}` is out of range")))
    columns.append(F.coalesce(*problems).alias(UNREADABLE))
    return documents.select(*columns)


def _text(name: str) -> Column:
    """A column as text; null where it is no UTF-8, by which Python would fail at a whole batch."""
    text = F.col(name).cast("string")
    return F.when(F.is_valid_utf8(text), text)


def _micros(name: str, kind: DataType) -> Column:
    column = F.col(name)
    if isinstance(kind, NumericType):
        # What no time can be is null, and a problem of that document alone.
        return F.round(column.try_cast("decimal(24,9)") * 1_000_000).try_cast("bigint")
    if isinstance(kind, Timestamp | TimestampNTZType | DateType):
        return F.unix_micros(column.cast("timestamp"))
    raise XSCLError(
        f"the column `{name}` is of type {kind.simpleString()}; expected a timestamp, or a "
        "number of seconds since 1970 (UTC)"
    )
