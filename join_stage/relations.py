"""The relations of the join stage in DuckDB: join state, current batch, queries.

    node      (doc, node, path, s, ts, chain)   R_doc and R_bin in one, as rows of paths (law 2)
    node_w    the same of the current batch     R_docW and R_binW
    document  (doc, ts, stream, id)             R_docTS
    strings   (id, value, double)               interned string values; double where castable
    accept    (path, spine, depths)             what stage 1's paths stand for
    value_join(j, ls, rs, lo, wl)               equalities of spines, with the widest time bounds
    rows_T    (r, v0…, j0…, s0…)                distinct rows of R_T, one table for each plan T
    query     (q, r, lo, wl, since)             the queries of each row: R_T with qid and wl

Times are integer microseconds.  `lo` and `wl` bound dt = t(right) - t(left): dt > lo and
|dt| <= wl; `since` is the first document that a query sees.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb
import pyarrow as pa

__all__ = ["FOREVER", "JoinState", "create", "double_of", "insert"]

FOREVER = 2**62
"""A window without end, in microseconds."""

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
CREATE TABLE query (q INTEGER, r INTEGER, lo BIGINT, wl BIGINT, since INTEGER);
"""

_DOUBLE = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?)|([+-]?)INF|(NaN)"
)


def double_of(value: str) -> float | None:
    """A string cast as `xs:double`, None where it is not castable.

    >>> double_of(" 7.50 "), double_of("-INF"), double_of("7 days")
    (7.5, -inf, None)
    """
    found = _DOUBLE.fullmatch(value.strip(" \t\r\n"))
    if found is None:
        return None
    number, sign, nan = found.groups()
    if number is not None:
        return float(number)
    return float("nan") if nan else float(f"{sign or ''}inf")


def create(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the relations in an empty database."""
    connection.execute(_SCHEMA)


def insert(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: dict[str, pa.Array]
) -> None:
    """Inserts columns into a relation, in one statement whatever their length."""
    connection.register("incoming", pa.table(columns))
    names = ", ".join(f'"{name}"' for name in columns)
    connection.execute(f'INSERT INTO "{relation}" ({names}) SELECT * FROM incoming')
    connection.unregister("incoming")


class JoinState:
    """Algorithm 2, and its reverse: what documents leave behind, kept and forgotten."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._forgotten_rows = 0

    def begin(self, witnesses: dict[str, pa.Array], documents: dict[str, pa.Array]) -> None:
        """Makes a batch the current one and adds it to the state.

        `witnesses` has the columns of `node`, `documents` those of `document`.
        """
        connection = self._connection
        connection.execute("DELETE FROM node_w")
        insert(connection, "document", documents)
        if len(witnesses["doc"]):
            insert(connection, "node_w", witnesses)
            connection.execute("INSERT INTO node FROM node_w")

    def add_strings(self, added: Sequence[tuple[int, str]]) -> None:
        """Adds interned strings: (number, value)."""
        if added:
            values = [value for _, value in added]
            columns = {
                "id": pa.array([number for number, _ in added], pa.int64()),
                "value": pa.array(values, pa.string()),
                "double": pa.array([double_of(value) for value in values], pa.float64()),
            }
            insert(self._connection, "strings", columns)

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
