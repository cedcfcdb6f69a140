"""The value join in process: for documents that come singly (law 10; Algorithms 4 and 5).

A document's equal leaves are looked up in the view cache, within the windows of what they may
mean; so each document that has anything in common with it comes to a state, and by that to what
the conjunctive queries leave of the pair (law 7), and to a channel (law 8).  Where a string is
hot, one leaf alone is common to thousands of pairs: these are a range of the string's slice, never
looked at one by one, but for those that have more in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

import duckdb

from join_stage.batch import Batch, Leaf
from join_stage.channels import Channel, Channels, ChannelTuple
from join_stage.completion import Completed, Completion, Leaves, OpenPair
from join_stage.edges import Accepts, Edges
from join_stage.plan import Plan
from join_stage.registry import Registry
from join_stage.signatures import EMPTY, Place, Signatures, Transitions
from join_stage.state import JoinState
from join_stage.strategies import Strategies
from join_stage.view_cache import Posting, ViewCache

__all__ = ["InProcessJoin"]

_LONG = 32
"""A range of more documents than that is not looked at one by one."""

_Range = tuple[Posting, slice, Transitions]
"""Documents with an equal leaf, and what states that brings them to."""


class InProcessJoin:
    """The documents of one engine that are joined in process, and what the last batch has found.

    `documents` counts those that were.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        registry: Registry,
        accepts: Accepts,
        state: JoinState,
        strategies: Strategies,
    ) -> None:
        self._registry = registry
        self._edges = Edges(registry, accepts)
        self.signatures = Signatures(registry, self._edges, memo=strategies.signatures)
        self.cache = ViewCache(connection, state, self.signatures.place, strategies.memory)
        self._channels = Channels(registry)
        self._completion = Completion(connection, registry, accepts, state, self.cache)
        self._long = _LONG if strategies.ranges else None
        self.documents = 0
        self.tuples: list[ChannelTuple] = []
        self._open: list[OpenPair] = []
        self._new: dict[int, Leaves] = {}

    # What comes.

    def join(self, batch: Batch) -> None:
        """Joins a batch with all that is held, and within itself."""
        self.note(batch)
        self.documents += len(batch.documents)
        self.signatures.settle(changed=self._edges.settle())
        self._channels.settle()
        self.cache.shrink()
        self._completion.begin(batch)
        self.tuples, self._open, self._new = [], [], {}
        for document, leaves in batch.leaves():
            self._join(document, leaves)

    def note(self, batch: Batch) -> None:
        """Notes the documents and composites of a batch, whoever joins it."""
        self._completion.note(batch)

    def drop(self, documents: Sequence[int]) -> None:
        """Documents and composites are no more."""
        self.cache.drop(documents)
        self._completion.drop(documents)

    def _join(self, document: int, leaves: Sequence[Leaf]) -> None:
        time = self._completion.times[document]
        place = self.signatures.place
        placed = [(place(path, chain), string) for path, chain, string in leaves]
        joins = self._edges.joins
        joining = [
            (leaf, string) for leaf, string in placed if string is not None and joins(leaf.path)
        ]
        lefts, rights = self._ranges(time, joining)
        if lefts:
            self._pair(document, time, lefts, right=True)
        if rights:
            self._pair(document, time, rights, right=False)
        self.cache.add(document, time, joining)
        self.cache.hold(document, time, placed)
        self._new[document] = placed

    def _ranges(
        self, time: int, leaves: Sequence[tuple[Place, int]]
    ) -> tuple[list[_Range], list[_Range]]:
        """The documents with equal leaves, to the left and to the right of one at a time."""
        lefts: list[_Range] = []
        rights: list[_Range] = []
        between, transitions = self._edges.between, self.signatures.transitions
        slices = self.cache.slices({string for _, string in leaves})
        for leaf, string in leaves:
            if string not in slices:
                continue
            for other, posting in slices[string].items():
                edge = between(other.path, leaf.path)
                if edge is not None:
                    # lo < time - t and |time - t| <= wl, lo being 0 or nothing.
                    until = time - 1 if edge.lo >= 0 else time + edge.wl
                    where = posting.between(time - edge.wl - 1, until)
                    if where.start < where.stop:
                        lefts.append((posting, where, transitions(other, leaf)))
                edge = between(leaf.path, other.path)
                if edge is not None:
                    after = time if edge.lo >= 0 else time - edge.wl - 1
                    where = posting.between(after, time + edge.wl)
                    if where.start < where.stop:
                        rights.append((posting, where, transitions(leaf, other)))
        return lefts, rights

    def _pair(self, document: int, time: int, ranges: list[_Range], *, right: bool) -> None:
        """Finds what a document has in common with those of some ranges."""
        longest: _Range | None = None
        if self._long is not None:
            longest = max(ranges, key=lambda one: one[1].stop - one[1].start)
            if longest[1].stop - longest[1].start <= self._long:
                longest = None
        states: dict[int, int] = {}
        for one in ranges:
            if one is not longest:
                posting, where, following = one
                for other in posting.documents[where]:
                    states[other] = following[states.get(other, EMPTY)]
        times = self._completion.times
        if longest is not None:
            posting, where, following = longest
            more = [other for other in states if posting.has(other, times[other], where)]
            for other in more:
                states[other] = following[states[other]]
            others, ends = posting.documents[where], posting.times[where]
            if more:
                others = [other for other in others if other not in states]
                ends = [times[other] for other in others]
            self._tell(document, time, others, ends, following[EMPTY], right=right)
        by_state: dict[int, list[int]] = {}
        for other, state in states.items():
            by_state.setdefault(state, []).append(other)
        for state, others in by_state.items():
            if len(others) > 1:
                others.sort(key=times.__getitem__)
            self._tell(document, time, others, [times[one] for one in others], state, right=right)

    def _tell(
        self,
        document: int,
        time: int,
        others: list[int],
        times: list[int],
        state: int,
        *,
        right: bool,
    ) -> None:
        """Notes what a document and others, in order of time, satisfy whose pairs are in a
        state."""
        outcome = self.signatures.outcome(state, len(others))
        if outcome.final:
            split = self._channels.split(outcome, document, time, others, times, right=right)
            self.tuples += split
        if outcome.open:
            for other in others:
                left, opposite = (other, document) if right else (document, other)
                self._open.append(OpenPair(left, opposite, outcome.open))

    # What it has found.

    def rows(self, *, but_alone: bool) -> Iterator[tuple[Plan, list[tuple[int, ...]]]]:
        """The matches of the last batch, by plan: query, documents, codes, strings."""
        by_plan: dict[str, tuple[Plan, list[tuple[int, ...]]]] = {}
        for one in self.tuples:
            for part in one.channel.parts:
                arrays = part.others if but_alone else (*part.alone, *part.others)
                if arrays:
                    found = by_plan.setdefault(part.plan.id, (part.plan, []))[1]
                    matches = [
                        (*pair, *cast(tuple[int, ...], head))
                        for pair in one.pairs()
                        for head in part.heads
                    ]
                    found += (
                        (q, *match) for queries in arrays for q in queries for match in matches
                    )
        audiences = self._registry.audiences
        for completed in self._completed():
            heads = [cast(tuple[int, ...], head) for head in completed.heads]
            found = by_plan.setdefault(completed.plan.id, (completed.plan, []))[1]
            for row in completed.rows:
                for queries in audiences[row].admitting(*completed.admitted):
                    arrays = (queries.others,) if but_alone else (queries.alone, queries.others)
                    found += (
                        (query, *completed.documents, *head)
                        for some in arrays
                        for query in some
                        for head in heads
                    )
        yield from by_plan.values()

    def counts(self) -> Counter[int]:
        """The number of matches of the last batch, by query, of those queries that are alone."""
        pairs: Counter[Channel] = Counter()
        for one in self.tuples:
            pairs[one.channel] += len(one.others)
        counts: Counter[int] = Counter()
        for channel, times in pairs.items():
            for query, matches in channel.counts().items():
                counts[query] += times * matches
        audiences = self._registry.audiences
        for completed in self._completed():
            matches = len(completed.heads)
            for row in completed.rows:
                for queries in audiences[row].admitting(*completed.admitted):
                    for query in queries.alone:
                        counts[query] += matches
        return counts

    def _completed(self) -> Iterator[Completed]:
        for document, leaves in self._new.items():
            yield from self._completion.filtered(document, leaves)
        yield from self._completion.completed(self._open)
