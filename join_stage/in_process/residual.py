"""Residual tests: conditions beyond a signature, tested for each pair of documents (law 7).

Leaves that no value join reaches, comparisons of strings, and what composites ask beside their
times: that no document stands on both sides, and that one begins after the other.  The queries of
a single document are all of that kind: they have no pair, only leaves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from join_stage.batch import Batch
from join_stage.compiler import program_of
from join_stage.constraints import FOREVER
from join_stage.evaluator import Binding, Relation, Relations, StringValue
from join_stage.in_process.edges import Accepts
from join_stage.in_process.signatures import Hit, LeafPosition
from join_stage.in_process.view_cache import DocumentLeaves, ViewCache
from join_stage.plan import Plan
from join_stage.registry import Registry, Trie
from join_stage.relational.state import JoinState

__all__ = ["Completed", "Leaves", "OpenPair", "ResidualTests"]

Leaves = Sequence[tuple[LeafPosition, int | None]]

_NO_RELATIONS = Relations()

_BOUND = 10_000
"""Of so many documents the leaves are bound at a time, of so many shapes hits completed."""

_VALUES = 100_000
"""So many strings' values are kept for comparisons by order."""


@dataclass(frozen=True, slots=True)
class _Composite:
    """When a composite begins, the smallest of its documents, and all of them."""

    start: int
    first: int
    parts: frozenset[int]


@dataclass(frozen=True, slots=True)
class OpenPair:
    """Documents or composites whose hits are to be completed."""

    left: int
    right: int
    hits: tuple[Hit, ...]


class Completed(NamedTuple):
    """Documents or composites, the rows of R_T that hold, the heads for which they do, and what
    the constraints of the rows' queries ask: (gap, dt, smallest document)."""

    plan: Plan
    documents: tuple[int, ...]
    rows: Trie
    heads: Collection[Binding]
    admitted: tuple[int, int, int]


class ResidualTests:
    """Tests by times, composites and strings of documents held; leaves are in the view cache."""

    def __init__(
        self,
        registry: Registry,
        accepts: Accepts,
        state: JoinState,
        cache: ViewCache,
    ) -> None:
        self._registry = registry
        self._accepts = accepts
        self._state = state
        self._cache = cache
        self.times: dict[int, int] = {}
        self._composites: dict[int, _Composite] = {}
        self._values: dict[int, StringValue | None] = {}

    def note(self, batch: Batch) -> None:
        """Notes the documents and composites of a batch, whoever joins it."""
        self.times.update(batch.times)
        for number, _, start, first, parts in batch.composites:
            self._composites[number] = _Composite(start, first, frozenset(parts))

    def begin(self, batch: Batch) -> None:
        """Before a batch is joined in process."""
        if len(self._values) > _VALUES:
            self._values.clear()
        if batch.strings and self._registry.orders:
            for number, value, double in batch.strings:
                self._values[number] = (value, double)

    def drop(self, documents: Sequence[int]) -> None:
        """Documents and composites are no more."""
        for document in documents:
            self.times.pop(document, None)
            self._composites.pop(document, None)

    def filtered(self, document: int, leaves: Leaves) -> Iterator[Completed]:
        """The matches of queries of a single document."""
        relations = Relations(left=self._bound(leaves), string=self._string)
        for plan in self._registry.filters.values():
            rows_of_plan = self._registry.rows_of(plan)
            for rows, heads in program_of(plan).complete(rows_of_plan, [()], relations):
                yield Completed(plan, (document,), rows, heads, (FOREVER, 0, document))

    def completed(self, pairs: Sequence[OpenPair]) -> Iterator[Completed]:
        """The matches that are left of the hits of some pairs.

        What is left of a hit that asks for no strings is the same for all documents built alike;
        of others, the leaves of a document are bound once.
        """
        leaves = self._cache.leaves(_asked_for(pairs))
        bound: dict[int, Relation] = {}
        alike: dict[tuple[int, int, int], list[tuple[Trie, set[Binding]]]] = {}

        def relation(document: int) -> Relation:
            found = bound.get(document)
            if found is None:
                if len(bound) >= _BOUND:
                    bound.clear()
                found = bound[document] = self._bound(_leaves(leaves[document]))
            return found

        def left_of(hit: Hit, pair: OpenPair) -> list[tuple[Trie, set[Binding]]]:
            bindings: Iterable[Binding] = hit.bindings
            if None in hit.program.sides:
                bindings = _with_strings(hit, leaves[pair.left])
            relations = _NO_RELATIONS
            if hit.program.rest:
                left, right = relation(pair.left), relation(pair.right)
                relations = Relations(left=left, right=right, string=self._string)
            return list(hit.program.complete(hit.at, bindings, relations))

        for pair in pairs:
            for hit in pair.hits:
                program = hit.program
                admitted = self._constrained(pair, program.plan)
                if admitted is None:
                    continue
                if program.structural:
                    # The pairs have the hits, and `leaves` the positions: none goes meanwhile.
                    key = id(hit), 0, 0
                    if program.rest:
                        left, right = leaves[pair.left], leaves[pair.right]
                        key = id(hit), id(left.positions), id(right.positions)
                    completions = alike.get(key)
                    if completions is None:
                        if len(alike) >= _BOUND:
                            alike.clear()
                        completions = alike[key] = left_of(hit, pair)
                else:
                    completions = left_of(hit, pair)
                for rows, heads in completions:
                    yield Completed(program.plan, (pair.left, pair.right), rows, heads, admitted)

    def _constrained(self, pair: OpenPair, plan: Plan) -> tuple[int, int, int] | None:
        """A pair as the constraints of queries see it: the gap between its sides, dt, its smallest
        document; None if its sides share a document."""
        left, right = plan.composite
        dt = self.times[pair.right] - self.times[pair.left]
        gap, first, other = dt, pair.left, pair.right
        if left:
            before = self._composites[pair.left]
            first = before.first
            if not right and pair.right in before.parts:
                return None
        if right:
            after = self._composites[pair.right]
            gap -= self.times[pair.right] - after.start
            other = after.first
            parts = before.parts if left else (pair.left,)
            if not after.parts.isdisjoint(parts):
                return None
        return gap, dt, min(first, other)

    def _bound(self, leaves: Iterable[tuple[LeafPosition, int | None]]) -> Relation:
        """The leaves of a document by what they are to the queries: their marked nodes, then
        their string."""
        bound = Relation()
        for position, string in leaves:
            chain = position.chain
            for spine, depths in self._accepts[position.path]:
                bound.setdefault(spine, []).append((*[chain[depth] for depth in depths], string))
        return bound

    def _string(self, number: object) -> StringValue | None:
        """The value of a string, by its number."""
        assert isinstance(number, int)
        if number not in self._values:
            self._values[number] = self._state.string(number)
        return self._values[number]


def _asked_for(pairs: Sequence[OpenPair]) -> set[int]:
    """The documents whose leaves the hits of some pairs ask for."""
    asking: dict[int, bool] = {}
    for pair in pairs:
        key = id(pair.hits)
        if key not in asking:
            asking[key] = any(hit.program.rest or None in hit.program.sides for hit in pair.hits)
    some = [pair for pair in pairs if asking[id(pair.hits)]]
    return {pair.left for pair in some} | {pair.right for pair in some}


def _leaves(document: DocumentLeaves) -> Iterator[tuple[LeafPosition, int | None]]:
    return zip(document.positions, document.strings, strict=True)


def _with_strings(hit: Hit, left: DocumentLeaves) -> Iterable[Binding]:
    """The bindings of a hit, with the left document's strings instead of their positions.

    A slice may still have a leaf whose row has gone, for no query reaches it any more: it is in
    no match.
    """
    string_at = dict(_leaves(left))
    return [
        tuple([string_at[one] if isinstance(one, LeafPosition) else one for one in binding])
        for binding in hit.bindings
        if all(one in string_at for one in binding if isinstance(one, LeafPosition))
    ]
