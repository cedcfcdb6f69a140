"""Events of a negated component, by what must be equal of them and a match, in order of time.

A match is forbidden by an event strictly inside its open interval for which the rest holds
(patterns-sase.md, section 3): two bisections of the times of one key.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from pattern_stage.automaton import Negated
from pattern_stage.layouts import Event
from pattern_stage.members import Members

__all__ = ["NegationIndex"]


class NegationIndex:
    """The events of one negated component, in order of arrival and time."""

    def __init__(self, negated: Negated, members: Members, indexed: bool = True) -> None:
        functions = members.functions
        self.negated = negated
        self._admitted = members.scan(negated.scan)
        self._key = functions[negated.key] if negated.key else None
        self._key_of = functions[negated.key_of] if negated.key_of else None
        self._holds = functions[negated.holds] if negated.holds else None
        self._indexed = indexed
        self._buckets: dict[object, tuple[list[int], list[tuple[Event, int, object]]]] = {}

    def copy(self) -> NegationIndex:
        """One that grows apart."""
        other = object.__new__(NegationIndex)
        other.__dict__ |= self.__dict__
        buckets = self._buckets.items()
        other._buckets = {key: ([*times], [*events]) for key, (times, events) in buckets}
        return other

    def __len__(self) -> int:
        return sum(len(times) for times, _ in self._buckets.values())

    def add(self, event: Event, mask: int) -> None:
        """Takes an event in, for those queries of a mask whose scan it passes."""
        mask = self._admitted(event, mask)
        if not mask:
            return
        key = None if self._key is None else self._key(event)
        if self._key is not None and key is None:
            return
        times, events = self._buckets.setdefault(key if self._indexed else None, ([], []))
        times.append(event[0])
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

    def forget(self, floor: int) -> None:
        """Drops the events that are not after a time."""
        for key, (times, events) in [*self._buckets.items()]:
            gone = bisect_right(times, floor)
            if gone == len(times):
                del self._buckets[key]
            elif gone:
                del times[:gone], events[:gone]
