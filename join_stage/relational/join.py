"""The join in DuckDB: for large batches, and for queries that review retained documents.

A batch becomes the relations' current one (Algorithm 2), its equal leaves the relation `pair`; then
the conjunctive query of each template that has met its equalities is evaluated against R_T, and the
time constraints of the queries of each row are tested (Algorithm 3).  Joins without an equality are
done here, even where the rest of a batch was joined elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from xscl.join_stage.batch import Accepted, Batch
from xscl.join_stage.batch_join import Rows, Wanted
from xscl.join_stage.plan import Plan
from xscl.join_stage.registry import Registry
from xscl.join_stage.relational.alike_strings import AlikeStrings
from xscl.join_stage.relational.matches import found_sql, matches_sql
from xscl.join_stage.relational.query_relations import QueryRelations
from xscl.join_stage.relational.retention import Retention
from xscl.join_stage.relational.state import JoinState
from xscl.join_stage.relational.value_join import (
    Delta,
    bring_together,
    join_values,
    note_joining_paths,
)
from xscl.join_stage.tokens import Tokens

if TYPE_CHECKING:
    import duckdb

__all__ = ["RelationalJoin"]


class RelationalJoin:
    """The documents and queries of one engine in the relations, with the current batch."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        registry: Registry,
        state: JoinState,
        tokens: Tokens,
    ) -> None:
        self._connection = connection
        self._registry = registry
        self._state = state
        self._queries = QueryRelations(connection, registry)
        self._retention = Retention(connection, registry, state)
        self._alike = AlikeStrings(connection, registry, tokens)
        self._latest: int | None = None
        # The latest time before the batch that was joined elsewhere.
        self._before: int | None = None
        self._viewed_depth = 0
        self._delta = Delta(None, in_order=False)
        # The plans of the queries to join for; None is all.
        self._asked: frozenset[str] | None = None
        # Whether the batch was joined elsewhere; and that batch, until the relations need it.
        self._following = False
        self._crossed = False
        self._followed: Batch | None = None

    # Batches

    def join(self, batch: Batch) -> bool:
        """Adds a batch and joins it."""
        self._come(batch, in_order=self._is_in_order(batch, self._latest))
        self._begin(batch)
        self._join_values()
        return True

    def follow(self, batch: Batch, *, crossed: bool) -> None:
        """Adds a batch that was joined elsewhere, except for joins without an equality, unless it
        was `crossed`."""
        self._state.take(batch)
        self._crossed = crossed
        self._asked, self._following, self._followed = None, True, batch
        self._before = self._latest
        if batch.times:
            self._pass(max(batch.times.values()))

    def review(self, batch: Batch, queries: Collection[int]) -> None:
        """Joins documents and composites that are in the state already, for some queries."""
        self._reset()
        self._state.begin_again(batch)
        self._delta = Delta(None, in_order=False)
        self._join_asked(queries)

    def restore(self, batch: Batch, queries: Collection[int]) -> None:
        """Adds a batch, and joins it for some queries."""
        self._come(batch, in_order=False)
        self._begin(batch)
        self._join_asked(queries)

    def rejoin(self, queries: Collection[int]) -> None:
        """Joins all that is in the state within itself, for some queries."""
        self._reset()
        self._state.make_all_current()
        self._delta = Delta(None, in_order=False)
        self._join_asked(queries)

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """Applies changes of leaf paths; until `accept` is next called, the rows of those that have
        moved are not dropped."""
        self._state.change(gone, moved, unvalued)

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Adds the new accepts of leaf paths."""
        self._state.add_accepts(accepts)

    def prepare(self) -> None:
        """Updates the relations to the queries and to what was joined elsewhere."""
        self._state.write()
        if self._queries.flush() or self._state.paths_changed:
            self._state.paths_changed = False
            note_joining_paths(self._connection)
        self._define_views()
        if self._followed is not None:
            batch, self._followed = self._followed, None
            in_order = self._is_in_order(batch, self._before)
            self._delta = Delta(min(batch.times, default=0), in_order)
            self._state.make_current(batch)
            self._join_values()

    # Matches

    def outputs(self, wanted: Wanted) -> Iterator[Rows]:
        """The matches that the current batch completes, or some of them."""
        elsewhere = self._following and (self._crossed or not self._registry.crossing)
        return iter(()) if elsewhere else self._outputs(wanted)

    def _outputs(self, wanted: Wanted) -> Iterator[Rows]:
        but_sole = wanted is Wanted.BUT_SOLE_DISJUNCTS
        for plan in self._plans_found():
            if but_sole and not self._registry.has(plan, sole_disjunct=False):
                continue
            columns = ["q", *(("dl", "dr") if plan.sides == 2 else ("dl",))]
            columns += [f"n{node}" for node in plan.outputs]
            columns += [plan.string(node) for node in plan.valued]
            names = ", ".join(f'"{column}"' for column in columns)
            matches = self.matches(plan, plan.outputs, plan.valued)
            if but_sole:
                matches += " AND NOT sole_disjunct"
            rows = self._connection.execute(f"SELECT {names} {matches}").fetchall()
            if rows:
                yield Rows(plan, rows)

    def counts(self) -> dict[int, int]:
        """The number of matches that the current batch completes, by sole disjunct."""
        counts: dict[int, int] = {}
        for plan in self._plans_found():
            if self._registry.has(plan, sole_disjunct=True):
                matches = self.matches(plan, plan.outputs)
                counted = f"SELECT q, count(*) {matches} AND sole_disjunct GROUP BY q"
                counts.update(self._connection.execute(counted).fetchall())
        return counts

    def plans(self) -> list[Plan]:
        """The plans that may have matches in the current batch: it has met their equalities, or
        some document of it has their leaves."""
        joins = self._numbers("SELECT DISTINCT j FROM pair")
        spines: set[int] = set()
        if self._registry.filters or self._registry.crossing:
            spines = self._numbers("SELECT DISTINCT spine FROM node_w JOIN accept USING (path)")
        return self._registry.plans_with(joins, spines)

    def matches(self, plan: Plan, nodes: tuple[int, ...], valued: tuple[int, ...] = ()) -> str:
        """The FROM clause of a plan's matches that the current batch completes, with these nodes of
        the template as n0, n1, … and the strings of the valued ones.

        It is valid until another plan is requested.
        """
        rows, queries = f"rows_{plan.id}", "query"
        if self._asked is not None:
            rows, queries = "asked_rows", "asked_query"
            self._connection.execute(
                f"CREATE OR REPLACE TEMP TABLE asked_rows AS "
                f'SELECT * FROM "rows_{plan.id}" WHERE r IN (SELECT r FROM asked_query)'
            )
        leading = None
        if plan.likenesses:
            self._alike.relate(plan, rows)
            leading, _ = plan.leading(self._registry.thresholds_of(plan)) or (None, 0)
        if plan.id in self._registry.crossing:
            bring_together(self._connection, plan, self._delta, rows, queries, leading)
        return matches_sql(plan, found_sql(plan, nodes, valued, rows), queries)

    # State

    def evict(self, watermark: int | None, documents: Sequence[int], *, exact: bool) -> None:
        """Drops documents and composites, and rows that no query can reach from the watermark."""
        self._retention.evict(watermark, documents, exact=exact)

    def unstored_strings(self, *, exact: bool) -> dict[int, str]:
        """The strings that no row has, searched only when that pays unless `exact`."""
        return self._retention.unstored_strings(exact=exact)

    def drop_strings(self, strings: Sequence[int]) -> None:
        """Drops strings."""
        self._state.drop_strings(strings)

    # Inside

    def _is_in_order(self, batch: Batch, latest: int | None) -> bool:
        """Whether nothing in a batch is earlier than anything before it, up to the latest.

        Within the batch, the other order of a pair is found as ΔL ⋈ ΔR in any case.
        """
        return latest is None or min(batch.times.values(), default=0) >= latest

    def _come(self, batch: Batch, *, in_order: bool) -> None:
        times = batch.times
        self._delta = Delta(min(times, default=0), in_order)
        if times:
            self._pass(max(times.values()))

    def _pass(self, time: int) -> None:
        if self._latest is None or time > self._latest:
            self._latest = time

    def _begin(self, batch: Batch) -> None:
        """Makes a new batch the current one."""
        self._reset()
        self._state.begin(batch)

    def _reset(self) -> None:
        self._asked, self._following, self._followed = None, False, None
        self.prepare()

    def _join_values(self) -> None:
        bounds, depth = self._registry.value_joins.bounds, self._registry.depth
        join_values(self._connection, bounds=bounds, depth=depth, delta=self._delta)

    def _join_asked(self, queries: Collection[int]) -> None:
        """Joins the current batch for some queries; `outputs` then returns only their matches."""
        if not queries:
            self._asked = frozenset()
            return
        self._asked, bounds = self._queries.ask(queries)
        note_joining_paths(self._connection, "asked_")
        depth = self._registry.depth
        join_values(self._connection, bounds=bounds, depth=depth, delta=self._delta, of="asked_")

    def _plans_found(self) -> list[Plan]:
        """The plans whose matches are to be found here."""
        if self._following:
            if self._crossed or not self._registry.crossing:
                return []
            self.prepare()
            return [plan for plan in self.plans() if plan.id in self._registry.crossing]
        if self._asked is None:
            return self.plans()
        return [plan for plan in self.plans() if plan.id in self._asked] if self._asked else []

    def _numbers(self, query: str) -> set[int]:
        return {number for (number,) in self._connection.execute(query).fetchall()}

    def _define_views(self) -> None:
        """`bound` and `bound_w`: rows of paths as rows of spines with their marked nodes."""
        depth = self._registry.depth
        if depth <= self._viewed_depth:
            return
        self._viewed_depth = depth
        nodes = ", ".join(f"chain[depths[{i + 1}] + 1] AS n{i}" for i in range(depth))
        for view, relation in (("bound", "node"), ("bound_w", "node_w")):
            self._connection.execute(
                f"CREATE OR REPLACE TEMP VIEW {view} AS "
                f"SELECT spine, doc, ts, s, {nodes} FROM {relation} JOIN accept USING (path)"
            )
