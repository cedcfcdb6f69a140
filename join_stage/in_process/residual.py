"""Residual tests: conditions beyond a signature, tested for each pair of documents
(docs/laws.md#signatures).

These are leaves that no value join reaches, comparisons of strings, and conditions on composites
other than their times: that no document is on both sides, and that one begins after the other.  The
queries of a single document are all of that kind: they have no pair, only leaves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from xscl.join_stage.audience import Seen
from xscl.join_stage.batch import Batch
from xscl.join_stage.compiler import program_of
from xscl.join_stage.constraints import FOREVER
from xscl.join_stage.evaluator import Binding, Relation, Relations, StringValue
from xscl.join_stage.in_process.edges import Accepts
from xscl.join_stage.in_process.signatures import Hit, LeafPosition
from xscl.join_stage.in_process.view_cache import DocumentLeaves, ViewCache
from xscl.join_stage.likeness import Measures, Tokens
from xscl.join_stage.plan import Plan
from xscl.join_stage.registry import Registry, Trie
from xscl.join_stage.relational.state import JoinState

__all__ = ["Completed", "Leaves", "OpenPairs", "ResidualTests"]

Leaves = Sequence[tuple[LeafPosition, int | None]]

_NO_RELATIONS = Relations()

_BOUND = 10_000
"""The maximal number of documents whose leaves are bound together, and of structures whose hits are
completed together."""

_Times = tuple[int, int, int, Collection[int]]
"""When a document or composite begins and ends, the smallest of its documents, and all of them."""

_VALUES = 100_000
"""The maximal number of strings' values that are cached for comparisons by order."""

Key = tuple[int, int, int]
"""A hit, and the positions of the leaves of either document, by identity."""


class OpenPairs(NamedTuple):
    """A document or composite, on the right side or on the left, and others on the opposite one,
    with the hits to complete for each of these pairs."""

    document: int
    others: Sequence[int]
    right: bool
    hits: tuple[Hit, ...]


class Completed(NamedTuple):
    """The rows of R_T that hold and the heads for which they do, for each of some pairs of
    documents or composites, or single documents, as the constraints of queries see them."""

    plan: Plan
    rows: Trie
    heads: Collection[Binding]
    seen: Sequence[Seen]


class ResidualTests:
    """Tests by times, composites and strings of retained documents; leaves are in the view
    cache."""

    def __init__(
        self,
        registry: Registry,
        accepts: Accepts,
        state: JoinState,
        cache: ViewCache,
        measures: Measures,
    ) -> None:
        self._registry = registry
        self._accepts = accepts
        self._state = state
        self._cache = cache
        self.times: dict[int, int] = {}
        self._composites: dict[int, _Times] = {}
        self._values: dict[int, StringValue | None] = {}
        self.tokens = Tokens(measures, self._text)

    def note(self, batch: Batch) -> None:
        """Records the documents and composites of a batch, however it is joined."""
        self.times.update(batch.times)
        for number, end, start, first, parts in batch.composites:
            self._composites[number] = start, end, first, frozenset(parts)

    def note_values(self, batch: Batch) -> None:
        """Records the strings of a batch, where they are compared by order."""
        if len(self._values) > _VALUES:
            self._values.clear()
        for number, value in batch.strings:
            self._values[number] = (value, self._state.double_of(value))

    def drop(self, documents: Sequence[int]) -> None:
        """Removes documents and composites."""
        for document in documents:
            self.times.pop(document, None)
            self._composites.pop(document, None)

    def filtered(self, document: int, leaves: Leaves) -> Iterator[Completed]:
        """The matches of queries of a single document."""
        relations = Relations(
            left=self._bound(leaves), string=self._string, likeness=self._likeness
        )
        for plan in self._registry.filters.values():
            rows_of_plan = self._registry.rows_of(plan)
            for rows, heads in program_of(plan).complete(rows_of_plan, [()], relations):
                yield Completed(plan, rows, heads, (((document,), FOREVER, 0, document),))

    def completed(self, pairs: Sequence[OpenPairs]) -> Iterator[Completed]:
        """The matches from the hits of some pairs.

        The rest of a hit that needs no strings is the same for all documents of the same
        structures; otherwise, the leaves of a document are bound once.
        """
        leaves = self._cache.leaves(_documents_of(pairs))
        if self._registry.crossing and self._registry.orders:
            strings = {string for one in leaves.values() for string in one.strings}
            if missing := [one for one in strings if one is not None and one not in self._values]:
                self._know(missing)
        bound: dict[int, Relation] = {}
        completed_before: dict[Key, list[tuple[Trie, set[Binding]]]] = {}

        def relation(document: int) -> Relation:
            found = bound.get(document)
            if found is None:
                if len(bound) >= _BOUND:
                    bound.clear()
                found = bound[document] = self._bound(_leaves(leaves[document]))
            return found

        def left_of(hit: Hit, pair: Sequence[int]) -> list[tuple[Trie, set[Binding]]]:
            bindings: Iterable[Binding] = hit.bindings
            if None in hit.program.sides:
                bindings = _with_strings(hit, leaves[pair[0]])
            relations = _NO_RELATIONS
            if hit.program.rest:
                left, right = map(relation, pair)
                relations = Relations(
                    left=left, right=right, string=self._string, likeness=self._likeness
                )
            return list(hit.program.complete(hit.at, bindings, relations))

        def of_one_structure(hit: Hit, seen: list[Seen]) -> Iterable[tuple[Key, list[Seen]]]:
            # The pairs refer to the hits, and `leaves` to the positions: no identity is reused
            # meanwhile.
            if not hit.program.rest:
                return [((id(hit), 0, 0), seen)]
            by_key: dict[Key, list[Seen]] = {}
            for one in seen:
                left, right = one[0]
                key = id(hit), id(leaves[left].positions), id(leaves[right].positions)
                by_key.setdefault(key, []).append(one)
            return by_key.items()

        for some in pairs:
            for hit in some.hits:
                program = hit.program
                seen = self._seen(some, program.plan)
                if not program.structural:
                    for one in seen:
                        for rows, heads in left_of(hit, one[0]):
                            yield Completed(program.plan, rows, heads, (one,))
                    continue
                for key, same in of_one_structure(hit, seen) if seen else ():
                    completions = completed_before.get(key)
                    if completions is None:
                        if len(completed_before) >= _BOUND:
                            completed_before.clear()
                        completions = completed_before[key] = left_of(hit, same[0][0])
                    for rows, heads in completions:
                        yield Completed(program.plan, rows, heads, same)

    def _seen(self, pairs: OpenPairs, plan: Plan) -> list[Seen]:
        """Some pairs as the constraints of queries see them, without those whose sides share a
        document."""
        document, others, as_right, _ = pairs
        of_document, of_others = reversed(plan.composite) if as_right else plan.composite
        ((start, end, first, found),) = self._times_of([document], composite=of_document)
        parts = frozenset(found)
        if as_right:
            return [
                ((other, document), start - other_end, end - other_end, min(first, other_first))
                for other, (_, other_end, other_first, other_parts) in zip(
                    others, self._times_of(others, composite=of_others), strict=True
                )
                if parts.isdisjoint(other_parts)
            ]
        return [
            ((document, other), other_start - end, other_end - end, min(first, other_first))
            for other, (other_start, other_end, other_first, other_parts) in zip(
                others, self._times_of(others, composite=of_others), strict=True
            )
            if parts.isdisjoint(other_parts)
        ]

    def _times_of(self, numbers: Sequence[int], *, composite: bool) -> list[_Times]:
        if composite:
            return [self._composites[number] for number in numbers]
        times = self.times
        return [(time := times[number], time, number, (number,)) for number in numbers]

    def _bound(self, leaves: Iterable[tuple[LeafPosition, int | None]]) -> Relation:
        """The leaves of a document by spine: their marked nodes, then their string."""
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
            self._know([number])
        return self._values[number]

    def _text(self, number: int) -> str | None:
        value = self._string(number)
        return None if value is None else value[0]

    def _likeness(self, measure: str, one: object, other: object) -> int:
        assert isinstance(one, int)
        assert isinstance(other, int)
        return self.tokens.likeness(measure, one, other)

    def _know(self, strings: Collection[int]) -> None:
        """Looks up the values of some strings in one query."""
        found = self._state.values(strings)
        self._values.update((number, found.get(number)) for number in strings)


def _documents_of(pairs: Sequence[OpenPairs]) -> set[int]:
    """The documents whose leaves the hits of some pairs need."""
    asking: set[int] = set()
    for some in pairs:
        if any(hit.program.rest or None in hit.program.sides for hit in some.hits):
            asking.add(some.document)
            asking.update(some.others)
    return asking


def _leaves(document: DocumentLeaves) -> Iterator[tuple[LeafPosition, int | None]]:
    return zip(document.positions, document.strings, strict=True)


def _with_strings(hit: Hit, left: DocumentLeaves) -> Iterable[Binding]:
    """The bindings of a hit, with the left document's strings instead of their positions.

    A slice may still have a leaf whose row was dropped, since no query reaches it any more: it is
    in no match.
    """
    string_at = dict(_leaves(left))
    return [
        tuple([string_at[one] if isinstance(one, LeafPosition) else one for one in binding])
        for binding in hit.bindings
        if all(one in string_at for one in binding if isinstance(one, LeafPosition))
    ]
