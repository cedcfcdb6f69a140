"""SASE's figure 10: a second equivalence test in addition to the one that active instance stacks
are partitioned by (PAIS), evaluated in three ways that differ in nothing else.

*Selection* tests what construction has completed; *dynamic filtering* tests two events in
construction; *Multi-PAIS* has stacks for each of both tests, and its scan drops an event unless one
event of the component before it is in both of its stacks, but construction uses those of the first
test only, and the second is tested after it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from benchmarks.patterns.basic import in_order
from benchmarks.patterns.streams import Typed

__all__ = ["SecondTest"]

Step = tuple[int, int, int, int]
"""Tick, type, attr1, attr2."""
Stack = tuple[list[int], list[int]]
"""Ticks in order, and the other attribute's values."""


class SecondTest:
    """`SEQ(E1, E2, E3) WHERE [attr1] ∧ [attr2]` within so many ticks; `constructed` counts the
    sequences that are complete."""

    def __init__(
        self, within: int, way: Literal["selection", "Multi-PAIS", "dynamic filtering"]
    ) -> None:
        self.within, self.constructed = within, 0
        self.several, self.dynamic = way == "Multi-PAIS", way == "dynamic filtering"
        self.stacks: list[tuple[defaultdict[int, Stack], ...]] = [
            (defaultdict(_empty), defaultdict(_empty)) for _ in range(2)
        ]

    def prepare(self, events: Iterable[Typed]) -> list[Step]:
        """What `take` takes."""
        return [(event.tick, event.type, *event.values[:2]) for event in events]  # type: ignore[misc]

    def take(self, events: Sequence[Step]) -> int:
        """The number of matches that some events complete."""
        found = 0
        for tick, type_, first, second in sorted(events, key=in_order):
            if type_ > 3 or (type_ > 1 and not self._continues(tick, type_ - 2, first, second)):
                continue
            if type_ == 3:
                found += self._construct(tick, first, second)
                continue
            one, other = self.stacks[type_ - 1]
            _push(one[first], tick, second)
            if self.several:
                _push(other[second], tick, first)
        return found

    def _continues(self, tick: int, before: int, first: int, second: int) -> bool:
        one, other = self.stacks[before]
        ticks = self._live(one[first], tick)[0]
        if not ticks or not self.several:
            return bool(ticks)
        return not set(ticks).isdisjoint(self._live(other[second], tick)[0])

    def _live(self, stack: Stack, tick: int) -> Stack:
        """A stack without what has left the window."""
        if gone := bisect_right(stack[0], tick - self.within):
            del stack[0][:gone], stack[1][:gone]
        return stack

    def _construct(self, tick: int, first: int, second: int) -> int:
        found, dynamic = 0, self.dynamic
        ticks, values = self._live(self.stacks[0][0][first], tick)
        for later, value in zip(*self.stacks[1][0][first], strict=True):
            if dynamic and value != second:
                continue
            for place in range(bisect_left(ticks, later)):
                if dynamic and values[place] != second:
                    continue
                complete = (ticks[place], values[place]), (later, value), (tick, second)
                self.constructed += 1
                if complete[0][1] == complete[1][1] == complete[2][1]:
                    found += 1
        return found


def _empty() -> Stack:
    return [], []


def _push(stack: Stack, tick: int, value: int) -> None:
    stack[0].append(tick)
    stack[1].append(value)
