"""Channels: all the queries that a pair of documents satisfies, found once for many pairs
(docs/laws.md#channel-tuples).

Pairs with one outcome satisfy the same rows of R_T.  Which queries of these rows they satisfy
depends on the position of the pair among the queries' windows and first documents, which two binary
searches find.  So a pair's channel is looked up, never built for it.  A *channel tuple* is a
channel with a new document and all others that reach this channel, the membership component of
chapter 5.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from msgspec import Struct

from xscl.join_stage.audience import Queries
from xscl.join_stage.evaluator import Binding
from xscl.join_stage.in_process.signatures import Outcome
from xscl.join_stage.plan import Plan
from xscl.join_stage.registry import Registry

__all__ = ["Channel", "ChannelTuple", "Channels", "Part"]

_MOST_PARTS = 1_000_000
"""The maximal number of cached parts of channels."""


@dataclass(frozen=True, slots=True)
class Part:
    """Heads of a plan, and arrays of queries that have a match for each of them: sole disjuncts,
    and the others."""

    plan: Plan
    heads: Collection[Binding]
    sole: tuple[array[int], ...]
    others: tuple[array[int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """The parts that pairs of documents satisfy; queries that come and go do not change it.
    `all_sole` says that all are sole disjuncts."""

    parts: tuple[Part, ...]
    all_sole: bool

    def counts(self) -> Counter[int]:
        """The number of matches of each sole disjunct, for one pair."""
        counts: Counter[int] = Counter()
        for part in self.parts:
            matches = len(part.heads)
            for queries in part.sole:
                for query in queries:
                    counts[query] += matches
        return counts


class ChannelTuple(Struct, frozen=True):
    """A document, on the right side or on the left, others on the opposite one, and the channel of
    each of these pairs."""

    channel: Channel
    document: int
    others: Sequence[int]
    right: bool

    def pairs(self) -> Iterator[tuple[int, int]]:
        """The pairs of documents: left, right."""
        for other in self.others:
            yield (other, self.document) if self.right else (self.document, other)


@dataclass(slots=True, eq=False)
class _Limits:
    """The windows and the epochs of the queries of an outcome's rows, ascending, and its channels
    by the interval between them."""

    windows: list[int]
    epochs: list[int]
    channels: dict[tuple[int, bool, int], Channel]
    least: int
    epoch: int
    """The first window and the last epoch."""


class Channels:
    """The channels of outcomes, as queries are now."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._version = -1
        self._limits: dict[Outcome, _Limits] = {}
        self._cached = 0

    def settle(self) -> None:
        """Between batches: updates to the queries, and drops what exceeds the bounds."""
        if self._version != self._registry.version or self._cached > _MOST_PARTS:
            self._version = self._registry.version
            self._limits.clear()
            self._cached = 0

    def split(
        self,
        outcome: Outcome,
        document: int,
        time: int,
        others: Sequence[int],
        times: Sequence[int],
        *,
        right: bool,
        to: list[ChannelTuple],
    ) -> None:
        """Adds the channel tuples of a document, on the right side or on the left, and of others in
        order of time, which have one outcome."""
        limits = self._limits.get(outcome) or self._limits_of(outcome)
        first, last = time - times[0], time - times[-1]
        if (
            (first > 0 < last or first < 0 > last)
            and first <= limits.least >= -last
            and (limits.epoch <= 0 or (document >= limits.epoch and min(others) >= limits.epoch))
        ):
            # All are within the smallest window, and after the last epoch.
            later = first > 0 if right else first < 0
            channel = limits.channels.get((0, later, len(limits.epochs)))
            if channel is None:
                dt = first if right else -first
                channel = self._channel(outcome, limits, dt, document)
            if channel.parts:
                to.append(ChannelTuple(channel, document, others, right))
            return
        cuts = {0, len(times), bisect_left(times, time), bisect_right(times, time)}
        for window in limits.windows:
            cuts.add(bisect_left(times, time - window))
            cuts.add(bisect_right(times, time + window))
        in_order = sorted(cuts)
        for begin, end in pairwise(in_order):
            dt = time - times[begin] if right else times[begin] - time
            some = others if end - begin == len(others) else others[begin:end]
            for first, same in self._by_epoch(limits, document, some):
                channel = self._channel(outcome, limits, dt, first)
                if channel.parts:
                    to.append(ChannelTuple(channel, document, same, right))

    def _by_epoch(
        self, limits: _Limits, document: int, others: Sequence[int]
    ) -> Iterator[tuple[int, Sequence[int]]]:
        """The others, grouped by the queries that see them; with one of each group."""
        epochs = limits.epochs
        if not epochs or epochs[-1] <= 0:
            yield 0, others
            return
        by_rank: dict[int, list[int]] = {}
        for other in others:
            by_rank.setdefault(bisect_right(epochs, min(other, document)), []).append(other)
        for same in by_rank.values():
            yield min(same[0], document), same

    def _limits_of(self, outcome: Outcome) -> _Limits:
        audiences = self._registry.audiences
        bounds = {key for hit in outcome.final for row in hit.at for key in audiences[row]}
        windows = sorted({window for _, window, _ in bounds})
        epochs = sorted({since for _, _, since in bounds})
        limits = self._limits[outcome] = _Limits(windows, epochs, {}, windows[0], epochs[-1])
        return limits

    def _channel(self, outcome: Outcome, limits: _Limits, dt: int, first: int) -> Channel:
        key = (
            bisect_left(limits.windows, abs(dt)),
            dt > 0,
            bisect_right(limits.epochs, first),
        )
        channel = limits.channels.get(key)
        if channel is None:
            channel = limits.channels[key] = self._put_together(outcome, dt, first)
            self._cached += 1 + sum(len(part.sole) + len(part.others) for part in channel.parts)
        return channel

    def _put_together(self, outcome: Outcome, dt: int, first: int) -> Channel:
        parts = []
        for hit in outcome.final:
            admitted: list[Queries] = [
                queries
                for row in hit.at
                for queries in self._registry.audiences[row].admitting(dt, dt, first)
            ]
            if admitted:
                parts.append(
                    Part(
                        hit.program.plan,
                        hit.bindings,
                        tuple([queries.sole for queries in admitted if queries.sole]),
                        tuple([queries.others for queries in admitted if queries.others]),
                    )
                )
        return Channel(tuple(parts), not any(part.others for part in parts))
