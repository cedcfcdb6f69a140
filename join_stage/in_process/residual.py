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
from xscl.join_stage.in_process.completions import Completions, Key
from xscl.join_stage.in_process.edges import Accepts
from xscl.join_stage.in_process.signatures import Hit, LeafPosition, Outcome
from xscl.join_stage.in_process.thresholds import Thresholds
from xscl.join_stage.in_process.view_cache import ViewCache
from xscl.join_stage.plan import Plan
from xscl.join_stage.registry import Registry, Trie
from xscl.join_stage.relational.state import JoinState
from xscl.join_stage.tokens import Measures, Tokens

__all__ = ["Completed", "Leaves", "OpenPairs", "ResidualTests"]

Leaves = Sequence[tuple[LeafPosition, int | None]]

_BOUND = 10_000
"""The maximal number of outcomes that are known at a time."""

_Times = tuple[int, int, int, Collection[int]]
"""When a document or composite begins and ends, the smallest of its documents, and all of them."""

_VALUES = 100_000
"""The maximal number of strings' values that are cached for comparisons by order."""


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
        self._version = -1
        # By the identity of a place of R_T, and of what is the same for many pairs.
        self._thresholds: dict[int, Thresholds] = {}
        self._outcomes: dict[tuple[object, ...], tuple[Outcome, Hit]] = {}

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
        relations = self._relations(self._bound(leaves), Relation())
        for plan in self._registry.filters.values():
            rows_of_plan = self._registry.rows_of(plan)
            for rows, heads in program_of(plan).complete(rows_of_plan, [()], relations):
                yield Completed(plan, rows, heads, (((document,), FOREVER, 0, document),))

    def completed(self, pairs: Sequence[OpenPairs]) -> Iterator[Completed]:
        """The matches from the hits of some pairs."""
        completions = self._completions(pairs)
        for some in pairs:
            for hit in some.hits:
                seen = self._seen(some, hit.program.plan)
                by_key: dict[Key, list[Seen]] = {}
                for one in seen:
                    if (key := completions.key(hit, *one[0])) is not None:
                        by_key.setdefault(key, []).append(one)
                for key, same in by_key.items():
                    for rows, heads in completions.of(key, hit, *same[0][0]):
                        yield Completed(hit.program.plan, rows, heads, same)

    def outcomes(
        self, pairs: Sequence[OpenPairs]
    ) -> Iterator[tuple[OpenPairs, Outcome, list[int]]]:
        """Some pairs by what holds for them: the others that have one outcome with a document.  It
        is final, as conditions on composites are not among what is tested."""
        completions = self._completions(pairs)
        for some in pairs:
            (hit,) = some.hits
            by_key: dict[Key, list[int]] = {}
            for other in some.others:
                left, right = (other, some.document) if some.right else (some.document, other)
                if (key := completions.key(hit, left, right)) is not None:
                    by_key.setdefault(key, []).append(other)
            by_outcome: dict[Outcome, list[int]] = {}
            for key, same in by_key.items():
                pair = (same[0], some.document) if some.right else (some.document, same[0])
                outcome = self._outcome(hit, completions.of(key, hit, *pair))
                if outcome.final:
                    by_outcome.setdefault(outcome, []).extend(same)
            for outcome, same in by_outcome.items():
                same.sort(key=self.times.__getitem__)
                yield some, outcome, same

    def _outcome(self, hit: Hit, completed: Sequence[tuple[Trie, set[Binding]]]) -> Outcome:
        """The outcome of what was completed, the same for the same rows and heads."""
        key = (id(hit), *[(id(rows), frozenset(heads)) for rows, heads in completed])
        known = self._outcomes.get(key)
        if known is None:
            if len(self._outcomes) >= _BOUND:
                self._outcomes.clear()
            final = tuple([Hit(hit.program, rows, tuple(heads)) for rows, heads in completed])
            # The hit and the rows are retained with it: no identity is used again.
            known = self._outcomes[key] = Outcome(final, ()), hit
        return known[0]

    def _completions(self, pairs: Sequence[OpenPairs]) -> Completions:
        """How the hits of some pairs are completed, given what is retained now."""
        if self._version != self._registry.version:
            self._version = self._registry.version
            self._thresholds.clear()
            self._outcomes.clear()
        leaves = self._cache.leaves(_documents_of(pairs))
        if self._registry.crossing and self._registry.orders:
            strings = {string for one in leaves.values() for string in one.strings}
            if missing := [one for one in strings if one is not None and one not in self._values]:
                self._know(missing)
        return Completions(leaves, self._relations, self._bound)

    def _relations(self, left: Relation, right: Relation) -> Relations:
        return Relations(
            left=left,
            right=right,
            string=self._string,
            likeness=self._likeness,
            reached=self._reached,
        )

    def _reached(self, at: Trie, above: int, most: int) -> Trie:
        """The rows below thresholds that are above one number, and at most another."""
        known = self._thresholds.get(id(at))
        if known is None:
            known = self._thresholds[id(at)] = Thresholds(at)
        return known.reached(above, most)

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
