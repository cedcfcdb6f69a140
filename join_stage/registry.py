"""The queries on the join stage's side: R_T with shared rows, and windows stored separately
(docs/laws.md#templates).

Queries of one plan whose spines are the same have one row; a query adds only its number, its time
constraint and the first document it sees.  All is counted: removing a query removes exactly what no
other query needs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from xscl.join_stage.audience import Audience
from xscl.join_stage.bounds import Widest
from xscl.join_stage.constraints import TimeConstraint
from xscl.join_stage.journal import Journal
from xscl.join_stage.plan import Plan
from xscl.join_stage.strategies import Strategies
from xscl.join_stage.value_joins import ValueJoin, ValueJoins
from xscl.templates import Edge

__all__ = ["Query", "Registry", "Row", "RowTrie", "Trie"]

Trie = dict[int, "Trie"]


class RowTrie:
    """The rows of R_T of one plan, by the columns that say what a row joins.

    A level for each column, in the plan's order (j0, j1, …, s0, …), the rows' numbers below the
    last.  The conjunctive query walks it in step with the atoms of its body, so that nothing is
    joined with which no row begins.

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
class Row:
    """A row of R_T: the numbers of its plan's variables and columns (`key`), the spines of its left
    and of its right side, its queries, and the number of queries by time bounds."""

    number: int
    plan: Plan
    key: tuple[int, ...]
    joins: tuple[ValueJoin, ...]
    spines: tuple[tuple[int, ...], tuple[int, ...]]
    audience: Audience = field(default_factory=Audience)
    queries: int = 0
    bounds: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[int, ...]:
        """The numbers in its plan's columns, which follow the variables."""
        return self.key[len(self.plan.graph.nodes) :]

    def reachable(self, constraint: TimeConstraint) -> Iterable[int]:
        """The spines whose nodes stay reachable, by a query's constraint, for later documents."""
        if self.plan.sides == 1:
            return ()
        left, right = self.spines
        # The right document of FOLLOWED BY only looks back.
        return left if constraint.after else (*left, *right)


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a row: the documents that it sees, and whether no other query has its matches."""

    row: Row
    constraint: TimeConstraint
    since: int
    sole_disjunct: bool


@dataclass(slots=True, eq=False)
class _PlanRows:
    """The rows of a plan, by key and by columns; for each column, the number of rows by value; and
    the number of queries that are sole disjuncts, and of those that are not."""

    plan: Plan
    used: list[Counter[int]]
    rows: dict[tuple[int, ...], Row] = field(default_factory=dict)
    trie: RowTrie = field(default_factory=RowTrie)
    queries: Counter[bool] = field(default_factory=Counter)


class Registry:
    """Rows of R_T and their queries; `value_joins` are the equalities that rows require.

    `version` grows whenever a row, or the reach of one, may have changed, `structure` whenever rows
    or the bounds of value joins have.  `variables` are the names of variables by number; the owner
    of the numbers maintains them.  `audiences` are the queries of each row; `filters` the plans of
    a single document, `crossing` those of two without an equality for look-ups, whose queries have
    changed as `crossing_version` does.  `orders` is the
    number of plans that compare strings by order or likeness; `row_changes` and `query_changes` are
    to be written to the relations.  `strategies` say whether queries share templates and channels.
    """

    def __init__(self, strategies: Strategies | None = None) -> None:
        self._strategies = strategies or Strategies()
        self.value_joins = ValueJoins()
        self.variables: dict[int, str] = {}
        self.version = 0
        self.structure = 0
        self.audiences: dict[int, Audience] = {}
        self.filters: dict[str, Plan] = {}
        self.crossing: dict[str, Plan] = {}
        self.row_changes: Journal[Row] = Journal()
        self.query_changes: Journal[Query] = Journal()
        self._plans: dict[str, _PlanRows] = {}
        self._queries: dict[int, Query] = {}
        self._reaches: defaultdict[int, Widest] = defaultdict(Widest)
        self._depths = Widest()
        self.orders = 0
        self.crossing_version = 0
        self._next_row = 0

    def add(
        self,
        query: int,
        plan: Plan,
        *,
        joins: Sequence[tuple[int, int]],
        singles: Sequence[int],
        thresholds: Sequence[int] = (),
        variables: Sequence[int],
        constraint: TimeConstraint,
        since: int,
        sole_disjunct: bool = True,
    ) -> None:
        """Adds a query: its spines in the order of the plan's joins and singles, the thresholds of
        its likenesses, the variables of the plan's nodes, its time constraint, the first document
        it sees, and whether no other query can have the same matches."""
        if not self._strategies.templates:
            plan = replace(plan, id=f"{plan.id}_{query}")
        of_plan = self._plans.get(plan.id) or self._add_plan(plan)
        found = [self.value_joins.of(spines) for spines in joins]
        key = (*variables, *(join.number for join in found), *singles, *thresholds)
        row = of_plan.rows.get(key) if self._strategies.channels else None
        if row is None:
            row = self._add_row(of_plan, key, found, joins, singles)
        self.add_to(row, query, constraint=constraint, since=since, sole_disjunct=sole_disjunct)

    def add_to(
        self,
        row: Row,
        query: int,
        *,
        constraint: TimeConstraint,
        since: int,
        sole_disjunct: bool,
    ) -> None:
        """Adds a query to a row that other queries have."""
        self.crossing_version += row.plan.id in self.crossing
        row.queries += 1
        row.audience.add(query, constraint, since=since, sole_disjunct=sole_disjunct)
        self._plans[row.plan.id].queries[sole_disjunct] += 1
        new = self._queries[query] = Query(row, constraint, since, sole_disjunct)
        self.query_changes.come(query, new)
        bounds = constraint.bounds
        equal = row.bounds.get(bounds, 0)
        row.bounds[bounds] = equal + 1
        if not equal:
            self.structure += self.value_joins.add(constraint, row.joins)
            for spine in row.reachable(constraint):
                self._reaches[spine].add(bounds[1])
        self.version += 1

    def remove(self, query: int) -> None:
        """Removes a query, and all that no other query needs."""
        gone = self._queries.pop(query)
        self.query_changes.go(query, gone)
        row, constraint = gone.row, gone.constraint
        self.crossing_version += row.plan.id in self.crossing
        self._plans[row.plan.id].queries[gone.sole_disjunct] -= 1
        bounds = constraint.bounds
        row.bounds[bounds] -= 1
        if not row.bounds[bounds]:
            del row.bounds[bounds]
            self._release_bounds(row, constraint)
        row.queries -= 1
        row.audience.remove(query, constraint, since=gone.since)
        if not row.queries:
            self._remove_row(row)
        self.version += 1

    def _release_bounds(self, row: Row, constraint: TimeConstraint) -> None:
        self.structure += self.value_joins.remove(constraint, row.joins)
        for spine in row.reachable(constraint):
            reach = self._reaches[spine]
            reach.remove(constraint.bounds[1])
            if not reach:
                del self._reaches[spine]

    def query(self, number: int) -> Query | None:
        """A query, with its row of R_T."""
        return self._queries.get(number)

    def row_of(self, query: int) -> Row:
        """A query's row of R_T."""
        return self._queries[query].row

    def rows_of(self, plan: Plan) -> Trie:
        """The rows of a plan, by column."""
        return self._plans[plan.id].trie.root

    def bounds_of(self, plan: Plan) -> tuple[int, int]:
        """The widest (lo, wl) of the queries of a plan."""
        bounds = {some for row in self._plans[plan.id].rows.values() for some in row.bounds}
        return min(lo for lo, _ in bounds), max(wl for _, wl in bounds)

    def singles_of(self, plan: Plan) -> list[set[int]]:
        """The spines of a plan's singles: for each single those that some row has."""
        used = self._plans[plan.id].used[len(plan.joins) :]
        return [set(column) for column in used[: len(plan.singles)]]

    def thresholds_of(self, plan: Plan) -> list[int]:
        """The least threshold of each likeness of a plan, in millionths."""
        used = self._plans[plan.id].used
        return [min(column) for column in used[len(used) - len(plan.likenesses) :]]

    def compared_by(self, plan: Plan, edge: Edge) -> dict[tuple[int, int], int]:
        """The spines of the leaves that a likeness of a plan compares, each pair with the least
        threshold."""
        ends = [chain.nodes[-1] for chain in plan.singles]
        singles = len(plan.joins)
        left, right = (singles + ends.index(node) for node in (edge.left, edge.right))
        at = singles + len(ends) + plan.likenesses.index(edge)
        found: dict[tuple[int, int], int] = {}
        for row in self._plans[plan.id].rows.values():
            columns = row.columns
            pair, least = (columns[left], columns[right]), columns[at]
            found[pair] = min(least, found.get(pair, least))
        return found

    def reach(self, spine: int) -> int:
        """For how long (microseconds) after its time a row of a spine can be reached by a query:
        the widest window in which it can match later documents; 0 where it cannot."""
        reach = self._reaches.get(spine)
        return 0 if reach is None else reach.largest

    def reaches(self) -> dict[int, int]:
        """The spines that can be reached after their time, and for how long."""
        return {spine: reach.largest for spine, reach in self._reaches.items()}

    def windows(self) -> set[int]:
        """The windows of all queries, in microseconds; FOREVER is one without end."""
        return set[int]().union(*self._reaches.values())

    def counts(self) -> dict[str, int]:
        """The number of queries, of their rows, value joins, plans and templates."""
        return {
            "queries": len(self._queries),
            "rows": len(self.audiences),
            "value_joins": len(self.value_joins),
            "plans": len(self._plans),
            "templates": len({of_plan.plan.template.id for of_plan in self._plans.values()}),
        }

    @property
    def plans(self) -> dict[str, Plan]:
        """The plans that have rows, by id."""
        return {number: of_plan.plan for number, of_plan in self._plans.items()}

    @property
    def depth(self) -> int:
        """The length of the longest chain of all plans."""
        return self._depths.largest or 1

    def plans_with(self, joins: set[int], spines: set[int]) -> list[Plan]:
        """The plans of which some row may hold for a batch that has met these value joins and whose
        documents have these spines."""
        return [
            of_plan.plan
            for of_plan in self._plans.values()
            if (used := of_plan.used)
            and all(not used[i].keys().isdisjoint(joins) for i in range(len(of_plan.plan.joins)))
            and (
                of_plan.plan.joins
                or any(not spines.isdisjoint(one) for one in used[: len(of_plan.plan.singles)])
            )
        ]

    def has(self, plan: Plan, *, sole_disjunct: bool) -> bool:
        """Whether a plan has a query that is a sole disjunct, or one that is not."""
        return self._plans[plan.id].queries[sole_disjunct] > 0

    def _add_plan(self, plan: Plan) -> _PlanRows:
        of_plan = self._plans[plan.id] = _PlanRows(plan, [Counter() for _ in plan.columns])
        self._depths.add(plan.depth)
        self.orders += plan.orders
        if plan.sides == 1:
            self.filters[plan.id] = plan
        elif not plan.joins:
            self.crossing[plan.id] = plan
        return of_plan

    def _remove_plan(self, plan: Plan) -> None:
        del self._plans[plan.id]
        self._depths.remove(plan.depth)
        self.orders -= plan.orders
        self.filters.pop(plan.id, None)
        self.crossing.pop(plan.id, None)

    def _add_row(
        self,
        of_plan: _PlanRows,
        key: tuple[int, ...],
        value_joins: Sequence[ValueJoin],
        joins: Sequence[tuple[int, int]],
        singles: Sequence[int],
    ) -> Row:
        left, right = [ls for ls, _ in joins], [rs for _, rs in joins]
        for chain, spine in zip(of_plan.plan.singles, singles, strict=True):
            (right if chain.side else left).append(spine)
        spines = tuple(left), tuple(right)
        row = Row(self._next_row, of_plan.plan, key, tuple(value_joins), spines)
        self._next_row += 1
        of_plan.rows[self._key(row)] = row
        of_plan.trie.add(row.columns, row.number)
        for column, number in zip(of_plan.used, row.columns, strict=True):
            column[number] += 1
        self.audiences[row.number] = row.audience
        self.value_joins.use(row.joins)
        self.row_changes.come(row.number, row)
        self.structure += 1
        return row

    def _key(self, row: Row) -> tuple[int, ...]:
        """The key under which queries that may share a row are found; a row without channels is
        found by its number only."""
        return row.key if self._strategies.channels else (row.number,)

    def _remove_row(self, row: Row) -> None:
        of_plan = self._plans[row.plan.id]
        del of_plan.rows[self._key(row)], self.audiences[row.number]
        of_plan.trie.remove(row.columns, row.number)
        for column, number in zip(of_plan.used, row.columns, strict=True):
            column[number] -= 1
            if not column[number]:
                del column[number]
        self.value_joins.release(row.joins)
        self.row_changes.go(row.number, row)
        self.structure += 1
        if not of_plan.rows:
            self._remove_plan(row.plan)
