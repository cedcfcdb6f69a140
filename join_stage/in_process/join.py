"""The value join in process: for documents that come singly (docs/laws.md#two-value-joins;
Algorithms 4 and 5).

A document's equal leaves are looked up in the view cache, within the windows of their value joins.
So each document that has anything in common with it reaches a state, and from that the result of
the conjunctive queries for the pair (docs/laws.md#signatures), and a channel
(docs/laws.md#channel-tuples).  Where a string is hot, thousands of pairs have only that leaf in
common: these are a range of the string's slice and are not visited one by one, except for those
that have more in common.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import cast

from xscl.join_stage.batch import Accepted, Batch, Layout, strings_of_rows
from xscl.join_stage.batch_join import Ranges, Wanted
from xscl.join_stage.evaluator import Binding
from xscl.join_stage.in_process.channels import Channel, Channels, ChannelTuple
from xscl.join_stage.in_process.crossing import Crossing
from xscl.join_stage.in_process.edges import Accepts, Edges
from xscl.join_stage.in_process.plain import hits_of_all
from xscl.join_stage.in_process.ranges import PairRule, Range, Rules
from xscl.join_stage.in_process.residual import Completed, Leaves, OpenPairs, ResidualTests
from xscl.join_stage.in_process.signatures import EMPTY, LeafPosition, Signatures
from xscl.join_stage.in_process.view_cache import LayoutPositions, ViewCache
from xscl.join_stage.plan import Plan
from xscl.join_stage.registry import Registry
from xscl.join_stage.relational.state import JoinState
from xscl.join_stage.strategies import Strategies
from xscl.join_stage.tokens import Measures

__all__ = ["InProcessJoin"]

_LONG = 8
"""A range with more than so many times as many documents as all others together is not visited one
by one."""

_WIDE = 64
"""For a document with more ranges than that, pairs may have too much in common for a signature."""

_LAYOUTS = 100_000
"""The maximal number of cached layouts."""

_UNSETTLED = 16
"""After so many documents, the caches are cut to their bounds."""

_EXCESSIVE = 300_000
"""A document with more equal leaves is joined in DuckDB."""


class _ExcessivePairs(Exception):
    """A document has more in common with others than is joined in process."""


class InProcessJoin:
    """The documents of one engine that are joined in process, and the result of the last batch.

    `documents` counts the joined ones; `tokens` are those of strings that were split.
    """

    def __init__(
        self, registry: Registry, state: JoinState, measures: Measures, strategies: Strategies
    ) -> None:
        self._registry = registry
        self._accepts = Accepts()
        self._edges = Edges(registry, self._accepts)
        self._signatures = Signatures(registry, self._edges, strategies.memory)
        self._cache = ViewCache(state, self._signatures.position, strategies.memory)
        self._channels = Channels(registry)
        self._residual = ResidualTests(registry, self._accepts, state, self._cache, measures)
        self.tokens = self._residual.tokens
        self._crossing = Crossing(registry, self._accepts, state, self.tokens)
        self._strategies = strategies
        self.documents = 0
        self.tuples: list[ChannelTuple] = []
        self._open: list[OpenPairs] = []
        self._new: dict[int, Leaves] = {}
        self._counted: Sequence[Completed] | None = None
        # By layout and by position, for the current queries.
        self._layouts: dict[Layout, LayoutPositions] = {}
        self._rules = Rules(self._rules_of)
        self._version = (-1, -1)
        # The sum of the versions for which it is settled, which only grow; and the number of
        # documents since.
        self._settled = -1
        # The sum of the versions of queries and accepts, for those without an equality.
        self._queries_as = -1
        self._came = 0

    # Batches

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Adds the new accepts of leaf paths."""
        self._accepts.add(accepts)

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """Applies changes of leaf paths between batches."""
        self._crossing.clear()
        self._accepts.change(gone, moved)
        if moved or unvalued:
            self._cache.clear()

    def join(self, batch: Batch) -> bool:
        """Joins a batch with all retained documents, and within itself; returns False, with no
        matches, where a document has too much in common with others."""
        # Of documents that come singly, only some check the bounds.
        registry = self._registry
        as_now = registry.version + self._accepts.version + self._cache.version
        if as_now != self._settled or self._came >= _UNSETTLED:
            self.settle()
        self._came += len(batch.times)
        self._residual.note(batch)
        if registry.orders:
            self._residual.note_values(batch)
        self._find_nothing()
        if registry.crossing:
            self._crossing.begin()
        if self._cache.holes:
            self._cache.fill(
                strings[position]
                for _, layout, strings in batch.witnesses
                for position in self._positions_of(layout).places
            )
        try:
            for document, layout, strings in batch.witnesses:
                self._join(document, layout, strings)
                if registry.crossing:
                    self._crossing.add(document, batch.times[document], layout, strings)
        except _ExcessivePairs:
            self._cache.clear()
            self._crossing.clear()
            self._find_nothing()
            return False
        if registry.crossing and self._crossing.pairs:
            self._cross(self._crossing.pairs, batch.times)
        if batch.strings:
            self._cache.reached(batch.strings[-1][0])
        self.documents += len(batch.documents)
        return True

    def _cross(self, pairs: Sequence[OpenPairs], times: Mapping[int, int]) -> None:
        """Records what holds for pairs without an equality; those of composites stay open."""
        plain: list[OpenPairs] = []
        for some in pairs:
            (hit,) = some.hits
            (self._open if any(hit.program.plan.composite) else plain).append(some)
        times_of = self._residual.times
        for some, outcome, others in self._residual.outcomes(plain):
            ends = [times_of[other] for other in others]
            document = some.document
            self._channels.split(
                outcome, document, times[document], others, ends, right=some.right, to=self.tuples
            )

    @property
    def crossed(self) -> bool:
        """Whether plans without an equality, too, were joined without DuckDB for the last batch."""
        return not self._registry.crossing or self._crossing.pairs is not None

    def follow(self, batch: Batch) -> None:
        """Adds a batch that was joined in DuckDB, and finds nothing."""
        self._residual.note(batch)
        self._crossing.clear()
        self._cache.note_new(batch.string_numbers)
        self._find_nothing()

    def clear(self) -> None:
        """Drops all leaves: retained documents were read again."""
        self._cache.clear()
        self._crossing.clear()

    def evict(self, watermark: int | None, documents: Sequence[int], *, exact: bool) -> None:
        """Drops documents and composites; others are evicted as the cache fills up."""
        if documents:
            self._cache.drop(documents)
            self._crossing.drop(documents, self._residual.times)
            self._residual.drop(documents)

    def drop_strings(self, strings: Sequence[int]) -> None:
        """Drops strings that nothing stores any more."""
        self._cache.collected(strings)
        self.tokens.drop(strings)

    def settle(self) -> None:
        """Updates to the queries, and keeps to the bounds of the memory."""
        if self._signatures.settle(changed=self._edges.settle()):
            self._cache.clear()
        if self._queries_as != self._registry.version + self._accepts.version:
            self._queries_as = self._registry.version + self._accepts.version
            self._crossing.follow()
            if not self._registry.orders:
                self.tokens.clear()
        self._channels.settle()
        self._cache.shrink()
        version = (self._signatures.version, self._cache.version)
        if version != self._version or len(self._layouts) > _LAYOUTS:
            self._version = version
            self._layouts.clear()
            self._rules.clear()
        self._settled = self._registry.version + self._accepts.version + self._cache.version
        self._came = 0

    def sizes(self) -> dict[str, int]:
        """The sizes of the view cache and the memo, for `Engine.stats`."""
        self.settle()
        cache = self._cache
        return {"slices": len(cache), "bytes": cache.bytes, "signatures": len(self._signatures)}

    def joined(self) -> dict[str, int]:
        """Counts of documents, slices and pairs so far, for `Engine.stats`."""
        return {
            "documents": self.documents,
            "hits": self._cache.hits,
            "misses": self._cache.misses,
            "evicted": self._cache.evicted,
            "pairs": self._signatures.pairs,
            "plain_pairs": self._signatures.plain,
            "evaluated": self._signatures.new,
        }

    def _find_nothing(self) -> None:
        self.tuples, self._open, self._new = [], [], {}
        self._counted = None

    def _join(self, document: int, layout: Layout, strings: tuple[int | None, ...]) -> None:
        time = self._residual.times[document]
        positions = self._layouts.get(layout) or self._positions_of(layout)
        met = self._cache.enter(document, time, positions, strings)
        if met:
            lefts: list[Range] = []
            rights: list[Range] = []
            for leaf, of_string in met:
                rules = self._rules[leaf]
                for other, posting in of_string.items():
                    for rule in rules[other]:
                        rule.add(posting, time, lefts if rule.right else rights)
            if lefts:
                self._pair(document, time, lefts, right=True)
            if rights:
                self._pair(document, time, rights, right=False)
            self._cache.add(document, time, met)
        if self._registry.filters:
            of_rows = strings if positions.in_order else strings_of_rows(layout, strings)
            self._new[document] = list(zip(positions.positions, of_rows, strict=True))

    def _positions_of(self, layout: Layout) -> LayoutPositions:
        positions = self._layouts.get(layout)
        if positions is None:
            positions = self._layouts[layout] = self._cache.layout_positions(
                layout, self._edges.joins
            )
        return positions

    def _rules_of(self, leaf: LeafPosition, other: LeafPosition) -> list[PairRule]:
        """The rules of equal leaves at two positions, from an edge's lo < dt and |dt| <= wl."""
        rules: list[PairRule] = []
        edge = self._edges.between(other.path, leaf.path)
        if edge is not None:
            until = -1 if edge.lo >= 0 else edge.wl
            following = self._signatures.transitions(other, leaf)
            rules.append(PairRule(-edge.wl - 1, until, following, right=True))
        edge = self._edges.between(leaf.path, other.path)
        if edge is not None:
            after = 0 if edge.lo >= 0 else -edge.wl - 1
            following = self._signatures.transitions(leaf, other)
            rules.append(PairRule(after, edge.wl, following, right=False))
        return rules

    def _pair(self, document: int, time: int, ranges: list[Range], *, right: bool) -> None:
        """Pairs a document with the documents of some ranges."""
        signatures = self._strategies.signatures and self._signatures.pay
        if len(ranges) == 1 and signatures:
            ((posting, begin, end, following),) = ranges
            others, times = posting.documents[begin:end], posting.times[begin:end]
            self._record(document, time, others, times, following[EMPTY], right=right)
            return
        lengths = [end - begin for _, begin, end, _ in ranges]
        one_by_one, longest = sum(lengths), max(lengths)
        hot: Range | None = None
        if self._strategies.ranges and longest > _LONG * (one_by_one - longest):
            hot = ranges[lengths.index(longest)]
            one_by_one -= longest
        if one_by_one > _EXCESSIVE:
            raise _ExcessivePairs
        if len(ranges) > _WIDE or not signatures:
            self._pair_plainly(document, ranges, right=right)
            return
        states: dict[int, int] = {}
        for one in ranges:
            if one is not hot:
                posting, begin, end, following = one
                for other in posting.documents[begin:end]:
                    states[other] = following[states.get(other, EMPTY)]
        if hot is not None:
            self._pair_range(document, time, hot, states, right=right)
        if not states:
            return
        times_of = self._residual.times
        by_state: dict[int, list[int]] = {}
        for other, state in states.items():
            by_state.setdefault(state, []).append(other)
        for state, same in by_state.items():
            if len(same) > 1:
                same.sort(key=times_of.__getitem__)
            ends = [times_of[one] for one in same]
            self._record(document, time, same, ends, state, right=right)

    def _pair_range(
        self, document: int, time: int, hot: Range, states: dict[int, int], *, right: bool
    ) -> None:
        """Pairs a document with documents of which most have only a hot string in common with it;
        those that have more in common move to their next states."""
        times = self._residual.times
        posting, begin, end, following = hot
        others, ends = posting.documents[begin:end], posting.times[begin:end]
        more: list[int] = []
        for other in states:
            index = posting.find(other, times[other], begin, end)
            if index is not None:
                states[other] = following[states[other]]
                more.append(index)
        for index in sorted(more, reverse=True):
            del others[index], ends[index]
        self._record(document, time, others, ends, following[EMPTY], right=right)

    def _pair_plainly(self, document: int, ranges: list[Range], *, right: bool) -> None:
        equals = (
            (posting.documents[begin:end], *following.positions)
            for posting, begin, end, following in ranges
        )
        for other, hits in hits_of_all(self._registry, self._edges, equals):
            self._open.append(OpenPairs(document, (other,), right, hits))
            self._signatures.plain += 1

    def _record(
        self,
        document: int,
        time: int,
        others: Sequence[int],
        times: Sequence[int],
        state: int,
        *,
        right: bool,
    ) -> None:
        """Records the queries that a document and others, in order of time, satisfy; their pairs
        are in one state."""
        if not others:
            return
        outcome = self._signatures.outcome(state, len(others))
        if outcome.final:
            self._channels.split(
                outcome, document, time, others, times, right=right, to=self.tuples
            )
        if outcome.open:
            self._open.append(OpenPairs(document, others, right, outcome.open))

    # Matches

    def outputs(self, wanted: Wanted) -> Iterator[Ranges]:
        """The matches of the last batch, or some of them."""
        tuples = self.tuples
        if wanted is not Wanted.ALL:
            tuples = [one for one in tuples if not one.channel.all_sole]
        if not (tuples or self._open or self._new):
            return iter(())
        by_plan: dict[str, Ranges] = {}

        def add(
            plan: Plan,
            arrays: Iterable[array[int]],
            documents: Sequence[tuple[int, ...]],
            heads: Collection[Binding],
        ) -> None:
            ranges = by_plan.setdefault(plan.id, Ranges(plan, [])).ranges
            nodes = [cast(tuple[int, ...], head) for head in heads]
            ranges += [(queries, documents, nodes) for queries in arrays if queries]

        for one in tuples:
            for part in one.channel.parts:
                arrays = (*part.sole, *part.others) if wanted is Wanted.ALL else part.others
                if arrays:
                    add(part.plan, arrays, [*one.pairs()], part.heads)
        sole = wanted is not Wanted.BUT_SOLE_DISJUNCTS
        audiences = self._registry.audiences
        counted, self._counted = self._counted, None
        for completed in self._completed() if counted is None else counted:
            for row in completed.rows:
                for queries, documents in audiences[row].admitted(completed.seen):
                    arrays = (queries.sole, queries.others) if sole else (queries.others,)
                    add(completed.plan, arrays, documents, completed.heads)
        return (outputs for outputs in by_plan.values() if outputs.ranges)

    def counts(self) -> Counter[int]:
        """The number of matches of the last batch, by query, of the sole disjuncts."""
        pairs: Counter[Channel] = Counter()
        for one in self.tuples:
            pairs[one.channel] += len(one.others)
        counts: Counter[int] = Counter()
        for channel, times in pairs.items():
            for query, matches in channel.counts().items():
                counts[query] += times * matches
        audiences = self._registry.audiences
        # Some outputs are needed after counting: they are completed once.
        self._counted = [*self._completed()]
        for completed in self._counted:
            matches = len(completed.heads)
            for row in completed.rows:
                for queries, documents in audiences[row].admitted(completed.seen):
                    for query in queries.sole:
                        counts[query] += matches * len(documents)
        return counts

    def _completed(self) -> Iterable[Completed]:
        return self._complete() if self._open or self._new else ()

    def _complete(self) -> Iterator[Completed]:
        for document, leaves in self._new.items():
            yield from self._residual.filtered(document, leaves)
        yield from self._residual.completed(self._open)
