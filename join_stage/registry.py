"""The queries on the join stage's side: R_T, its rows shared, windows on the side (law 5).

Queries of one plan whose spines are the same have one row; a query adds only its number, its
time constraint and the first document it sees.  Changes are collected and written to the
relations before the next batch, all of them in a few statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from join_stage.plan import Plan
from join_stage.relations import FOREVER, insert

__all__ = ["Registry", "TimeConstraint"]


@dataclass(frozen=True, slots=True)
class TimeConstraint:
    """`FOLLOWED BY` (after) or `JOIN`, and the window in microseconds, None without end."""

    after: bool
    window: int | None

    @property
    def bounds(self) -> tuple[int, int]:
        """(lo, wl): dt > lo and |dt| <= wl."""
        return (0 if self.after else -FOREVER, FOREVER if self.window is None else self.window)


@dataclass(slots=True)
class _ValueJoin:
    number: int
    ls: int
    rs: int
    lo: int
    wl: int


class Registry:
    """Plans, rows of R_T and queries, mirrored in the relations by `flush`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.plans: dict[str, Plan] = {}
        self.plan_of_query: dict[int, Plan] = {}
        self.variables: dict[int, str] = {}
        self._rows: dict[tuple[str, tuple[int, ...]], int] = {}
        self._keys: dict[int, tuple[str, tuple[int, ...]]] = {}
        self._queries_of_row: dict[int, set[int]] = {}
        self._row_of_query: dict[int, int] = {}
        self._value_joins: dict[tuple[int, int], _ValueJoin] = {}
        self._changed_joins: set[tuple[int, int]] = set()
        self._new_plans: list[Plan] = []
        # For each plan, how many rows have a number in each of its columns.
        self._used: dict[str, list[Counter[int]]] = {}
        self._new_rows: dict[str, list[tuple[int, ...]]] = {}
        self._new_queries: list[tuple[int, int, int, int, int, int]] = []
        self._next_row = 0

    def add(
        self,
        query: int,
        plan: Plan,
        *,
        joins: Sequence[tuple[int, int]],
        singles: Sequence[int],
        variables: Sequence[int],
        constraint: TimeConstraint,
        since: int,
        alone: bool = True,
    ) -> None:
        """Adds a query: its spines in the order of the plan's joins and singles, the variables
        of the plan's nodes, its time constraint, the first document it sees, and whether no
        other query can have the same matches."""
        lo, wl = constraint.bounds
        if plan.id not in self.plans:
            self.plans[plan.id] = plan
            self._new_plans.append(plan)
            self._used[plan.id] = [Counter() for _ in plan.columns]
        numbers = tuple(self._value_join(ls, rs, lo, wl) for ls, rs in joins)
        key = (plan.id, (*variables, *numbers, *singles))
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = self._next_row
            self._next_row += 1
            self._keys[row] = key
            self._queries_of_row[row] = set()
            self._new_rows.setdefault(plan.id, []).append((row, *key[1]))
            for column, number in zip(self._used[plan.id], (*numbers, *singles), strict=True):
                column[number] += 1
        self._queries_of_row[row].add(query)
        self._row_of_query[query] = row
        self.plan_of_query[query] = plan
        self._new_queries.append((query, row, lo, wl, since, int(alone)))

    def remove(self, query: int) -> None:
        """Removes a query, and its row if no other query has it."""
        self.flush()
        row = self._row_of_query.pop(query)
        plan = self.plan_of_query.pop(query)
        self._connection.execute("DELETE FROM query WHERE q = ?", [query])
        queries = self._queries_of_row[row]
        queries.discard(query)
        if not queries:
            key = self._keys.pop(row)
            del self._queries_of_row[row], self._rows[key]
            for column, number in zip(
                self._used[plan.id], key[1][-len(plan.columns) :], strict=True
            ):
                column[number] -= 1
                if not column[number]:
                    del column[number]
            self._connection.execute(f'DELETE FROM "rows_{plan.id}" WHERE r = ?', [row])

    @property
    def some_without_joins(self) -> bool:
        """Whether some plan has no equality to be found by."""
        return any(not plan.joins and self._used[plan.id][0] for plan in self.plans.values())

    def plans_with(self, joins: set[int], spines: set[int]) -> list[Plan]:
        """The plans some row of which may hold for a batch that has met these value joins and
        whose documents have these spines."""
        return [
            plan
            for plan in self.plans.values()
            if (used := self._used[plan.id])
            and all(not used[i].keys().isdisjoint(joins) for i in range(len(plan.joins)))
            and (plan.joins or any(not spines.isdisjoint(column.keys()) for column in used))
        ]

    @property
    def bounds(self) -> tuple[int, int]:
        """The widest (lo, wl) of all value joins."""
        joins = self._value_joins.values()
        return min((j.lo for j in joins), default=0), max((j.wl for j in joins), default=0)

    @property
    def depth(self) -> int:
        """The length of the longest chain of all plans."""
        return max((plan.depth for plan in self.plans.values()), default=1)

    def flush(self) -> bool:
        """Writes what has changed to the relations; returns whether value joins have."""
        for plan in self._new_plans:
            columns = [f"v{i}" for i in range(len(plan.graph.nodes))] + list(plan.columns)
            typed = ", ".join(f'"{column}" INTEGER' for column in ("r", *columns))
            self._connection.execute(f'CREATE TABLE "rows_{plan.id}" ({typed})')
        self._new_plans.clear()
        for plan_id, rows in self._new_rows.items():
            plan = self.plans[plan_id]
            names = ["r", *(f"v{i}" for i in range(len(plan.graph.nodes))), *plan.columns]
            insert(self._connection, f"rows_{plan_id}", _columns(names, rows))
        self._new_rows.clear()
        if self._new_queries:
            names = ["q", "r", "lo", "wl", "since", "alone"]
            insert(self._connection, "query", _columns(names, self._new_queries))
            self._new_queries.clear()
        if self._changed_joins:
            joins = [self._value_joins[key] for key in self._changed_joins]
            rows = [(j.number, j.ls, j.rs, j.lo, j.wl) for j in joins]
            changed = _columns(["j", "ls", "rs", "lo", "wl"], rows)
            self._connection.register("changed", pa.table({"j": changed["j"]}))
            self._connection.execute("DELETE FROM value_join WHERE j IN (SELECT j FROM changed)")
            self._connection.unregister("changed")
            insert(self._connection, "value_join", changed)
            self._changed_joins.clear()
            return True
        return False

    def _value_join(self, ls: int, rs: int, lo: int, wl: int) -> int:
        join = self._value_joins.get((ls, rs))
        if join is None:
            join = self._value_joins[ls, rs] = _ValueJoin(len(self._value_joins), ls, rs, lo, wl)
        elif join.lo <= lo and join.wl >= wl:
            return join.number
        else:
            join.lo, join.wl = min(join.lo, lo), max(join.wl, wl)
        self._changed_joins.add((ls, rs))
        return join.number


def _columns(names: Sequence[str], rows: Sequence[tuple[int, ...]]) -> dict[str, pa.Array]:
    return {
        name: pa.array(column, pa.int64())
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
