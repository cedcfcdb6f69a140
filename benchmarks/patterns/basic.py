"""SASE's basic sequence scan and construction: the baseline of its figures 8 and 9.

A runtime stack has an element for each event that the automaton reads, whatever its type: in each
state but the last it may stay.  From an event that reaches the last state a depth-first search goes
back from element to element, in each of which a state has one predecessor (it has stayed) or two
(the event has moved it), as far as the window goes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from benchmarks.patterns.streams import Typed

__all__ = ["BasicScan", "in_order"]


class BasicScan:
    """`SEQ(E1, …, EL)` within so many ticks, without any test."""

    def __init__(self, length: int, within: int) -> None:
        self.length, self.within = length, within
        self.ticks: list[int] = []
        self.types: list[int] = []

    def prepare(self, events: Iterable[Typed]) -> list[tuple[int, int]]:
        """What `take` takes."""
        return [(event.tick, event.type) for event in events]

    def take(self, events: Sequence[tuple[int, int]]) -> int:
        """The number of matches that some events complete; in any order, as the product does."""
        found, ticks, types, length = 0, self.ticks, self.types, self.length
        for tick, type_ in sorted(events, key=in_order):
            if type_ == length:
                found += self.back(len(ticks), length - 1, tick - self.within)
            ticks.append(tick)
            types.append(type_)
        if ticks and (old := bisect_right(ticks, ticks[-1] - self.within)):
            del ticks[:old], types[:old]
        return found

    def back(self, place: int, state: int, least: int) -> int:
        """The ways in which a state was reached before an element, after the tick `least`."""
        found, ticks, types = 0, self.ticks, self.types
        while place:
            place -= 1
            if ticks[place] <= least:
                break
            if types[place] == state:
                found += 1 if state == 1 else self.back(place, state - 1, least)
        return found


in_order: Any = itemgetter(0)
"""The key that puts events in order of time."""
