"""The relations of the join stage in DuckDB: join state, current batch, queries.

    node      (doc, node, path, s, ts, chain)   R_doc and R_bin in one (docs/laws.md#path-rows)
    node_w    the same of the current batch     R_docW and R_binW
    document  (doc, ts, stream, id)             R_docTS
    composite (doc, ts, start, first, parts)    R_docTS of composites
    strings   (id, value, double)               interned string values; double where castable
    accept    (path, spine, depths)             what stage 1's paths stand for
    value_join(j, ls, rs, lo, wl)               equalities of spines, with the widest time bounds
    rows_T    (r, v0…, j0…, s0…)                distinct rows of R_T, one table for each plan T
    query     (q, r, lo, wl, since,             the queries of each row: R_T with qid and wl
               sole_disjunct)

A composite is a match of a chain's left (or grouped right) part, which joins like a document and
shares the documents' numbers: it runs from `start` to `ts`, `parts` are its documents, `first`
the smallest of them.  Its rows in `node` are leaves without structure.

Times are integer microseconds.  `lo` and `wl` bound dt = t(right) - t(left): dt > lo and
|dt| <= wl; `since` is the first document that a query sees.  No other query has the
matches of a `sole_disjunct`; those of other disjuncts may coincide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = ["Column", "Columns", "create", "delete", "insert", "numbers", "recreate", "when_needed"]

_FEW = 64
_TYPES = {"INTEGER": "int32", "BIGINT": "int64", "DOUBLE": "float64", "VARCHAR": "string"}
"""DuckDB's names of types, and Arrow's."""


@dataclass(frozen=True, slots=True)
class Column:
    """Values of a type by DuckDB's name of it: `INTEGER`, or `INTEGER[]` for lists."""

    type: str
    values: Sequence[object]

    def arrow(self) -> pa.Array:
        """The column in Arrow's form, for many values; for a few, importing Arrow takes longer than
        it saves."""
        import pyarrow as pa

        of_one = getattr(pa, _TYPES[self.type.removesuffix("[]")])()
        if not self.type.endswith("[]"):
            return pa.array(self.values, of_one)
        lists = cast(Sequence[Sequence[object]], self.values)
        ends = pa.array(list(accumulate(map(len, lists), initial=0)), pa.int32())
        return pa.ListArray.from_arrays(ends, pa.array(list(chain.from_iterable(lists)), of_one))

    def plain(self) -> list[object]:
        """The values as parameters of a statement."""
        if self.type.endswith("[]"):
            return [list(some) for some in cast(Sequence[Sequence[object]], self.values)]
        return list(self.values)


Columns = dict[str, Column]

_SCHEMA = """
CREATE TABLE node (
    doc BIGINT, node BIGINT, path INTEGER, s BIGINT, ts BIGINT, chain BIGINT[]
);
CREATE TEMP TABLE node_w AS FROM node;
CREATE TABLE document (doc BIGINT, ts BIGINT, stream VARCHAR, id VARCHAR);
CREATE TABLE composite (
    doc BIGINT, ts BIGINT, start BIGINT, first BIGINT, parts BIGINT[]
);
CREATE TABLE strings (id BIGINT, value VARCHAR, double DOUBLE);
CREATE TABLE accept (path INTEGER, spine INTEGER, depths INTEGER[]);
CREATE TABLE value_join (j INTEGER, ls INTEGER, rs INTEGER, lo BIGINT, wl BIGINT);
CREATE TABLE query (
    q INTEGER, r INTEGER, lo BIGINT, wl BIGINT, since BIGINT, sole_disjunct BOOLEAN
);
CREATE TEMP TABLE pair (j INTEGER);
CREATE TEMP TABLE left_path (path INTEGER);
CREATE TEMP TABLE right_path (path INTEGER);
"""


def create(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the relations in an empty database."""
    connection.execute(_SCHEMA)


def when_needed(connect: Callable[[], duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
    """A connection to an empty database, opened by its first statement, with these relations.

    Opening takes longer than the life of many an engine, and an engine whose batches are all joined
    in process needs no database.
    """
    return cast("duckdb.DuckDBPyConnection", _WhenNeeded(connect))


class _WhenNeeded:
    def __init__(self, connect: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        self._connect = connect

    def __getattr__(self, name: str) -> object:
        # Names are attributes after their first look-up.
        connection = self.__dict__.get("_connection")
        if connection is None:
            connection = self._connection = self._connect()
            create(connection)
        method = getattr(connection, name)
        setattr(self, name, method)
        return method


def insert(connection: duckdb.DuckDBPyConnection, relation: str, columns: Columns) -> None:
    """Inserts columns into a relation, in one statement whatever their length."""
    names = ", ".join(f'"{name}"' for name in columns)
    _write(connection, f'INSERT INTO "{relation}" ({names})', columns)


def recreate(connection: duckdb.DuckDBPyConnection, relation: str, columns: Columns) -> None:
    """Replaces a temporary relation with columns.

    A temporary table that is emptied and filled again with a few rows at a time retains all that
    was ever in it; a table that is created again does not, and costs no more.
    """
    _write(connection, f'CREATE OR REPLACE TEMP TABLE "{relation}" AS', columns)


def delete(
    connection: duckdb.DuckDBPyConnection, relation: str, column: str, values: Sequence[int]
) -> int:
    """Deletes the rows with one of these values in a column; returns their number."""
    command = f'DELETE FROM "{relation}" WHERE "{column}" IN'
    if len(values) <= _FEW:
        deleted = connection.execute(f"{command} (SELECT unnest(?::BIGINT[]))", [list(values)])
    else:
        connection.register("outgoing", _table({"value": numbers(values)}))
        deleted = connection.execute(f"{command} (FROM outgoing)")
    (count,) = deleted.fetchall()[0]
    if len(values) > _FEW:
        connection.unregister("outgoing")
    return int(count)


def numbers(values: Sequence[int]) -> Column:
    """A column of numbers."""
    return Column("BIGINT", values)


def _write(connection: duckdb.DuckDBPyConnection, command: str, columns: Columns) -> None:
    """Runs a command on rows given as columns.

    A few rows go as parameters, which costs less than half of registering an Arrow table.
    """
    if len(next(iter(columns.values())).values) <= _FEW:
        lists = ", ".join(
            f'unnest(?::{column.type}[]) AS "{name}"' for name, column in columns.items()
        )
        connection.execute(
            f"{command} SELECT {lists}", [column.plain() for column in columns.values()]
        )
        return
    connection.register("incoming", _table(columns))
    connection.execute(f"{command} SELECT * FROM incoming")
    connection.unregister("incoming")


def _table(columns: Columns) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: column.arrow() for name, column in columns.items()})
