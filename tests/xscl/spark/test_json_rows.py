"""Rows as JSON against what Python's values say by themselves."""

from __future__ import annotations

import base64
import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from xscl.spark.json_rows import json_lines

INNER = pa.struct([("moment", pa.timestamp("us", "UTC")), ("bytes", pa.binary())])
SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("number", pa.int64()),
        ("float", pa.float64()),
        ("flag", pa.bool_()),
        ("moment", pa.timestamp("us")),
        ("length", pa.duration("us")),
        ("day", pa.date32()),
        ("price", pa.decimal128(10, 2)),
        ("inner", INNER),
        ("list", pa.list_(INNER)),
        ("lists", pa.list_(pa.list_(pa.float32()))),
        ("map", pa.map_(pa.string(), INNER)),
        ("counts", pa.map_(pa.int32(), pa.int32())),
    ]
)
START = datetime(1970, 1, 1, tzinfo=UTC)


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def moments(**zone: Any) -> st.SearchStrategy[datetime]:
    return st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), **zone)


inner = optional(
    st.fixed_dictionaries(
        {"moment": optional(moments(timezones=st.just(UTC))), "bytes": optional(st.binary())}
    )
)
rows = st.fixed_dictionaries(
    {
        "text": optional(st.text(st.characters(exclude_categories=["Cs"]))),
        "number": optional(st.integers(-(2**63), 2**63 - 1)),
        "float": optional(st.floats()),
        "flag": optional(st.booleans()),
        "moment": optional(moments()),
        "length": optional(st.timedeltas(timedelta(-1000), timedelta(1000))),
        "day": optional(st.dates(date(1, 1, 1))),
        "price": optional(st.decimals("-99999999", "99999999", places=2)),
        "inner": inner,
        "list": optional(st.lists(inner, max_size=3)),
        "lists": optional(st.lists(optional(st.lists(optional(st.floats(width=32)), max_size=3)))),
        "map": optional(st.dictionaries(st.sampled_from(["a", "b é"]), inner)),
        "counts": optional(st.dictionaries(st.integers(0, 9), st.integers(0, 9), max_size=3)),
    }
)


def expected(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case datetime():
            since = value.replace(tzinfo=UTC) - START
            return (since // timedelta(microseconds=1)) / 1_000_000
        case timedelta():
            return (value // timedelta(microseconds=1)) / 1_000_000
        case date():
            return value.isoformat()
        case Decimal():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode()
        case list():
            return [expected(one) for one in value]
        case dict():
            return {str(k): expected(v) for k, v in value.items() if v is not None}
    return value


@given(st.lists(rows, max_size=5), st.integers(0, 4))
def test_each_row_is_an_object_of_its_columns(given: list[dict[str, Any]], start: int) -> None:
    batch = pa.RecordBatch.from_pylist(given, schema=SCHEMA).slice(start)
    assert [json.loads(line) for line in json_lines(batch)] == [
        expected(row) for row in given[start:]
    ]
    assert all(line.endswith("}\n") and line.count("\n") == 1 for line in json_lines(batch))
