"""The relations of the join stage in DuckDB: join state, current batch, queries.

    node      (doc, node, path, s, ts, chain)   R_doc and R_bin in one, as rows of paths (law 2)
    node_w    the same of the current batch     R_docW and R_binW
    document  (doc, ts, stream, id)             R_docTS
    strings   (id, value, double)               interned string values; double where castable
    accept    (path, spine, depths)             what stage 1's paths stand for
    value_join(j, ls, rs, lo, wl)               equalities of spines, with the widest time bounds
    rows_T    (r, v0…, j0…, s0…)                distinct rows of R_T, one table for each plan T
    query     (q, r, lo, wl, since, alone)      the queries of each row: R_T with qid and wl

Times are integer microseconds.  `lo` and `wl` bound dt = t(right) - t(left): dt > lo and
|dt| <= wl; `since` is the first document that a query sees; a query that is not `alone` is one
of several disjuncts, whose matches may be the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa

__all__ = ["FOREVER", "JoinState", "create", "insert"]

FOREVER = 2**62
"""A window without end, in microseconds."""

_FEW = 64
_TYPES = {
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
}

_SCHEMA = """
CREATE TABLE node (
    doc INTEGER, node BIGINT, path INTEGER, s BIGINT, ts BIGINT, chain BIGINT[]
);
CREATE TEMP TABLE node_w (
    doc INTEGER, node BIGINT, path INTEGER, s BIGINT, ts BIGINT, chain BIGINT[]
);
CREATE TABLE document (doc INTEGER, ts BIGINT, stream VARCHAR, id VARCHAR);
CREATE TABLE strings (id BIGINT, value VARCHAR, double DOUBLE);
CREATE TABLE accept (path INTEGER, spine INTEGER, depths INTEGER[]);
CREATE TABLE value_join (j INTEGER, ls INTEGER, rs INTEGER, lo BIGINT, wl BIGINT);
CREATE TABLE query (
    q INTEGER, r INTEGER, lo BIGINT, wl BIGINT, since INTEGER, alone BOOLEAN
);
CREATE TEMP TABLE left_path (path INTEGER);
CREATE TEMP TABLE right_path (path INTEGER);
"""


def create(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the relations in an empty database."""
    connection.execute(_SCHEMA)


def insert(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: dict[str, pa.Array]
) -> None:
    """Inserts columns into a relation, in one statement whatever their length.

    A few rows go as parameters, which costs less than half of registering an Arrow table.
    """
    names = ", ".join(f'"{name}"' for name in columns)
    if len(next(iter(columns.values()))) <= _FEW:
        lists = ", ".join(f"unnest(?::{_type(column.type)}[])" for column in columns.values())
        values = [column.to_pylist() for column in columns.values()]
        connection.execute(f'INSERT INTO "{relation}" ({names}) SELECT {lists}', values)
        return
    connection.register("incoming", pa.table(columns))
    connection.execute(f'INSERT INTO "{relation}" ({names}) SELECT * FROM incoming')
    connection.unregister("incoming")


def _type(arrow: pa.DataType) -> str:
    if pa.types.is_list(arrow):
        return f"{_type(arrow.value_type)}[]"
    return _TYPES[arrow]


class JoinState:
    """Algorithm 2, and its reverse: what documents leave behind, kept and forgotten."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._forgotten_rows = 0

    def begin(
        self,
        witnesses: dict[str, pa.Array],
        documents: dict[str, pa.Array],
        strings: dict[str, pa.Array],
    ) -> None:
        """Makes a batch the current one and adds it to the state.

        The columns are those of `node`, `document` and `strings`.
        """
        connection = self._connection
        connection.execute("DELETE FROM node_w")
        if len(strings["id"]):
            insert(connection, "strings", strings)
        insert(connection, "document", documents)
        if len(witnesses["doc"]):
            insert(connection, "node_w", witnesses)
            connection.execute("INSERT INTO node FROM node_w")

    def forget(self, documents: Sequence[int]) -> list[str]:
        """Drops documents, and returns the strings that nothing holds any more; these are looked
        for only when enough has gone to pay for it."""
        connection = self._connection
        connection.register("gone", pa.table({"doc": pa.array(documents, pa.int32())}))
        (rows,) = connection.execute(
            "DELETE FROM node WHERE doc IN (SELECT doc FROM gone)"
        ).fetchall()[0]
        connection.execute("DELETE FROM document WHERE doc IN (SELECT doc FROM gone)")
        connection.unregister("gone")
        self._forgotten_rows += rows
        (left,) = connection.execute("SELECT count(*) FROM node").fetchall()[0]
        if self._forgotten_rows <= left // 4:
            return []
        self._forgotten_rows = 0
        unheld = connection.execute(
            "DELETE FROM strings "
            "WHERE id NOT IN (SELECT s FROM node WHERE s IS NOT NULL) RETURNING value"
        ).fetchall()
        return [value for (value,) in unheld]
