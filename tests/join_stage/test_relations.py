"""The join state: what a batch leaves in DuckDB, and what goes when documents go."""

from __future__ import annotations

import math
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from join_stage.relations import JoinState, create, double_of


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        create(opened)
        yield opened


Row = tuple[int, int | None]


def begin(state: JoinState, rows: list[Row]) -> None:
    """A batch of (document, string) rows; a document's time is its number."""
    documents = sorted({document for document, _ in rows})
    state.begin(
        {
            "doc": pa.array([document for document, _ in rows], pa.int32()),
            "node": pa.array(range(len(rows)), pa.int64()),
            "path": pa.array([1] * len(rows), pa.int32()),
            "s": pa.array([string for _, string in rows], pa.int64()),
            "ts": pa.array([document for document, _ in rows], pa.int64()),
            "chain": pa.array([[0]] * len(rows), pa.list_(pa.int64())),
        },
        {
            "doc": pa.array(documents, pa.int32()),
            "ts": pa.array(documents, pa.int64()),
            "stream": pa.array(["S"] * len(documents), pa.string()),
        },
    )


def held(connection: duckdb.DuckDBPyConnection, relation: str, column: str) -> list[int]:
    rows = connection.execute(f"SELECT {column} FROM {relation} ORDER BY ALL").fetchall()
    return [value for (value,) in rows]


def test_a_batch_is_the_current_one_and_part_of_the_state(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    state = JoinState(connection)
    begin(state, [(1, 7), (1, None)])
    begin(state, [(2, 7)])
    assert held(connection, "node_w", "doc") == [2]
    assert held(connection, "node", "doc") == [1, 1, 2]
    assert held(connection, "document", "doc") == [1, 2]


def test_forgotten_documents_leave_with_their_strings(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    state = JoinState(connection)
    state.add_strings([(1, "one"), (2, "two"), (3, "three")])
    begin(state, [(1, 1), (1, 2), (2, 2), (2, 3)])
    assert sorted(state.forget([1])) == ["one"]
    assert held(connection, "node", "doc") == [2, 2]
    assert held(connection, "strings", "value") == ["three", "two"]
    assert sorted(state.forget([2])) == ["three", "two"]
    assert held(connection, "strings", "id") == []
    assert held(connection, "document", "doc") == []


def test_strings_are_found_at_last_when_documents_go_one_by_one(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """They are looked for only when enough has gone; none is lost for that, none told twice."""
    state = JoinState(connection)
    number = 100
    state.add_strings([(i, f"s{i}") for i in range(number)])
    begin(state, [(i, i) for i in range(number)])
    gone = [value for i in range(number) for value in state.forget([i])]
    assert sorted(gone) == sorted(f"s{i}" for i in range(number))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("7", 7.0),
        ("-7", -7.0),
        ("+7", 7.0),
        ("007", 7.0),
        ("7.", 7.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("7.50", 7.5),
        ("1e3", 1000.0),
        ("1E3", 1000.0),
        ("1.5e-3", 0.0015),
        ("1e+3", 1000.0),
        ("1e400", math.inf),
        ("-1e400", -math.inf),
        ("1e-400", 0.0),
        ("INF", math.inf),
        ("+INF", math.inf),
        ("-INF", -math.inf),
        ("NaN", math.nan),
        (" 7 ", 7.0),
        ("\t\r\n7\n", 7.0),
        ("9007199254740993", 9007199254740992.0),
        ("", None),
        (" ", None),
        ("+", None),
        (".", None),
        ("e3", None),
        ("1e", None),
        ("1e1.5", None),
        ("1 2", None),
        ("1,5", None),
        ("1_000", None),
        ("- 7", None),
        ("--7", None),
        ("0x1F", None),
        ("inf", None),
        ("Infinity", None),
        ("nan", None),
        ("NAN", None),
        ("-NaN", None),
        ("+NaN", None),
        ("7 days", None),
        ("7d", None),
        ("true", None),
        ("\u00a07", None),
        ("７", None),
        ("٣", None),
        ("½", None),
        ("²", None),
        ("1\x00", None),
    ],
)
def test_casts_to_double(text: str, value: float | None) -> None:
    """The lexical forms of `xs:double`, white space around them collapsed."""
    found = double_of(text)
    if value is None:
        assert found is None
    else:
        assert found is not None
        assert math.isnan(found) if math.isnan(value) else found == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_cast_as_it_is_written(number: float) -> None:
    assert double_of(repr(number)) == number
