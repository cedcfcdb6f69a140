"""Columns of Arrow as Spark writes them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

__all__ = ["INTEGERS", "MOMENT", "TEXTS", "batch_of", "spark_columns"]

MOMENT = pa.timestamp("us", tz="UTC")
TEXTS = pa.list_(pa.string())
INTEGERS = pa.list_(pa.int32())

_SPARK = {
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    MOMENT: "TIMESTAMP",
    TEXTS: "ARRAY<STRING>",
    INTEGERS: "ARRAY<INT>",
    pa.map_(pa.string(), pa.int32()): "MAP<STRING, INT>",
}


def spark_columns(schema: pa.Schema) -> str:
    """The columns of a schema, as Spark writes them.

    >>> spark_columns(pa.schema([("id", pa.string()), ("nodes", INTEGERS)]))
    'id STRING, nodes ARRAY<INT>'
    """
    return ", ".join(f"{field.name} {_SPARK[field.type]}" for field in schema)


def batch_of(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Rows as a batch of Arrow.

    >>> batch_of([("d1",), ("d2",)], pa.schema([("id", pa.string())])).to_pydict()
    {'id': ['d1', 'd2']}
    """
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(column, one.type) for column, one in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
