"""The value join in process: for documents that come singly (law 10; Algorithms 4 and 5).

A document's equal leaves are looked up in the view cache, within the windows of what they may
mean; so each document that has anything in common with it comes to a state, and by that to what
the conjunctive queries leave of the pair (law 7).  What a signature does not say is tested then,
for each pair: leaves that no value join reaches, comparisons, and the constraints of the queries
of each row (Algorithm 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import duckdb

from join_stage.batch import Batch, Leaf
from join_stage.constraints import FOREVER
from join_stage.edges import Accepts, Edges
from join_stage.evaluator import Binding, Relation, Relations, StringValue, program_of
from join_stage.plan import Plan
from join_stage.registry import Registry
from join_stage.row_trie import Trie
from join_stage.signatures import EMPTY, Hit, Outcome, Place, Signatures
from join_stage.state import JoinState
from join_stage.view_cache import DocumentLeaves, Slice, ViewCache

__all__ = ["InProcessJoin"]

Leaves = list[tuple[Place, int | None]]

_Found = tuple[Plan, tuple[int, ...], tuple[int, int, int], Trie, Collection[Binding]]
"""A plan, the documents or composites, what the constraints ask of them, the rows of R_T that
hold, and the heads for which they do."""

_VALUES = 100_000
"""So many strings' values are kept for comparisons by order."""


@dataclass(frozen=True, slots=True)
class _Composite:
    """When a composite begins, the smallest of its documents, and all of them."""

    start: int
    first: int
    parts: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Documents or composites that have something in common: their numbers, and when the right
    one ends after the left one."""

    left: int
    right: int
    dt: int
    outcome: Outcome


class InProcessJoin:
    """The documents of one engine that are joined in process, and the pairs of the last batch.

    `documents` counts those that were.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        registry: Registry,
        accepts: Accepts,
        state: JoinState,
        *,
        memory: int,
        memo: bool,
    ) -> None:
        self._connection = connection
        self._registry = registry
        self._accepts = accepts
        self._state = state
        self._edges = Edges(registry, accepts)
        self.signatures = Signatures(registry, self._edges, memo=memo)
        self.cache = ViewCache(connection, state, self.signatures.place, memory)
        self.documents = 0
        self._times: dict[int, int] = {}
        self._composites: dict[int, _Composite] = {}
        self._pairs: list[_Pair] = []
        self._new: dict[int, Leaves] = {}
        self._values: dict[int, StringValue | None] = {}
        self._filters: list[Plan] = []
        self._version = -1

    # What comes.

    def join(self, batch: Batch) -> None:
        """Joins a batch with all that is held, and within itself."""
        self.note(batch)
        self.documents += len(batch.documents)
        self.signatures.settle(changed=self._edges.settle())
        self.cache.shrink()
        self._pairs = []
        self._new = {}
        if self._version != self._registry.structure:
            self._version = self._registry.structure
            self._filters = [plan for plan in self._registry.plans.values() if plan.sides == 1]
        if len(self._values) > _VALUES:
            self._values.clear()
        if self._registry.orders:
            self._values.update(
                (number, (value, double)) for number, value, double in batch.strings
            )
        for document, leaves in batch.leaves():
            self._join(document, leaves)

    def note(self, batch: Batch) -> None:
        """Notes the documents and composites of a batch, whoever joins it."""
        self._times.update(batch.times)
        for number, _, start, first, parts in batch.composites:
            self._composites[number] = _Composite(start, first, frozenset(parts))

    def drop(self, documents: Sequence[int]) -> None:
        """Documents and composites are no more."""
        self.cache.drop(documents)
        for document in documents:
            self._times.pop(document, None)
            self._composites.pop(document, None)

    def _join(self, document: int, leaves: Sequence[Leaf]) -> None:
        time = self._times[document]
        place = self.signatures.place
        placed = [(place(path, chain), string) for path, chain, string in leaves]
        joins = self._edges.joins
        joining = [
            (leaf, string) for leaf, string in placed if string is not None and joins(leaf.path)
        ]
        slices = self.cache.slices({string for _, string in joining})
        # The states of the documents to the left and to the right of this one.
        lefts: dict[int, int] = {}
        rights: dict[int, int] = {}
        for leaf, string in joining:
            if string in slices:
                self._look_up(leaf, time, slices[string], lefts, rights)
        times, outcome = self._times, self.signatures.outcome
        for other, state in lefts.items():
            if found := outcome(state):
                self._pairs.append(_Pair(other, document, time - times[other], found))
        for other, state in rights.items():
            if found := outcome(state):
                self._pairs.append(_Pair(document, other, times[other] - time, found))
        self.cache.add(document, time, joining)
        self.cache.hold(document, time, placed)
        self._new[document] = placed

    def _look_up(
        self,
        leaf: Place,
        time: int,
        equal: Slice,
        lefts: dict[int, int],
        rights: dict[int, int],
    ) -> None:
        """Brings the documents with an equal leaf to their next states."""
        edges, transitions = self._edges, self.signatures.transitions
        for other, posting in equal.items():
            edge = edges.between(other.path, leaf.path)
            if edge is not None:
                # lo < time - t <= wl; without `FOLLOWED BY` also t - time <= wl.
                until = time - 1 if edge.lo >= 0 else time + edge.wl
                following = transitions(other, leaf)
                for document in posting.documents[posting.between(time - edge.wl - 1, until)]:
                    lefts[document] = following[lefts.get(document, EMPTY)]
            edge = edges.between(leaf.path, other.path)
            if edge is not None:
                after = time if edge.lo >= 0 else time - edge.wl - 1
                following = transitions(leaf, other)
                for document in posting.documents[posting.between(after, time + edge.wl)]:
                    rights[document] = following[rights.get(document, EMPTY)]

    # What it finds.

    def rows(self, *, but_alone: bool) -> Iterator[tuple[Plan, list[tuple[int, ...]]]]:
        """The matches of the last batch, by plan: query, documents, codes, strings."""
        by_plan: dict[str, tuple[Plan, list[tuple[int, ...]]]] = {}
        audiences = self._registry.audiences
        for plan, documents, admitted, rows, heads in self._found():
            matches = [(*documents, *cast(tuple[int, ...], head)) for head in heads]
            found = by_plan.setdefault(plan.id, (plan, []))[1]
            for row in rows:
                for queries in audiences[row].admitting(*admitted):
                    found += (
                        (query, *match)
                        for query, alone in queries.items()
                        if not (but_alone and alone)
                        for match in matches
                    )
        yield from by_plan.values()

    def counts(self) -> Counter[int]:
        """The number of matches of the last batch, by query, of those queries that are alone."""
        counts: Counter[int] = Counter()
        audiences = self._registry.audiences
        for _, _, admitted, rows, heads in self._found():
            matches = len(heads)
            for row in rows:
                for queries in audiences[row].admitting(*admitted):
                    for query, alone in queries.items():
                        if alone:
                            counts[query] += matches
        return counts

    def _found(self) -> Iterator[_Found]:
        """What the conjunctive queries find in the last batch, before the queries' constraints."""
        for document, leaves in self._new.items():
            yield from self._filtered(document, leaves)
        needed = {
            document
            for pair in self._pairs
            if any(not hit.final for hit in pair.outcome)
            for document in (pair.left, pair.right)
        }
        leaves_of = self.cache.leaves(needed)
        for pair in self._pairs:
            for hit in pair.outcome:
                plan = hit.program.plan
                admitted = self._constrained(pair, plan)
                if admitted is None:
                    continue
                documents = (pair.left, pair.right)
                if hit.final:
                    yield plan, documents, admitted, hit.at, hit.bindings
                    continue
                left, right = leaves_of[pair.left], leaves_of[pair.right]
                for rows, heads in self._complete(hit, left, right):
                    yield plan, documents, admitted, rows, heads

    def _filtered(self, document: int, leaves: Leaves) -> Iterator[_Found]:
        """What the queries of one document find in it."""
        if not self._filters:
            return
        relations = Relations(left=self._bound(leaves), string=self._string)
        for plan in self._filters:
            root = self._registry.tries[plan.id].root
            for rows, heads in program_of(plan).complete(root, [()], relations):
                yield plan, (document,), (FOREVER, 0, document), rows, heads

    def _constrained(self, pair: _Pair, plan: Plan) -> tuple[int, int, int] | None:
        """What the queries of a row ask of a pair: the gap between its sides, when the right one
        ends after the left one, its smallest document; None if its sides share one."""
        left, right = plan.composite
        gap, first, other = pair.dt, pair.left, pair.right
        if left:
            first = self._composites[pair.left].first
        if right:
            composite = self._composites[pair.right]
            gap -= self._times[pair.right] - composite.start
            other = composite.first
        if left or right:
            parts = [
                self._composites[number].parts if composed else frozenset((number,))
                for composed, number in ((left, pair.left), (right, pair.right))
            ]
            if not parts[0].isdisjoint(parts[1]):
                return None
        return gap, pair.dt, min(first, other)

    def _complete(
        self, hit: Hit, left: DocumentLeaves, right: DocumentLeaves
    ) -> Iterator[tuple[Trie, set[Binding]]]:
        """What is left of a hit by all that its signature does not say."""
        assert left.places is not None
        assert right.places is not None
        bindings = hit.bindings
        if None in hit.program.sides:
            string_at = dict(zip(left.places, left.strings, strict=True))
            bindings = tuple(
                tuple(string_at[one] if isinstance(one, Place) else one for one in binding)
                for binding in bindings
            )
        relations = Relations(
            left=self._bound(zip(left.places, left.strings, strict=True)),
            right=self._bound(zip(right.places, right.strings, strict=True)),
            string=self._string,
        )
        return hit.program.complete(hit.at, bindings, relations)

    def _bound(self, leaves: Iterable[tuple[Place, int | None]]) -> Relation:
        """The leaves of a document by what they are to the queries: their marked nodes, then
        their string."""
        bound: dict[int, list[Binding]] = {}
        for place, string in leaves:
            chain = place.chain
            for spine, depths in self._accepts[place.path]:
                bound.setdefault(spine, []).append((*(chain[depth] for depth in depths), string))
        return bound

    def _string(self, number: object) -> StringValue | None:
        """What the number of a string stands for."""
        assert isinstance(number, int)
        if number not in self._values:
            self._state.write()
            rows = self._connection.execute(
                "SELECT value, double FROM strings WHERE id = ?", [number]
            ).fetchall()
            self._values[number] = rows[0] if rows else None
        return self._values[number]
