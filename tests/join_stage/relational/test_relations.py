"""Rows into relations and out again, few or many."""

from __future__ import annotations

import duckdb
import pytest

from xscl.join_stage.relational.relations import Column, Columns, delete, insert, recreate


def columns(rows: int) -> Columns:
    return {
        "number": Column("INTEGER", range(rows)),
        "chain": Column("BIGINT[]", [[i, None] for i in range(rows)]),
        "text": Column("VARCHAR", [None if i % 2 else f"t{i}" for i in range(rows)]),
    }


@pytest.mark.parametrize("rows", [0, 1, 5, 64, 65, 1000])
def test_rows_in_and_out(rows: int) -> None:
    expected = [(i, [i, None], None if i % 2 else f"t{i}") for i in range(rows)]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (text VARCHAR, chain BIGINT[], number INTEGER)")
        insert(connection, "t", columns(rows))
        rows_of = "SELECT number, chain, text FROM {} ORDER BY number"
        assert connection.execute(rows_of.format("t")).fetchall() == expected
        for _ in range(2):
            recreate(connection, "u", columns(rows))
            assert connection.execute(rows_of.format("u")).fetchall() == expected
        assert delete(connection, "t", "number", range(0, 2 * rows, 2)) == (rows + 1) // 2
        assert connection.execute(rows_of.format("t")).fetchall() == expected[1::2]
