"""Stage 2, the Join Processor: a batch of witnesses into the matches of all queries.

Algorithm 1 of the thesis, a batch at a time: take in the witnesses (Algorithm 2), join values,
evaluate the conjunctive query of each template against R_T, test the time constraints of the
queries of each row (Algorithm 3).  Small batches go through all that in process, large ones in
DuckDB (law 10); a join without equality always does the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import duckdb

from join_stage.batch import Accepted, Batch
from join_stage.constraints import matches_sql
from join_stage.in_process.channels import ChannelTuple
from join_stage.in_process.edges import Accepts
from join_stage.in_process.join import ExcessivePairs, InProcessJoin
from join_stage.outputs import Outputs, Wanted
from join_stage.plan import Plan
from join_stage.registry import Registry
from join_stage.relational.relations import when_needed
from join_stage.relational.retention import Retention
from join_stage.relational.state import JoinState
from join_stage.relational.value_join import (
    Delta,
    bring_together,
    join_values,
    note_joining_paths,
)
from join_stage.sql import to_sql
from join_stage.strategies import Strategies

__all__ = ["JoinProcessor"]


_LEAVES = 100
_FEW = 100
"""A batch is joined in process if it has not many more leaves than so many for each document,
and for as many documents if they are fewer."""


class JoinProcessor:
    """The relations of one engine and the queries that are evaluated over them."""

    def __init__(
        self,
        connect: Callable[[], duckdb.DuckDBPyConnection],
        strategies: Strategies | None = None,
    ) -> None:
        connection = self.connection = when_needed(connect)
        self.strategies = strategies or Strategies()
        self.registry = Registry(connection)
        self._state = JoinState(connection, self.strategies.memory)
        self._retention = Retention(connection, self.registry, self._state)
        self._accepts = Accepts()
        self._in_process = InProcessJoin(
            connection,
            self.registry,
            self._accepts,
            self._state,
            self.strategies,
        )
        self._latest: int | None = None
        self._viewed_depth = 0
        self._delta = Delta(None, in_order=False)
        # The plans of the queries asked for; None is all.
        self._asked: frozenset[str] | None = None
        # The batch that was joined in process, and whether the relations have it.
        self._joined: Batch | None = None
        self._in_relations = True

    # Batches

    def begin(self, batch: Batch) -> None:
        """Takes in a batch and joins its values; `outputs` and `counts` then tell its matches."""
        self.accept(batch.accepts)
        earliest = min(batch.times.values(), default=self._latest)
        in_order = self._latest is None or earliest is None or earliest >= self._latest
        # Within the batch, the other order of a pair is found as ΔL ⋈ ΔR all the same.
        self._come(batch, in_order=in_order)
        self._asked = None
        if not self._begin_in_process(batch):
            self._begin_in_relations(batch)
            self._join_values()

    def _come(self, batch: Batch, *, in_order: bool) -> None:
        """A batch of new documents has come; `in_order`, none is earlier than those before."""
        times = batch.times
        self._delta = Delta(min(times, default=0), in_order)
        if times:
            latest = max(times.values())
            self._latest = latest if self._latest is None else max(latest, self._latest)

    def _begin_in_relations(self, batch: Batch) -> None:
        """Makes a batch the current one of the relations, to be joined there."""
        self._joined, self._in_relations = None, True
        self.prepare()
        self._state.begin(batch)
        self._in_process.note(batch)
        self._in_process.cache.came(batch.string_numbers)

    def _begin_in_process(self, batch: Batch) -> bool:
        """Joins a batch in process, if that is the place for it."""
        if len(batch) > self.strategies.in_process:
            return False
        if batch.rows > _LEAVES * max(len(batch), _FEW):
            return False
        try:
            # Before the state takes it: a slice that is filled must not hold what comes.
            self._in_process.join(batch)
        except ExcessivePairs:
            return False
        self._joined, self._in_relations = batch, False
        self._state.take(batch)
        return True

    def review(self, batch: Batch, queries: Collection[int]) -> None:
        """Joins documents and composites that are in the state already, for some queries alone;
        `outputs` and `counts` then tell the matches of these queries among them.

        The batch has all that is to be joined, in whatever order.  Its witnesses take the place
        of what the documents left when they came; its composites have none.
        """
        self.accept(batch.accepts)
        self._joined, self._in_relations = None, True
        self.prepare()
        self._state.begin_again(batch)
        self._in_process.cache.came(batch.string_numbers)
        self._in_process.cache.clear()
        self._delta = Delta(None, in_order=False)
        self._join_asked(queries)

    def restore(self, batch: Batch, queries: Collection[int] = ()) -> None:
        """Takes in a batch as `begin` does, but joins it for some queries alone: what all others
        find in it was found before."""
        self.accept(batch.accepts)
        self._come(batch, in_order=False)
        self._begin_in_relations(batch)
        self._join_asked(queries)

    def rejoin(self, queries: Collection[int]) -> None:
        """Joins all that is in the state within itself, for some queries alone."""
        self._joined, self._in_relations = None, True
        self.prepare()
        self._state.make_all_current()
        self._delta = Delta(None, in_order=False)
        self._join_asked(queries)

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """Follows what became of leaf paths, between batches.

        `gone` are spines that are no more; `moved` leaf paths that are no more, with those that
        take over their rows, or None where the rows go; `unvalued` are leaf paths, numbered as
        after the move, whose strings go.  What the paths accept anew is told by `accept`, at the
        latest with the next batch; until then what has moved is not let go.
        """
        self._state.change(gone, moved, unvalued)
        self._accepts.change(gone, moved)
        if moved or unvalued:
            self._in_process.cache.clear()

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Takes in what leaf paths accept anew: path, spine, depths."""
        self._state.add_accepts(accepts)
        self._accepts.add(accepts)

    def prepare(self) -> None:
        """Brings the relations up to date with the queries and with what was joined in process."""
        self._state.write()
        if self.registry.flush() or self._state.paths_changed:
            self._state.paths_changed = False
            note_joining_paths(self.connection)
        self._views()
        if self._joined is not None and not self._in_relations:
            self._in_relations = True
            self._state.make_current(self._joined)
            self._join_values()

    # Matches

    @property
    def tuples(self) -> Sequence[ChannelTuple]:
        """The channel tuples of the current batch: none of one that was joined in DuckDB."""
        return self._in_process.tuples if self._joined is not None else ()

    def outputs(self, wanted: Wanted = Wanted.ALL) -> Iterator[Outputs]:
        """The matches that the current batch completes, or some of them."""
        but_sole = wanted is Wanted.BUT_SOLE_DISJUNCTS
        if self._joined is not None:
            found = self._in_process.rows(sole=not but_sole, channels=wanted is Wanted.ALL)
            for plan, rows in found:
                if rows:
                    yield Outputs(plan, rows)
        for plan in self._by_relations():
            if but_sole and not self.registry.has(plan, sole_disjunct=False):
                continue
            columns = ["q", *(("dl", "dr") if plan.sides == 2 else ("dl",))]
            columns += [f"n{node}" for node in plan.outputs]
            columns += [plan.string(node) for node in plan.valued]
            names = ", ".join(f'"{column}"' for column in columns)
            matches = self.matches(plan, plan.outputs, plan.valued)
            if but_sole:
                matches += " AND NOT sole_disjunct"
            rows = self.connection.execute(f"SELECT {names} {matches}").fetchall()
            if rows:
                yield Outputs(plan, rows)

    def counts(self) -> dict[int, int]:
        """The number of matches that the current batch completes, by query, of those queries
        that are sole disjuncts."""
        counts: dict[int, int] = {}
        if self._joined is not None:
            counts.update(self._in_process.counts())
        for plan in self._by_relations():
            if not self.registry.has(plan, sole_disjunct=True):
                continue
            matches = self.matches(plan, plan.outputs)
            counted = f"SELECT q, count(*) {matches} AND sole_disjunct GROUP BY q"
            counts.update(self.connection.execute(counted).fetchall())
        return counts

    def plans(self) -> list[Plan]:
        """The plans that the current batch may have something for: it has met their equalities,
        or some document of it has their leaves; of those asked for."""
        joins = self._numbers("SELECT DISTINCT j FROM pair")
        spines: set[int] = set()
        if self.registry.some_without_joins:
            spines = self._numbers("SELECT DISTINCT spine FROM node_w JOIN accept USING (path)")
        plans = self.registry.plans_with(joins, spines)
        return [plan for plan in plans if self._asked is None or plan.id in self._asked]

    def matches(self, plan: Plan, nodes: tuple[int, ...], valued: tuple[int, ...] = ()) -> str:
        """The FROM clause of a plan's matches that the current batch completes, with these nodes
        of the template as n0, n1, … and the strings of the valued ones.

        CQ_T, then each query's constraints.  It holds until it is asked for another plan.
        """
        rows, queries = f"rows_{plan.id}", "query"
        if self._asked is not None:
            rows, queries = "asked_rows", "asked_query"
            self.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE asked_rows AS "
                f'SELECT * FROM "rows_{plan.id}" WHERE r IN (SELECT r FROM asked_query)'
            )
        if plan.sides == 2 and not plan.joins:
            bring_together(self.connection, plan, self._delta, rows, queries)
        return matches_sql(plan, _found_sql(plan, nodes, valued, rows), queries)

    def _by_relations(self) -> list[Plan]:
        """The plans whose matches are to be found in the relations."""
        if self._joined is None:
            return self.plans()
        if not any(plan.sides == 2 and not plan.joins for plan in self.registry.plans.values()):
            return []
        self.prepare()
        return [plan for plan in self.plans() if plan.sides == 2 and not plan.joins]

    # State

    def forget(
        self, watermark: int | None, documents: Sequence[int], *, exact: bool = False
    ) -> None:
        """Drops documents and composites, and of all others the rows that no query can reach
        from the watermark (microseconds; None where nothing is ever late).

        Rows are looked for only when enough documents have come to pay for it, unless `exact`.
        """
        self._retention.forget(watermark, documents, exact=exact)
        self._in_process.drop(documents)

    def collect(self, *, exact: bool = False) -> list[str]:
        """Drops the strings that nothing holds any more, and returns them.

        They are looked for only when enough rows have gone to pay for it, unless `exact`.
        """
        gone = self._retention.collect(exact=exact)
        self._in_process.cache.collected(number for number, _ in gone)
        return [value for _, value in gone]

    def sizes(self) -> dict[str, int]:
        """The number of rows of `node`, `strings`, `accept`, `document` and `composite`."""
        return self._state.sizes()

    def witnesses_by_stream(self) -> dict[str, int]:
        """The number of rows of `node` that the documents of each stream have."""
        query = "SELECT stream, count(*) FROM node JOIN document USING (doc) GROUP BY stream"
        return dict(self.connection.execute(query).fetchall())

    def in_process(self) -> dict[str, int]:
        """The sizes of what is held in process, as `Engine.stats` tells them."""
        self._in_process.settle()
        cache, signatures = self._in_process.cache, self._in_process.signatures
        return {"slices": len(cache), "bytes": cache.bytes, "signatures": len(signatures)}

    def joined(self) -> dict[str, int]:
        """What has been joined in process so far, as `Engine.stats` tells it."""
        cache, signatures = self._in_process.cache, self._in_process.signatures
        return {
            "documents": self._in_process.documents,
            "hits": cache.hits,
            "misses": cache.misses,
            "evicted": cache.evicted,
            "pairs": signatures.pairs,
            "plain_pairs": signatures.plain,
            "evaluated": signatures.new,
        }

    # Inside

    def _join_values(self) -> None:
        bounds, depth = self.registry.bounds, self.registry.depth
        join_values(self.connection, bounds=bounds, depth=depth, delta=self._delta)

    def _join_asked(self, queries: Collection[int]) -> None:
        """Joins the current batch for some queries; `outputs` then tells of no others."""
        if not queries:
            self._asked = frozenset()
            return
        self._asked, bounds = self.registry.ask(queries)
        note_joining_paths(self.connection, "asked_")
        depth = self.registry.depth
        join_values(self.connection, bounds=bounds, depth=depth, delta=self._delta, of="asked_")

    def _numbers(self, query: str) -> set[int]:
        return {number for (number,) in self.connection.execute(query).fetchall()}

    def _views(self) -> None:
        """`bound` and `bound_w`: rows of paths as rows of spines with their marked nodes."""
        depth = self.registry.depth
        if depth <= self._viewed_depth:
            return
        self._viewed_depth = depth
        nodes = ", ".join(f"chain[depths[{i + 1}] + 1] AS n{i}" for i in range(depth))
        for view, relation in (("bound", "node"), ("bound_w", "node_w")):
            self.connection.execute(
                f"CREATE OR REPLACE TEMP VIEW {view} AS "
                f"SELECT spine, doc, ts, s, {nodes} FROM {relation} JOIN accept USING (path)"
            )


@lru_cache(maxsize=100_000)
def _found_sql(plan: Plan, nodes: tuple[int, ...], valued: tuple[int, ...], rows: str) -> str:
    """CQ_T as SQL, its rows in this relation."""
    query = plan.query(nodes, valued)
    return to_sql(replace(query, rows=replace(query.rows, relation=rows)))
