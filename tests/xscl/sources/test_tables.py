"""Tables as sources: rows and envelopes of every library."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xscl import Engine, XSCLError
from xscl.errors import DocumentError
from xscl.sources.tables import envelopes, rows

AUTHORS: list[dict[str, object]] = [
    {"name": "ayers", "author": "Danny Ayers", "least": 2},
    {"name": "nobody", "author": None, "least": 3},
]

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


# Rows


@pytest.mark.parametrize("as_table", ["table", "batch", "reader", "relation", "structs"])
def test_rows_of_anything_of_arrow(as_table: str) -> None:
    table = pa.Table.from_pylist(AUTHORS)
    (batch,) = table.to_batches()
    source: dict[str, object] = {
        "table": table,
        "batch": batch,
        "reader": table.to_reader(),
        "relation": duckdb.connect().from_arrow(table),
        "structs": batch.to_struct_array(),
    }
    assert list(rows(source[as_table])) == AUTHORS


def test_rows_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([*AUTHORS, {"name": "x", "author": "y", "least": None}])
    moments = ["2006-11-14 00:00:00.000001999", None, "1970-01-01"]
    frame["when"] = pandas.to_datetime(moments, format="ISO8601")
    frame["kind"] = pandas.Categorical(["a", None, "a"])
    assert list(rows(frame.sort_values("name", ascending=False))) == [
        {"name": "x", "author": "y", "least": None, "when": datetime(1970, 1, 1), "kind": "a"},
        {**AUTHORS[1], "when": None, "kind": None},
        {**AUTHORS[0], "when": datetime(2006, 11, 14, 0, 0, 0, 1), "kind": "a"},
    ]


def test_an_index_of_pandas_is_a_column_where_it_has_a_name() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"name": ["a", "b"], "least": [1, 2]}).set_index("name")
    assert list(rows(frame)) == [{"least": 1, "name": "a"}, {"least": 2, "name": "b"}]


def test_rows_of_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(AUTHORS).with_columns(when=polars.lit(date(2006, 11, 14)))
    assert list(rows(frame)) == [{**row, "when": date(2006, 11, 14)} for row in AUTHORS]


def test_rows_of_dicts_are_read_when_they_are_asked_for() -> None:
    read = []

    def source() -> Iterator[Mapping[str, object]]:
        for row in AUTHORS:
            read.append(row)
            yield row

    found = rows(source())
    assert read == []
    assert next(found) == AUTHORS[0]
    assert read == AUTHORS[:1]


def test_record_batches_are_read_when_they_are_asked_for() -> None:
    schema = pa.schema([("n", pa.int64())])
    read = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(3):
            read.append(number)
            yield pa.record_batch([pa.array([number, number])], schema)

    found = rows(pa.RecordBatchReader.from_batches(schema, batches()))
    assert [next(found), next(found)] == [{"n": 0}, {"n": 0}]
    assert read == [0]
    assert list(found) == [{"n": 1}, {"n": 1}, {"n": 2}, {"n": 2}]


@given(st.lists(st.fixed_dictionaries({"a": st.none() | TEXTS, "b": st.none() | st.booleans()})))
def test_rows_are_what_the_table_was_made_of(made_of: list[dict[str, object]]) -> None:
    schema = pa.schema([("a", pa.string()), ("b", pa.bool_())])
    assert list(rows(pa.Table.from_pylist(made_of, schema))) == made_of
    assert list(rows(made_of)) == made_of


def test_a_table_longer_than_one_read() -> None:
    assert [row["n"] for row in rows(pa.table({"n": range(12_345)}))] == list(range(12_345))


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (7, "found a int; expected a table"),
        (None, "found a NoneType; expected a table"),
        ("a,b", "found a str; expected a table"),
        (b"a,b", "found a bytes; expected a table"),
        ({"author": ["a"]}, "found a dict; expected a table"),
        (pa.chunked_array([[1]]), "the ChunkedArray cannot be read as a table"),
        (pa.array([1]), "the Int64Array cannot be read as a table"),
        (pa.table([[1], [2]], ["a", "a"]), "the table has 2 columns 'a'; rename them"),
    ],
)
def test_what_is_no_table(source: object, problem: str) -> None:
    for read in rows, envelopes:
        with pytest.raises(XSCLError, match=problem):
            read(source)


def test_an_entry_that_is_no_row() -> None:
    for read in rows, envelopes:
        found = read([{"a": 1}, "b"])
        assert next(found) == {"a": 1}
        with pytest.raises(XSCLError, match="entry 2 is a str; expected a dict"):
            next(found)


def test_a_text_that_is_no_unicode() -> None:
    table = pa.table({"author": pa.array([b"\xff"]).view(pa.string())})
    with pytest.raises(XSCLError, match="column 'author' of the table cannot be read"):
        list(rows(table))


# Envelopes


def test_envelopes_of_dicts_are_as_they_are() -> None:
    source = [{"json": None, "id": "d1"}, {"xml": "<a/>", "unknown": 1}]
    assert all(a is b for a, b in zip(envelopes(source), source, strict=True))


def test_nulls_of_a_table_are_members_that_are_absent() -> None:
    table = pa.table(
        {
            "stream": ["S", None],
            "xml": ["<a/>", None],
            "json": [None, '{"a": 1}'],
            "comment": ["x", "y"],
        }
    )
    assert list(envelopes(table)) == [{"stream": "S", "xml": "<a/>"}, {"json": b'{"a": 1}'}]


def test_a_table_without_documents() -> None:
    problem = "the table's columns are `id`, `text`; expected `xml`, .* or `json`"
    with pytest.raises(XSCLError, match=problem):
        envelopes(pa.table({"id": ["d1"], "text": ["<a/>"]}))


def test_envelopes_have_the_start_of_their_documents() -> None:
    table = pa.table({"xml": ["<a/>", "<b/>"], "timestamp": [9, 9], "start": [7, None]})
    with Engine() as engine:
        engine.subscribe("S")
        assert [match.start for match in engine.publish_many(envelopes(table))] == [7, None]


@pytest.mark.parametrize(
    "type",
    [
        pa.timestamp("s"),
        pa.timestamp("us"),
        pa.timestamp("ns"),
        pa.timestamp("ms", "Europe/Berlin"),
        pa.timestamp("ns", "UTC"),
        pa.date32(),
        pa.date64(),
        pa.float64(),
        pa.int64(),
        pa.string(),
    ],
)
def test_timestamps_of_every_type(type: pa.DataType) -> None:
    given = {pa.float64(): 1163462400.0, pa.int64(): 1163462400, pa.string(): "2006-11-14"}
    moment = given.get(type, datetime(2006, 11, 14, tzinfo=UTC))
    table = pa.table({"xml": ["<a/>", "<b/>"], "timestamp": pa.array([moment, None], type)})
    with Engine() as engine:
        engine.subscribe("S")
        before = datetime.now(UTC).timestamp()
        first, second = engine.publish_many(envelopes(table))
    assert first.time == 1163462400.0
    assert second.time >= before


@pytest.mark.parametrize(
    ("times", "found"),
    [
        (pa.array([0, 10**18, 1_500_000], pa.timestamp("us", "Europe/Berlin")), [0.0, 1.5]),
        (pa.array([0, 10**8, 1], pa.date32()), [0.0, 86400.0]),
    ],
)
def test_a_moment_beyond_all_calendars_costs_the_other_rows_nothing(
    times: pa.Array, found: list[float]
) -> None:
    table = pa.table({"id": ["a", "b", "c"], "xml": ["<a/>"] * 3, "timestamp": times})
    skipped: list[DocumentError] = []
    with Engine(on_skip=skipped.append) as engine:
        engine.subscribe("S")
        assert [match.time for match in engine.publish_many(envelopes(table))] == found
    assert [(error.document, "ISO 8601" in error.problem) for error in skipped] == [("b", True)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text("ab<&\u20ac", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=6,
)


@given(st.lists(JSON, max_size=4))
def test_json_text_in_a_table_is_the_value_in_a_dict(values: list[object]) -> None:
    ids = [f"d{number}" for number in range(len(values))]
    table = pa.table({"id": ids, "json": pa.array(map(json.dumps, values), pa.string())})
    dicts = [{"id": id, "json": value} for id, value in zip(ids, values, strict=True)]
    assert _found(envelopes(table)) == _found(dicts)


def test_values_of_a_column_are_json_values() -> None:
    maps = pa.map_(pa.string(), pa.list_(pa.int64()))
    for value, type in [
        ({"a": 1, "b": [None, {"c": "x"}]}, None),
        ([1, 2], None),
        (1.5, None),
        (True, None),
        ({"a": [1, 2], "b": []}, maps),
    ]:
        column = [list(value.items()) if type is maps and isinstance(value, dict) else value]
        table = pa.table({"id": ["d"], "json": pa.array(column, type)})
        assert _found(envelopes(table)) == _found([{"id": "d", "json": value}])


def test_json_text_that_is_malformed_is_skipped_like_any_other_document() -> None:
    texts = ['{"a": 1}', "{'a': 1}", "", "NaN", "[" * 100_000, "1 2", "null"]
    ids = [f"d{number}" for number in range(len(texts))]
    skipped: list[DocumentError] = []
    with Engine(on_skip=skipped.append) as engine:
        engine.subscribe("S")
        matches = engine.publish_many(envelopes(pa.table({"id": ids, "json": texts})))
        assert engine.skipped.malformed == 5
    assert [match.documents for match in matches] == [("d0",), ("d6",)]
    assert [match.result for match in matches] == [{"a": 1}, None]
    assert [error.document for error in skipped] == ["d1", "d2", "d3", "d4", "d5"]
    assert all("JSON" in error.problem for error in skipped)


def test_envelopes_of_pandas_and_polars() -> None:
    expected = [{"id": "d1", "xml": "<a/>"}, {"json": b"[1]"}]
    columns = {"id": ["d1", None], "xml": ["<a/>", None], "json": [None, "[1]"]}
    for library in "pandas", "polars":
        frame = pytest.importorskip(library).DataFrame(columns)
        assert list(envelopes(frame)) == expected


def _found(source: Any) -> list[tuple[str, object]]:
    with Engine() as engine:
        engine.load("-- name: whole\nS;\n-- name: inner\nS//a[b or . = 'a' or . = '1']")
        return [(match.query, match.result) for match in engine.publish_many(source)]
