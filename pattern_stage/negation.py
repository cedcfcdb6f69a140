"""Events of a negated component, by the values in which they must equal a match, in order of time.

A match is forbidden by an event strictly inside its open interval for which the rest holds
(docs/semantics.md#negated-components): two bisections of the times of one key.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from xscl.pattern_stage.automaton import Negated
from xscl.pattern_stage.layouts import END, Event
from xscl.pattern_stage.query_masks import QueryMasks

__all__ = ["NegationIndex"]

Buckets = dict[object, tuple[list[int], list[tuple[Event, int, object]]]]
"""By key the times of events, and these with the queries that see them and their keys."""


class NegationIndex:
    """The events of one negated component, in order of arrival and time."""

    def __init__(self, negated: Negated, members: QueryMasks, indexed: bool = True) -> None:
        functions = members.functions
        self.negated = negated
        self._admitted = members.scan(negated.scan)
        self._key = functions[negated.key] if negated.key else None
        self._key_of = functions[negated.key_of] if negated.key_of else None
        self._holds = functions[negated.holds] if negated.holds else None
        self._indexed = indexed
        self._buckets: Buckets = {}

    def snapshot(self) -> Buckets:
        """The events."""
        return {key: ([*times], [*events]) for key, (times, events) in self._buckets.items()}

    def restore(self, snapshot: Buckets) -> None:
        """Restores the events of a snapshot, which must not be used again."""
        self._buckets = snapshot

    def __len__(self) -> int:
        return sum(len(times) for times, _ in self._buckets.values())

    def add(self, event: Event, mask: int) -> None:
        """Adds an event, for those queries of a mask whose scan it passes."""
        mask = self._admitted(event, mask)
        if not mask:
            return
        key = None if self._key is None else self._key(event)
        if self._key is not None and key is None:
            return
        times, events = self._buckets.setdefault(key if self._indexed else None, ([], []))
        times.append(event[END])
        events.append((event, mask, key))

    def forbidden(self, events: list[Any], low: int | None, high: int, mask: int) -> int:
        """The queries of a mask for which an event between two times forbids a match."""
        key = None if self._key_of is None else self._key_of(events)
        bucket = self._buckets.get(key if self._indexed else None)
        if bucket is None:
            return 0
        times, entries = bucket
        first = 0 if low is None else bisect_right(times, low)
        forbidden = 0
        for place in range(first, bisect_left(times, high)):
            event, seeing, of = entries[place]
            if not seeing & mask & ~forbidden or of != key:
                continue
            if self._holds is None or self._holds(events, event):
                forbidden |= seeing & mask
                if forbidden == mask:
                    break
        return forbidden

    def evict(self, floor: int) -> None:
        """Drops the events that are not after a time."""
        for key, (times, events) in [*self._buckets.items()]:
            gone = bisect_right(times, floor)
            if gone == len(times):
                del self._buckets[key]
            elif gone:
                del times[:gone], events[:gone]
