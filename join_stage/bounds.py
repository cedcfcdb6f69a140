"""Counted bounds: the widest window among queries that come and go, without iterating over them.

The widest window of the queries concerned bounds how long rows are retained and how far they join
(docs/laws.md#time).  Adding or removing a query takes time logarithmic in the number of different
windows.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from xscl.join_stage.constraints import FOREVER, TimeConstraint

__all__ = ["Bounds", "Widest"]


class Widest:
    """A multiset of integers that knows its `largest`, 0 where it is empty.

    >>> windows = Widest()
    >>> windows.add(3), windows.add(7), windows.add(7), windows.remove(7), windows.largest
    (None, None, None, None, 7)
    >>> windows.remove(7), windows.largest
    (None, 3)
    """

    __slots__ = ("_counts", "_heap", "largest")

    def __init__(self) -> None:
        self.largest = 0
        # Removed values stay in the heap until they surface or outnumber the others; most multisets
        # never lose their largest value, and never have a heap.
        self._counts: dict[int, int] = {}
        self._heap: list[int] | None = None

    def __bool__(self) -> bool:
        return bool(self._counts)

    def __iter__(self) -> Iterator[int]:
        return iter(self._counts)

    def add(self, value: int) -> None:
        """Adds a value once more."""
        count = self._counts.get(value, 0)
        if not count:
            self.largest = max(value, self.largest) if self._counts else value
            if self._heap is not None:
                heapq.heappush(self._heap, -value)
        self._counts[value] = count + 1

    def remove(self, value: int) -> None:
        """Removes a value once; it must be present."""
        counts = self._counts
        counts[value] -= 1
        if counts[value]:
            return
        del counts[value]
        if self._heap is not None and len(self._heap) > 2 * len(counts):
            self._heap = None
        if value == self.largest:
            self.largest = self._surfaced() if counts else 0

    def _surfaced(self) -> int:
        if self._heap is None:
            self._heap = [-value for value in self._counts]
            heapq.heapify(self._heap)
        while -self._heap[0] not in self._counts:
            heapq.heappop(self._heap)
        return -self._heap[0]


class Bounds:
    """The widest (lo, wl) of the time constraints of some queries."""

    __slots__ = ("_unordered", "_windows")

    def __init__(self) -> None:
        self._windows = Widest()
        self._unordered = 0

    @property
    def widest(self) -> tuple[int, int]:
        """(lo, wl): what satisfies any of the constraints has dt > lo and |dt| <= wl."""
        return -FOREVER if self._unordered else 0, self._windows.largest

    def add(self, constraint: TimeConstraint) -> None:
        """Counts the constraint of a query."""
        self._windows.add(constraint.bounds[1])
        self._unordered += not constraint.after

    def remove(self, constraint: TimeConstraint) -> None:
        """Removes the constraint of a query."""
        self._windows.remove(constraint.bounds[1])
        self._unordered -= not constraint.after
