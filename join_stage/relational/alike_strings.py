"""The relations `alike_…` (a, b, likeness): the strings that the likenesses of a plan compare and
that are alike, for the documents of the current batch.

Which strings are alike is found as in process, by prefixes; DuckDB joins documents by them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xscl.join_stage.likeness import alike_pairs
from xscl.join_stage.plan import ALIKE, Plan
from xscl.join_stage.registry import Registry
from xscl.join_stage.relational.relations import numbers, recreate
from xscl.join_stage.tokens import TokenNumbers, Tokens
from xscl.templates import Edge

if TYPE_CHECKING:
    import duckdb

__all__ = ["AlikeStrings"]

Pairs = set[tuple[int, int, int]]


class AlikeStrings:
    """The strings in the relations that are alike."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, registry: Registry, tokens: Tokens
    ) -> None:
        self._connection = connection
        self._registry = registry
        self._tokens = tokens

    def relate(self, plan: Plan, rows: str) -> None:
        """Fills the relations of a plan's measures; `rows` is the relation of its rows."""
        found: dict[str, Pairs] = {}
        side_of = {node.number: node.side for node in plan.graph.nodes}
        for edge, least in zip(plan.likenesses, self._registry.thresholds_of(plan), strict=True):
            assert edge.measure is not None
            lefts, rights = (_spines(plan, node, rows) for node in (edge.left, edge.right))
            pairs = found.setdefault(edge.measure, set())
            if side_of[edge.left] == side_of[edge.right]:
                pairs |= self._within(edge, lefts, rights)
            else:
                pairs |= self._between(edge, least, lefts, rights)
        for measure, pairs in found.items():
            a, b, degrees = zip(*pairs, strict=True) if pairs else ((), (), ())
            columns = {"a": numbers(a), "b": numbers(b), "likeness": numbers(degrees)}
            recreate(self._connection, f"{ALIKE}{measure}", columns)

    def _between(self, edge: Edge, least: int, lefts: str, rights: str) -> Pairs:
        """Those of documents of which at least one is new."""
        found: Pairs = set()
        for left, right in (("bound_w", "bound"), ("bound", "bound_w")):
            assert edge.measure is not None
            one, other = (
                self._tokens_of(edge.measure, relation, spines)
                for relation, spines in ((left, lefts), (right, rights))
            )
            found.update(alike_pairs(self._tokens.measures, edge.measure, least, one, other))
        return found

    def _within(self, edge: Edge, lefts: str, rights: str) -> Pairs:
        """Those of one document or composite."""
        pairs = self._connection.execute(
            f"SELECT DISTINCT l.s, r.s FROM bound l JOIN bound r USING (doc) "
            f"WHERE l.s >= 0 AND r.s >= 0 AND l.spine IN ({lefts}) AND r.spine IN ({rights})"
        ).fetchall()
        assert edge.measure is not None
        for spines in (lefts, rights):
            self._tokens_of(edge.measure, "bound", spines)
        return {(a, b, self._tokens.likeness(edge.measure, a, b)) for a, b in pairs}

    def _tokens_of(self, measure: str, relation: str, spines: str) -> dict[int, TokenNumbers]:
        """The strings of some spines in a relation, with their tokens."""
        found = self._connection.execute(
            f"SELECT DISTINCT s FROM {relation} WHERE s >= 0 AND spine IN ({spines})"
        ).fetchall()
        strings = {string for (string,) in found}
        if missing := self._tokens.missing(measure, strings):
            texts = self._connection.execute(
                "SELECT id, value FROM strings WHERE id IN (SELECT unnest(?::BIGINT[]))",
                [list(missing)],
            ).fetchall()
            for string, text in texts:
                self._tokens.of(measure, string, text)
        return {string: self._tokens.of(measure, string) for string in strings}


def _spines(plan: Plan, node: int, rows: str) -> str:
    """The spines of a leaf of the plan, as SQL."""
    parts = [
        f'SELECT {column} FROM value_join JOIN "{rows}" ON j = j{i}'
        for i, pair in enumerate(plan.joins)
        for column, chain in zip(("ls", "rs"), pair, strict=True)
        if chain.nodes[-1] == node
    ]
    parts += [
        f'SELECT s{i} FROM "{rows}"'
        for i, chain in enumerate(plan.singles)
        if chain.nodes[-1] == node
    ]
    return " UNION ".join(parts)
