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
from dataclasses import dataclass
from typing import cast

import duckdb

from join_stage.batch import Batch, Leaf
from join_stage.channels import Channel, Channels, ChannelTuple
from join_stage.completion import Completed, Completion, Leaves, OpenPair
from join_stage.edges import Accepts, Edges
from join_stage.plain import hits_of_all
from join_stage.plan import Plan
from join_stage.registry import Registry
from join_stage.signatures import EMPTY, Place, Signatures
from join_stage.slices import Posting
from join_stage.state import JoinState
from join_stage.strategies import Strategies
from join_stage.view_cache import ViewCache

__all__ = ["ExcessivePairs", "InProcessJoin"]

_LONG = 32
"""A range of more documents than that is not looked at one by one."""

_WIDE = 64
"""Of a document with more ranges than that, pairs may have too much in common to give it a name."""

_EXCESSIVE = 300_000
"""So many equal leaves of one document are for DuckDB."""


class ExcessivePairs(Exception):
    """A document has more in common with others than is joined in process."""


@dataclass(frozen=True, slots=True)
class _Range:
    """Documents with an equal leaf: part of a posting; the places of the leaves on either side."""

    posting: Posting
    where: slice
    left: Place
    right: Place

    def __len__(self) -> int:
        return int(self.where.stop - self.where.start)

    @property
    def documents(self) -> list[int]:
        return self.posting.documents[self.where]


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
        self.signatures = Signatures(registry, self._edges, strategies.memory)
        self.cache = ViewCache(connection, state, self.signatures.place, strategies.memory)
        self._channels = Channels(registry)
        self._completion = Completion(connection, registry, accepts, state, self.cache)
        self._strategies = strategies
        self.documents = 0
        self.tuples: list[ChannelTuple] = []
        self._open: list[OpenPair] = []
        self._new: dict[int, Leaves] = {}

    # What comes.

    def join(self, batch: Batch) -> None:
        """Joins a batch with all that is held, and within itself.

        Raises ExcessivePairs; then nothing is found, and the cache is empty.
        """
        self.note(batch)
        self.settle()
        self._completion.begin(batch)
        self.tuples, self._open, self._new = [], [], {}
        if len(batch) > 1:
            joins = self._edges.joins
            rows = zip(batch.witnesses.paths, batch.witnesses.strings, strict=True)
            self.cache.fill({string for path, string in rows if string is not None and joins(path)})
        try:
            for document, leaves in batch.leaves():
                self._join(document, leaves)
        except ExcessivePairs:
            self.cache.came(batch.witnesses.strings)
            self.cache.clear()
            raise
        self.documents += len(batch.documents)

    def settle(self) -> None:
        """Follows the queries, and lets go of what is too much."""
        if self.signatures.settle(changed=self._edges.settle()):
            self.cache.clear()
        self._channels.settle()
        self.cache.shrink()

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
            (leaf, string)
            for leaf, string in placed
            if string is not None and string >= 0 and joins(leaf.path)
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
        between = self._edges.between
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
                        lefts.append(_Range(posting, where, other, leaf))
                edge = between(leaf.path, other.path)
                if edge is not None:
                    after = time if edge.lo >= 0 else time - edge.wl - 1
                    where = posting.between(after, time + edge.wl)
                    if where.start < where.stop:
                        rights.append(_Range(posting, where, leaf, other))
        return lefts, rights

    def _pair(self, document: int, time: int, ranges: list[_Range], *, right: bool) -> None:
        """Finds what a document has in common with those of some ranges."""
        longest: _Range | None = max(ranges, key=len)
        assert longest is not None
        if not self._strategies.ranges or len(longest) <= _LONG:
            longest = None
        if sum(map(len, ranges)) - (0 if longest is None else len(longest)) > _EXCESSIVE:
            raise ExcessivePairs
        if len(ranges) > _WIDE or not self._strategies.signatures or not self.signatures.pay:
            self._pair_plainly(document, ranges, right=right)
            return
        states: dict[int, int] = {}
        for one in ranges:
            if one is not longest:
                following = self.signatures.transitions(one.left, one.right)
                for other in one.documents:
                    states[other] = following[states.get(other, EMPTY)]
        times = self._completion.times
        if longest is not None:
            self._pair_range(document, time, longest, states, right=right)
        by_state: dict[int, list[int]] = {}
        for other, state in states.items():
            by_state.setdefault(state, []).append(other)
        for state, others in by_state.items():
            if len(others) > 1:
                others.sort(key=times.__getitem__)
            self._tell(document, time, others, [times[one] for one in others], state, right=right)

    def _pair_range(
        self, document: int, time: int, hot: _Range, states: dict[int, int], *, right: bool
    ) -> None:
        """Documents that have only a hot string in common with one; those that have more come to
        their next states."""
        times = self._completion.times
        following = self.signatures.transitions(hot.left, hot.right)
        others, ends = hot.documents, hot.posting.times[hot.where]
        more: list[int] = []
        for other in states:
            index = hot.posting.find(other, times[other], hot.where)
            if index is not None:
                states[other] = following[states[other]]
                more.append(index)
        for index in sorted(more, reverse=True):
            del others[index], ends[index]
        self._tell(document, time, others, ends, following[EMPTY], right=right)

    def _pair_plainly(self, document: int, ranges: list[_Range], *, right: bool) -> None:
        equals = ((one.documents, one.left, one.right) for one in ranges)
        for other, hits in hits_of_all(self._registry, self._edges, equals):
            left, opposite = (other, document) if right else (document, other)
            self._open.append(OpenPair(left, opposite, hits))
            self.signatures.plain += 1

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

    def rows(self, *, alone: bool, channels: bool) -> Iterator[tuple[Plan, list[tuple[int, ...]]]]:
        """The matches of the last batch, by plan: query, documents, codes, strings; those of
        queries that are `alone` too, in channels only with `channels`."""
        by_plan: dict[str, tuple[Plan, list[tuple[int, ...]]]] = {}
        for one in self.tuples:
            for part in one.channel.parts:
                arrays = (*part.alone, *part.others) if alone and channels else part.others
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
                    arrays = (queries.alone, queries.others) if alone else (queries.others,)
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
