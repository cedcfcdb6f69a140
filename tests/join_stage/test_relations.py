"""The join state: what a batch leaves in DuckDB, and what goes when documents go."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

from join_stage.relations import JoinState, create


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        create(opened)
        yield opened


Row = tuple[int, int | None]


def begin(state: JoinState, rows: list[Row], strings: dict[int, str] | None = None) -> None:
    """A batch of (document, string) rows and new strings; a document's time is its number."""
    strings = strings or {}
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
        {
            "id": pa.array(strings, pa.int64()),
            "value": pa.array(strings.values(), pa.string()),
            "double": pa.array([None] * len(strings), pa.float64()),
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
    begin(state, [(1, 1), (1, 2), (2, 2), (2, 3)], {1: "one", 2: "two", 3: "three"})
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
    begin(state, [(i, i) for i in range(number)], {i: f"s{i}" for i in range(number)})
    gone = [value for i in range(number) for value in state.forget([i])]
    assert sorted(gone) == sorted(f"s{i}" for i in range(number))
