"""How long documents are held: exactly while a query can still reach them (section 4).

What bounds it is the windows of the queries that read a document's leaf paths (law 9), so
documents are kept by *shape*: those of one stream with the same leaf paths can be reached
equally long, and go in order of time.  The composites of a derived stream are a shape too.

This is of whole documents; `join_stage.relational.retention` lets go of single rows of those that
are held, each as long as its own leaf path can be reached.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import repeat
from math import inf

__all__ = ["NO_LEAVES", "DocumentShape", "Retention", "Shape"]

Shape = Hashable
DocumentShape = tuple[str, frozenset[int]]
"""A stream and the leaf paths of a document's witnesses."""

NO_LEAVES = frozenset[int]()

_MANY = 10_000
"""Of so many shapes it is remembered how long they can be reached."""


class Retention:
    """What is held, by shape and time.

    `reach` says how long (microseconds) before the watermark a shape can still be reached, None
    if no query reads it at all; what it says is remembered until `queries_changed`.
    """

    def __init__(self, reach: Callable[[Shape], int | None]) -> None:
        self._reach_of = reach
        self._reaches: dict[Shape, int | None] = {}
        self._held: dict[int, tuple[int, Shape]] = {}
        self._by_time: dict[Shape, list[tuple[int, int]]] = {}
        self._unsorted: set[Shape] = set()
        # Documents of one shape have it from one object: there are many of these.
        self._shapes: dict[Shape, Shape] = {}

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, number: int, time: int, shape: Shape) -> None:
        """Holds a document; one that is held already changes its shape."""
        shape = self._shapes.setdefault(shape, shape)
        self._held[number] = (time, shape)
        by_time = self._by_time.get(shape)
        entry = time, number
        if by_time is None:
            self._by_time[shape] = [entry]
            return
        if entry < by_time[-1]:
            self._unsorted.add(shape)
        by_time.append(entry)

    def hold_many(self, numbers: Sequence[int], times: Sequence[int], shape: Shape) -> None:
        """Holds documents of a shape that are not held."""
        shape = self._shapes.setdefault(shape, shape)
        self._held.update(zip(numbers, zip(times, repeat(shape)), strict=False))
        by_time = self._by_time.setdefault(shape, [])
        entries = [*zip(times, numbers, strict=True)]
        if (by_time and entries[0] < by_time[-1]) or entries != sorted(entries):
            self._unsorted.add(shape)
        by_time += entries

    def queries_changed(self, moved: Mapping[int, int | None]) -> None:
        """To be called when queries have come or gone; leaf paths may have moved to others, or
        to None where nobody asks for them any more."""
        self._reaches.clear()
        if not moved:
            return
        for shape in list(self._by_time):
            match shape:
                case (str(stream), frozenset() as leaves) if not leaves.isdisjoint(moved):
                    left = {moved.get(leaf, leaf) for leaf in leaves}
                    new = (stream, frozenset(leaf for leaf in left if leaf is not None))
                    self._shapes.pop(shape, None)
                    self._unsorted.discard(shape)
                    for time, number in self._by_time.pop(shape):
                        if self._held.get(number) == (time, shape):
                            self.hold(number, time, new)

    def reaches(self, number: int, watermark: int | None) -> bool:
        """Whether a document is held and can be reached from the watermark."""
        if number not in self._held:
            return False
        return self.would_reach(*self._held[number], watermark)

    def would_reach(self, time: int, shape: Shape, watermark: int | None) -> bool:
        """Whether a document of a time and shape could be reached from the watermark."""
        reach = self._reach(shape)
        return reach is not None and (watermark is None or time >= watermark - reach)

    def since(self, shape: Shape, watermark: int | None) -> float | None:
        """The time from which on a document of a shape can be reached from the watermark, None if
        at any."""
        reach = self._reach(shape)
        if reach is None:
            return inf
        return None if watermark is None else watermark - reach

    def expired(self, watermark: int | None) -> list[int]:
        """Lets go of what cannot be reached from the watermark; returns the numbers."""
        gone: list[int] = []
        held = self._held
        for shape, by_time in list(self._by_time.items()):
            reach = self._reach(shape)
            if reach is not None:
                if watermark is None:
                    continue
                if shape in self._unsorted:
                    self._unsorted.discard(shape)
                    by_time.sort()
                passed = bisect_left(by_time, (watermark - reach,))
                over = by_time[:passed]
                del by_time[:passed]
            else:
                over, self._by_time[shape] = by_time, []
                by_time = self._by_time[shape]
            for time, number in over:
                known = held.get(number)
                if known is not None and known[0] == time and known[1] == shape:
                    del held[number]
                    gone.append(number)
            if not by_time:
                self._unsorted.discard(shape)
                del self._by_time[shape]
                self._shapes.pop(shape, None)
        return gone

    def clear(self) -> list[int]:
        """Lets go of all that is held; returns the numbers."""
        gone = [*self._held]
        self._held.clear()
        self._by_time.clear()
        self._unsorted.clear()
        self._shapes.clear()
        return gone

    def _reach(self, shape: Shape) -> int | None:
        reaches = self._reaches
        if shape not in reaches:
            if len(reaches) >= _MANY:
                reaches.clear()
            reaches[shape] = self._reach_of(shape)
        return reaches[shape]
