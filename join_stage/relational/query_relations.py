"""The queries in the relations: `value_join`, `rows_T` and `query`, following the registry.

Changes are written before the next batch that DuckDB joins, all of them in a few statements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from xscl.join_stage.bounds import Bounds
from xscl.join_stage.registry import Registry, Row
from xscl.join_stage.relational.relations import Columns, delete, insert, numbers, recreate

if TYPE_CHECKING:
    import duckdb

__all__ = ["QueryRelations"]


class QueryRelations:
    """The registry in the relations, as of the last `flush`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, registry: Registry) -> None:
        self._connection = connection
        self._registry = registry
        # The plans that have a table.
        self._tables: set[str] = set()

    def flush(self) -> bool:
        """Writes the changes; returns whether value joins were added or removed."""
        self._flush_rows()
        self._flush_queries()
        return self._flush_value_joins()

    def ask(self, queries: Collection[int]) -> tuple[frozenset[str], tuple[int, int]]:
        """Selects some queries, if they are registered: the relations `asked_query` and
        `asked_value_join`.  Returns the ids of their plans and their widest (lo, wl)."""
        found = {number: self._registry.query(number) for number in queries}
        asked = {number: query for number, query in found.items() if query is not None}
        joins = {join.number for query in asked.values() for join in query.row.joins}
        for relation, column, values in (
            ("query", "q", sorted(asked)),
            ("value_join", "j", sorted(joins)),
        ):
            recreate(self._connection, "asked", {column: numbers(values)})
            self._connection.execute(
                f"CREATE OR REPLACE TEMP TABLE asked_{relation} AS "
                f"SELECT * FROM {relation} WHERE {column} IN (SELECT {column} FROM asked)"
            )
        bounds = Bounds()
        for query in asked.values():
            if query.row.joins:
                bounds.add(query.constraint)
        return frozenset(query.row.plan.id for query in asked.values()), bounds.widest

    def _flush_rows(self) -> None:
        changes, plans = self._registry.row_changes.take(), self._registry.plans
        for plan_id in sorted(self._tables - plans.keys()):
            self._connection.execute(f'DROP TABLE "rows_{plan_id}"')
            self._tables.remove(plan_id)
        for plan_id, rows in _by_plan(changes.gone.values()).items():
            if plan_id in self._tables:
                delete(self._connection, f"rows_{plan_id}", "r", [row.number for row in rows])
        for plan_id, rows in _by_plan(changes.new.values()).items():
            plan = plans[plan_id]
            names = ["r", *(f"v{i}" for i in range(len(plan.graph.nodes))), *plan.columns]
            if plan_id not in self._tables:
                self._tables.add(plan_id)
                typed = ", ".join(f'"{name}" INTEGER' for name in names)
                self._connection.execute(f'CREATE TABLE "rows_{plan_id}" ({typed})')
            values = ((row.number, *row.key) for row in rows)
            insert(self._connection, f"rows_{plan_id}", _columns(names, values))

    def _flush_queries(self) -> None:
        changes = self._registry.query_changes.take()
        if changes.gone:
            delete(self._connection, "query", "q", [*changes.gone])
        if changes.new:
            names = ["q", "r", "lo", "wl", "since", "sole_disjunct"]
            values = (
                (
                    number,
                    query.row.number,
                    *query.constraint.bounds,
                    query.since,
                    int(query.sole_disjunct),
                )
                for number, query in changes.new.items()
            )
            insert(self._connection, "query", _columns(names, values))

    def _flush_value_joins(self) -> bool:
        changes = self._registry.value_joins.changes.take()
        if old := [*changes.changed, *changes.gone]:
            delete(self._connection, "value_join", "j", old)
        if written := [*changes.changed.values(), *changes.new.values()]:
            names = ["j", "ls", "rs", "lo", "wl"]
            values = ((join.number, *join.spines, *join.bounds.widest) for join in written)
            insert(self._connection, "value_join", _columns(names, values))
        return bool(changes.new or changes.gone)


def _by_plan(rows: Iterable[Row]) -> dict[str, list[Row]]:
    by_plan: dict[str, list[Row]] = {}
    for row in rows:
        by_plan.setdefault(row.plan.id, []).append(row)
    return by_plan


def _columns(names: Sequence[str], rows: Iterable[tuple[int, ...]]) -> Columns:
    return {
        name: numbers(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
