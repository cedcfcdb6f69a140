"""Stage 2, the Join Processor: a batch of witnesses into the matches of all queries.

Algorithm 1 of the thesis, a batch at a time: take in the witnesses (Algorithm 2), join values,
evaluate the conjunctive query of each template against R_T, test the time constraints of the
queries of each row (Algorithm 3).  A single document is a batch of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import duckdb
import pyarrow as pa

from join_stage import relations
from join_stage.plan import Plan
from join_stage.registry import Registry
from join_stage.relations import JoinState
from join_stage.sql import to_sql
from join_stage.value_join import join_values, note_joining_paths

__all__ = ["Batch", "JoinProcessor", "Outputs"]


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of documents and their witnesses, as Arrow columns.

    `documents`: doc, ts, stream, id; `witnesses`: doc, node, path, s, ts, chain; `accepts`: path,
    spine, depths, of the paths that are new; `strings`: id, value and double of the new ones.
    Document numbers ascend and begin after those of all batches before.
    """

    documents: dict[str, pa.Array]
    witnesses: dict[str, pa.Array]
    accepts: dict[str, pa.Array]
    strings: dict[str, pa.Array]


@dataclass(frozen=True, slots=True)
class Outputs:
    """Matches of the queries of one plan, each once: rows of the query's number, the documents'
    numbers (one for each block) and the codes of the plan's output nodes."""

    plan: Plan
    rows: list[tuple[int, ...]]


class JoinProcessor:
    """The relations of one engine and the queries that are evaluated over them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        relations.create(connection)
        self.registry = Registry(connection)
        self.state = JoinState(connection)
        self._latest: int | None = None
        self._viewed_depth = 0
        self._first = 0

    def begin(self, batch: Batch) -> None:
        """Takes in a batch and joins its values; `outputs` and `counts` then tell its matches."""
        self.prepare()
        if len(batch.accepts["path"]):
            relations.insert(self.connection, "accept", batch.accepts)
            note_joining_paths(self.connection)
        self._first = batch.documents["doc"][0].as_py()
        self.state.begin(batch.witnesses, batch.documents, batch.strings)
        times = batch.documents["ts"].to_pylist()
        in_order = self._latest is None or min(times) >= self._latest
        # Within the batch, the other order of a pair is found as ΔL ⋈ ΔR all the same.
        self._latest = max(times if self._latest is None else [self._latest, *times])
        bounds, depth = self.registry.bounds, self.registry.depth
        join_values(
            self.connection, bounds=bounds, depth=depth, first=self._first, in_order=in_order
        )

    def prepare(self) -> None:
        """Brings the relations up to date with the queries."""
        if self.registry.flush():
            note_joining_paths(self.connection)
        self._views()

    def outputs(self, *, but_alone: bool = False) -> Iterator[Outputs]:
        """The matches that the current batch completes; `but_alone`: those of disjuncts only."""
        for plan, matches in self._matches():
            columns = ["q", *(("dl", "dr") if plan.sides == 2 else ("dl",))]
            columns += [f"n{node}" for node in plan.outputs]
            names = ", ".join(f'"{column}"' for column in columns)
            if but_alone:
                matches += " AND NOT alone"
            rows = self.connection.execute(f"SELECT {names} {matches}").fetchall()
            if rows:
                yield Outputs(plan, rows)

    def counts(self) -> dict[int, int]:
        """The number of matches that the current batch completes, by query, of those queries
        that are alone."""
        counts: dict[int, int] = {}
        for _, matches in self._matches():
            counted = f"SELECT q, count(*) {matches} AND alone GROUP BY q"
            counts.update(self.connection.execute(counted).fetchall())
        return counts

    def _matches(self) -> Iterator[tuple[Plan, str]]:
        """For each plan the FROM clause of its matches: CQ_T, then each query's constraints.

        Plans that the batch has nothing for are left out: an equality that no pair has met, a
        leaf that no document of the batch has.
        """
        joins = self._numbers("SELECT DISTINCT j FROM pair")
        spines: set[int] = set()
        if self.registry.some_without_joins:
            spines = self._numbers("SELECT DISTINCT spine FROM node_w JOIN accept USING (path)")
        for plan in self.registry.plans_with(joins, spines):
            constraints = "dl >= since"
            if plan.sides == 2:
                constraints += " AND dr >= since AND dt > lo AND abs(dt) <= wl"
                if not plan.joins:
                    self._together(plan)
            yield plan, f"FROM ({_outputs_sql(plan)}) JOIN query USING (r) WHERE {constraints}"

    def _numbers(self, query: str) -> set[int]:
        return {number for (number,) in self.connection.execute(query).fetchall()}

    def _together(self, plan: Plan) -> None:
        """The pairs of documents for a plan without an equality: all that its queries' windows
        bring together and that have nodes for it on either side, one of them in the batch."""
        rows = f'"rows_{plan.id}"'
        having = [
            f"(SELECT DISTINCT doc, ts FROM bound JOIN document USING (doc) WHERE spine IN "
            f"({' UNION '.join(self._spines(plan, side))}))"
            for side in (0, 1)
        ]
        self.connection.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE together AS
            WITH widest AS (SELECT min(lo) AS lo, max(wl) AS wl FROM query JOIN {rows} USING (r))
            SELECT l.doc AS dl, r.doc AS dr, r.ts - l.ts AS dt
            FROM widest, {having[0]} l, {having[1]} r
            WHERE l.doc <> r.doc AND (l.doc >= {self._first} OR r.doc >= {self._first})
              AND r.ts - l.ts > lo AND abs(r.ts - l.ts) <= wl
            """
        )

    @staticmethod
    def _spines(plan: Plan, side: int) -> list[str]:
        return [
            f'SELECT s{i} FROM "rows_{plan.id}"'
            for i, chain in enumerate(plan.singles)
            if chain.side == side
        ]

    def _views(self) -> None:
        """`bound` and `bound_w`: rows of paths as rows of spines with their marked nodes."""
        depth = self.registry.depth
        if depth == self._viewed_depth:
            return
        self._viewed_depth = depth
        nodes = ", ".join(f"chain[depths[{i + 1}] + 1] AS n{i}" for i in range(depth))
        for view, relation in (("bound", "node"), ("bound_w", "node_w")):
            self.connection.execute(
                f"CREATE OR REPLACE TEMP VIEW {view} AS "
                f"SELECT spine, doc, s, {nodes} FROM {relation} JOIN accept USING (path)"
            )


@lru_cache(maxsize=100_000)
def _outputs_sql(plan: Plan) -> str:
    return to_sql(plan.query(plan.outputs))
