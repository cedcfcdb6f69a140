"""The queries on the join stage's side: R_T, its rows shared, windows on the side (law 5).

Queries of one plan whose spines are the same have one row; a query adds only its number, its
time constraint and the first document it sees.  All is counted, so that a query that goes takes
with it exactly what no other needs.  Changes are collected and written to the relations before
the next batch, all of them in a few statements; what comes and goes in between never gets there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import duckdb

from join_stage.audience import Audience
from join_stage.bounds import Bounds, Widest
from join_stage.constraints import TimeConstraint
from join_stage.plan import Plan
from join_stage.relational.relations import Columns, delete, insert, numbers, recreate

__all__ = ["Registry", "RowTrie", "Trie"]

Trie = dict[int, "Trie"]


class RowTrie:
    """The rows of R_T of one plan, by the columns that say what a row joins.

    A level for each column, in the plan's order (j0, j1, …, s0, …), the rows' numbers below the
    last.  The conjunctive query walks it beside the atoms of its body, so that nothing is joined
    that no row begins with.

    >>> rows = RowTrie()
    >>> rows.add((4, 7), 0), rows.add((4, 8), 1), rows.add((4, 8), 2), rows.root
    (None, None, None, {4: {7: {0: {}}, 8: {1: {}, 2: {}}}})
    >>> rows.remove((4, 7), 0), rows.root
    (None, {4: {8: {1: {}, 2: {}}}})
    """

    __slots__ = ("root",)

    def __init__(self) -> None:
        self.root: Trie = {}

    def add(self, columns: Sequence[int], row: int) -> None:
        """Adds a row with these columns."""
        at = self.root
        for column in columns:
            at = at.setdefault(column, {})
        at[row] = {}

    def remove(self, columns: Sequence[int], row: int) -> None:
        """Removes a row, and all above it that leads to no other."""
        way = [self.root]
        for column in columns:
            way.append(way[-1][column])
        for at, step in zip(reversed(way), (row, *reversed(columns)), strict=True):
            del at[step]
            if at:
                return


@dataclass(slots=True, eq=False)
class _ValueJoin:
    """An equality of two spines, with the number of its uses in rows and the bounds of the
    queries that have them."""

    number: int
    spines: tuple[int, int]
    uses: int = 0
    bounds: Bounds = field(default_factory=Bounds)
    written: bool = False


@dataclass(slots=True, eq=False)
class _Row:
    """A row of R_T; `waiting` are the spines of its left and of its right side."""

    number: int
    plan: Plan
    key: tuple[int, ...]
    joins: tuple[_ValueJoin, ...]
    waiting: tuple[tuple[int, ...], tuple[int, ...]]
    audience: Audience = field(default_factory=Audience)
    queries: int = 0
    written: bool = False


@dataclass(frozen=True, slots=True)
class _Query:
    row: _Row
    constraint: TimeConstraint
    since: int
    sole_disjunct: bool


class Registry:
    """Plans, rows of R_T and queries, mirrored in the relations by `flush`.

    `plans` are those that have rows, by id; `version` grows whenever a row, or how long one can
    be reached, may have changed, `structure` whenever rows or the bounds of value joins have.
    `variables` are the names of variables by number, kept by who gives the numbers.

    For the evaluation in process, `tries` are the rows of each plan, `audiences` the queries of
    each row, `partners` the value joins by the spines of their left and right leaves, and
    `joining` says how many have a spine.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.plans: dict[str, Plan] = {}
        self.variables: dict[int, str] = {}
        self.version = 0
        self.structure = 0
        self.tries: dict[str, RowTrie] = {}
        self.audiences: dict[int, Audience] = {}
        self.partners: dict[int, dict[int, _ValueJoin]] = {}
        self.joining: Counter[int] = Counter()
        self._queries: dict[int, _Query] = {}
        self._rows: dict[tuple[str, tuple[int, ...]], _Row] = {}
        self._value_joins: dict[tuple[int, int], _ValueJoin] = {}
        self._bounds = Bounds()
        self._depths = Widest()
        self._without_joins = 0
        self._ordering = 0
        self._reaches: defaultdict[int, Widest] = defaultdict(Widest)
        # For each plan, how many rows have a number in each of its columns.
        self._used: dict[str, list[Counter[int]]] = {}
        self._rows_of_plan: Counter[str] = Counter()
        self._sole: Counter[tuple[str, bool]] = Counter()
        self._next_row = 0
        self._next_value_join = 0
        # What the relations do not know yet, and what they do not know to be gone.
        self._tables: set[str] = set()
        self._new_queries: dict[int, _Query] = {}
        self._gone_queries: list[int] = []
        self._new_rows: dict[int, _Row] = {}
        self._gone_rows: dict[str, list[int]] = {}
        self._changed_joins: dict[int, _ValueJoin] = {}
        self._gone_joins: list[int] = []

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
        sole_disjunct: bool = True,
    ) -> None:
        """Adds a query: its spines in the order of the plan's joins and singles, the variables
        of the plan's nodes, its time constraint, the first document it sees, and whether no
        other query can have the same matches."""
        found = [self._value_join(spines) for spines in joins]
        key = (*variables, *(join.number for join in found), *singles)
        row = self._rows.get((plan.id, key))
        if row is None:
            row = self._add_row(plan, key, found, joins, singles)
        row.queries += 1
        row.audience.add(query, constraint, since=since, sole_disjunct=sole_disjunct)
        self._sole[plan.id, sole_disjunct] += 1
        self._queries[query] = self._new_queries[query] = _Query(
            row, constraint, since, sole_disjunct
        )
        if row.joins:
            self._bounds.add(constraint)
        for join in row.joins:
            before = join.bounds.widest
            join.bounds.add(constraint)
            if join.bounds.widest != before or not join.written:
                self._changed_joins[join.number] = join
            self.structure += join.bounds.widest != before
        window = constraint.bounds[1]
        for spine in self._waiting(row, constraint):
            self._reaches[spine].add(window)
        self.version += 1

    def remove(self, query: int) -> None:
        """Removes a query, and all that no other query needs."""
        gone = self._queries.pop(query)
        if self._new_queries.pop(query, None) is None:
            self._gone_queries.append(query)
        row, constraint = gone.row, gone.constraint
        self._sole[row.plan.id, gone.sole_disjunct] -= 1
        if not self._sole[row.plan.id, gone.sole_disjunct]:
            del self._sole[row.plan.id, gone.sole_disjunct]
        if row.joins:
            self._bounds.remove(constraint)
        for join in row.joins:
            before = join.bounds.widest
            join.bounds.remove(constraint)
            if join.bounds.widest != before:
                self._changed_joins[join.number] = join
                self.structure += 1
        window = constraint.bounds[1]
        for spine in self._waiting(row, constraint):
            reach = self._reaches[spine]
            reach.remove(window)
            if not reach:
                del self._reaches[spine]
        row.queries -= 1
        row.audience.remove(query, constraint, since=gone.since)
        if not row.queries:
            self._remove_row(row)
        self.version += 1

    def row_of(self, query: int) -> int:
        """The number of a query's row of R_T."""
        return self._queries[query].row.number

    def reach(self, spine: int) -> int:
        """For how long (microseconds) after its time a row of a spine can be reached by a query:
        the widest window in which one waits for what comes later; 0 where none does."""
        reach = self._reaches.get(spine)
        return 0 if reach is None else reach.largest

    def reaches(self) -> dict[int, int]:
        """The spines that can be reached after their time, and for how long."""
        return {spine: reach.largest for spine, reach in self._reaches.items()}

    def counts(self) -> dict[str, int]:
        """The number of queries, of their rows, value joins, plans and templates."""
        return {
            "queries": len(self._queries),
            "rows": len(self._rows),
            "value_joins": len(self._value_joins),
            "plans": len(self.plans),
            "templates": len({plan.template.id for plan in self.plans.values()}),
        }

    @property
    def bounds(self) -> tuple[int, int]:
        """The widest (lo, wl) of all value joins."""
        return self._bounds.widest

    @property
    def depth(self) -> int:
        """The length of the longest chain of all plans."""
        return self._depths.largest or 1

    @property
    def orders(self) -> bool:
        """Whether some plan compares strings by order."""
        return bool(self._ordering)

    @property
    def some_without_joins(self) -> bool:
        """Whether some plan has no equality to be found by."""
        return bool(self._without_joins)

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

    def has(self, plan: Plan, *, sole_disjunct: bool) -> bool:
        """Whether a plan has a query that is a sole disjunct, or one that is not."""
        return (plan.id, sole_disjunct) in self._sole

    def ask(self, queries: Collection[int]) -> tuple[frozenset[str], tuple[int, int]]:
        """Notes some queries as those asked for: the relations `asked_query` and
        `asked_value_join`.  Returns the ids of their plans and their widest (lo, wl)."""
        asked = [self._queries[query] for query in queries]
        joins = {join.number for query in asked for join in query.row.joins}
        for relation, column, values in (
            ("query", "q", sorted(queries)),
            ("value_join", "j", sorted(joins)),
        ):
            recreate(self._connection, "asked", {column: numbers(values)})
            self._connection.execute(
                f"CREATE OR REPLACE TEMP TABLE asked_{relation} AS "
                f"SELECT * FROM {relation} WHERE {column} IN (SELECT {column} FROM asked)"
            )
        bounds = Bounds()
        for query in asked:
            if query.row.joins:
                bounds.add(query.constraint)
        return frozenset(query.row.plan.id for query in asked), bounds.widest

    def flush(self) -> bool:
        """Writes what has changed to the relations; returns whether value joins have come or
        gone."""
        others = bool(self._gone_joins) or any(
            not join.written for join in self._changed_joins.values()
        )
        self._flush_rows()
        if self._gone_queries:
            delete(self._connection, "query", "q", self._gone_queries)
            self._gone_queries.clear()
        if self._new_queries:
            names = ["q", "r", "lo", "wl", "since", "sole_disjunct"]
            queries = (
                (
                    number,
                    query.row.number,
                    *query.constraint.bounds,
                    query.since,
                    int(query.sole_disjunct),
                )
                for number, query in self._new_queries.items()
            )
            insert(self._connection, "query", _columns(names, queries))
            self._new_queries.clear()
        self._flush_value_joins()
        return others

    def _add_row(
        self,
        plan: Plan,
        key: tuple[int, ...],
        value_joins: Sequence[_ValueJoin],
        joins: Sequence[tuple[int, int]],
        singles: Sequence[int],
    ) -> _Row:
        if plan.id not in self.plans:
            self.plans[plan.id] = plan
            self._used[plan.id] = [Counter() for _ in plan.columns]
            self.tries[plan.id] = RowTrie()
            self._depths.add(plan.depth)
            self._without_joins += not plan.joins
            self._ordering += plan.orders
        left, right = [ls for ls, _ in joins], [rs for _, rs in joins]
        for chain, spine in zip(plan.singles, singles, strict=True):
            (right if chain.side else left).append(spine)
        waiting = tuple(left), tuple(right)
        row = _Row(self._next_row, plan, key, tuple(value_joins), waiting)
        self._next_row += 1
        self._rows[plan.id, key] = self._new_rows[row.number] = row
        self._rows_of_plan[plan.id] += 1
        self.structure += 1
        self.audiences[row.number] = row.audience
        self.tries[plan.id].add(_of_columns(row), row.number)
        for column, number in zip(self._used[plan.id], _of_columns(row), strict=True):
            column[number] += 1
        for join in row.joins:
            join.uses += 1
        return row

    def _remove_row(self, row: _Row) -> None:
        plan = row.plan
        del self._rows[plan.id, row.key], self.audiences[row.number]
        self.structure += 1
        self.tries[plan.id].remove(_of_columns(row), row.number)
        if row.written:
            self._gone_rows.setdefault(plan.id, []).append(row.number)
        else:
            del self._new_rows[row.number]
        for column, number in zip(self._used[plan.id], _of_columns(row), strict=True):
            column[number] -= 1
            if not column[number]:
                del column[number]
        for join in row.joins:
            join.uses -= 1
            if not join.uses:
                del self._value_joins[join.spines]
                self._part(join)
                self._changed_joins.pop(join.number, None)
                if join.written:
                    self._gone_joins.append(join.number)
        self._rows_of_plan[plan.id] -= 1
        if not self._rows_of_plan[plan.id]:
            del self._rows_of_plan[plan.id], self._used[plan.id], self.plans[plan.id]
            del self.tries[plan.id]
            self._depths.remove(plan.depth)
            self._without_joins -= not plan.joins
            self._ordering -= plan.orders

    def _value_join(self, spines: tuple[int, int]) -> _ValueJoin:
        join = self._value_joins.get(spines)
        if join is None:
            join = self._value_joins[spines] = _ValueJoin(self._next_value_join, spines)
            self._next_value_join += 1
            left, right = spines
            self.partners.setdefault(left, {})[right] = join
            self.joining.update(spines)
        return join

    def _part(self, join: _ValueJoin) -> None:
        left, right = join.spines
        del self.partners[left][right]
        if not self.partners[left]:
            del self.partners[left]
        for spine in join.spines:
            self.joining[spine] -= 1
            if not self.joining[spine]:
                del self.joining[spine]

    @staticmethod
    def _waiting(row: _Row, constraint: TimeConstraint) -> Iterable[int]:
        """The spines of a row whose nodes wait for documents that come later."""
        if row.plan.sides == 1:
            return ()
        left, right = row.waiting
        # The right document of FOLLOWED BY only looks back.
        return left if constraint.after else (*left, *right)

    def _flush_rows(self) -> None:
        for plan_id in sorted(self._tables - self.plans.keys()):
            self._connection.execute(f'DROP TABLE "rows_{plan_id}"')
            self._tables.remove(plan_id)
            self._gone_rows.pop(plan_id, None)
        for plan_id, gone in self._gone_rows.items():
            delete(self._connection, f"rows_{plan_id}", "r", gone)
        self._gone_rows.clear()
        by_plan: dict[str, list[_Row]] = {}
        for row in self._new_rows.values():
            row.written = True
            by_plan.setdefault(row.plan.id, []).append(row)
        self._new_rows.clear()
        for plan_id, rows in by_plan.items():
            plan = self.plans[plan_id]
            names = ["r", *(f"v{i}" for i in range(len(plan.graph.nodes))), *plan.columns]
            if plan_id not in self._tables:
                self._tables.add(plan_id)
                typed = ", ".join(f'"{name}" INTEGER' for name in names)
                self._connection.execute(f'CREATE TABLE "rows_{plan_id}" ({typed})')
            values = ((row.number, *row.key) for row in rows)
            insert(self._connection, f"rows_{plan_id}", _columns(names, values))

    def _flush_value_joins(self) -> None:
        changed = list(self._changed_joins.values())
        old = [join.number for join in changed if join.written] + self._gone_joins
        if old:
            delete(self._connection, "value_join", "j", old)
        if changed:
            names = ["j", "ls", "rs", "lo", "wl"]
            values = ((join.number, *join.spines, *join.bounds.widest) for join in changed)
            insert(self._connection, "value_join", _columns(names, values))
        for join in changed:
            join.written = True
        self._changed_joins.clear()
        self._gone_joins.clear()


def _of_columns(row: _Row) -> tuple[int, ...]:
    """The numbers of a row in its plan's columns: what follows the variables."""
    return row.key[len(row.plan.graph.nodes) :]


def _columns(names: Sequence[str], rows: Iterable[tuple[int, ...]]) -> Columns:
    return {
        name: numbers(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
