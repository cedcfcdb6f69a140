"""How long documents are retained: exactly while a query can still reach them
(docs/semantics.md#documents-in-reach).

The bound is the windows of the queries that read a document's leaf paths (docs/laws.md#time).  So
documents are grouped by *shape*: those of one stream with the same leaf paths can be reached
equally long, and are dropped in order of time.  The composites of a derived stream are a shape,
too.

A stream may have a floor, too: its recent documents are retained whether or not a query reads them,
so that a later query finds them in its history.  A floor is bounded by time, back from the
watermark, and by the number of documents that nothing but the floor retains.

This is about whole documents; `join_stage.relational.retention` drops single rows of retained
documents, each as soon as its own leaf path cannot be reached.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import repeat
from math import inf
from typing import NamedTuple

__all__ = ["NO_LEAVES", "RETAINED", "DocumentShape", "Floor", "Retention", "Shape"]

Shape = Hashable
DocumentShape = tuple[str, frozenset[int]]
"""A stream and the leaf paths of a document's witnesses."""

NO_LEAVES = frozenset[int]()

RETAINED = 20_000
"""By default, the floor of a stream retains at most so many documents."""

_MANY = 10_000
"""The reach of so many shapes is cached."""


class Floor(NamedTuple):
    """How long (microseconds) documents of a stream are retained at least, before the watermark,
    and how many that no query reaches at most."""

    length: int
    most: int


class Retention:
    """The retained documents, by shape and time.

    `reach` returns how long (microseconds) before the watermark a shape can still be reached, None
    if no query reads it; the result is cached until `queries_changed`.
    """

    def __init__(self, reach: Callable[[Shape], int | None]) -> None:
        self._reach_of = reach
        self.floors: dict[str, Floor] = {}
        self._reaches: dict[Shape, int | None] = {}
        self._retained: dict[int, tuple[int, Shape]] = {}
        self._by_time: dict[Shape, list[tuple[int, int]]] = {}
        self._unsorted: set[Shape] = set()
        # Documents of one shape share one object: there are many of these.
        self._shapes: dict[Shape, Shape] = {}

    def __len__(self) -> int:
        return len(self._retained)

    def retain(self, number: int, time: int, shape: Shape) -> None:
        """Retains a document; one that is retained already changes its shape."""
        shape = self._shapes.setdefault(shape, shape)
        self._retained[number] = (time, shape)
        by_time = self._by_time.get(shape)
        entry = time, number
        if not by_time:
            self._by_time[shape] = [entry]
            return
        if entry < by_time[-1]:
            self._unsorted.add(shape)
        by_time.append(entry)

    def retain_many(self, numbers: Sequence[int], times: Sequence[int], shape: Shape) -> None:
        """Retains documents of a shape that are not retained yet."""
        shape = self._shapes.setdefault(shape, shape)
        self._retained.update(zip(numbers, zip(times, repeat(shape)), strict=False))
        by_time = self._by_time.setdefault(shape, [])
        entries = [*zip(times, numbers, strict=True)]
        if (by_time and entries[0] < by_time[-1]) or entries != sorted(entries):
            self._unsorted.add(shape)
        by_time += entries

    def keep_recent(self, stream: str, floor: Floor | None) -> None:
        """Sets or removes the floor of a stream."""
        self._reaches.clear()
        if floor is None:
            self.floors.pop(stream, None)
        else:
            self.floors[stream] = floor

    def queries_changed(self, moved: Mapping[int, int | None]) -> None:
        """To be called when queries have come or gone; leaf paths may have moved to others, or to
        None where no query needs them any more."""
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
                        if self._retained.get(number) == (time, shape):
                            self.retain(number, time, new)

    def reaches(self, number: int, watermark: int | None) -> bool:
        """Whether a document is retained and can be reached from the watermark."""
        if number not in self._retained:
            return False
        return self.would_reach(*self._retained[number], watermark)

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

    def withdraw(self, number: int) -> None:
        """Drops a document or composite before its time."""
        time, shape = self._retained.pop(number)
        by_time = self._by_time[shape]
        self._sort(shape)
        del by_time[bisect_left(by_time, (time, number))]
        if not by_time:
            self._drop_shape(shape)

    def expired(self, watermark: int | None) -> list[int]:
        """Drops what cannot be reached from the watermark, and what exceeds a floor; returns the
        numbers."""
        gone = self._above_floors(watermark) if self.floors else []
        retained = self._retained
        for shape, by_time in list(self._by_time.items()):
            reach = self._reach(shape)
            if reach is not None:
                if watermark is None:
                    continue
                self._sort(shape)
                passed = bisect_left(by_time, (watermark - reach,))
                over = by_time[:passed]
                del by_time[:passed]
            else:
                over, self._by_time[shape] = by_time, []
                by_time = self._by_time[shape]
            for time, number in over:
                known = retained.get(number)
                if known is not None and known[0] == time and known[1] == shape:
                    del retained[number]
                    gone.append(number)
            if not by_time:
                self._drop_shape(shape)
        return gone

    def _drop_shape(self, shape: Shape) -> None:
        self._unsorted.discard(shape)
        del self._by_time[shape]
        self._shapes.pop(shape, None)

    def _above_floors(self, watermark: int | None) -> list[int]:
        """Drops the earliest documents that nothing but a floor retains, where these are too
        many."""
        # A document that was retained again, as one that is read again is, has several entries.
        spare: dict[str, set[tuple[int, int]]] = {}
        for shape, by_time in self._by_time.items():
            match shape:
                case (str(stream), frozenset()) if stream in self.floors:
                    reach = self._reach_of(shape)
                    end = len(by_time)
                    if reach is not None:
                        if watermark is None:
                            continue
                        self._sort(shape)
                        end = bisect_left(by_time, (watermark - reach,))
                    spare.setdefault(stream, set()).update(
                        (time, number)
                        for time, number in by_time[:end]
                        if self._retained.get(number) == (time, shape)
                    )
        gone = []
        for stream, some in spare.items():
            over = len(some) - self.floors[stream].most
            if over > 0:
                gone += [number for _, number in sorted(some)[:over]]
        for number in gone:
            del self._retained[number]
        if gone:
            dropped = {*gone}
            for by_time in self._by_time.values():
                by_time[:] = [one for one in by_time if one[1] not in dropped]
        return gone

    def _sort(self, shape: Shape) -> None:
        if shape in self._unsorted:
            self._unsorted.discard(shape)
            self._by_time[shape].sort()

    def clear(self) -> list[int]:
        """Drops all retained documents; returns the numbers."""
        gone = [*self._retained]
        self._retained.clear()
        self._by_time.clear()
        self._unsorted.clear()
        self._shapes.clear()
        return gone

    def _reach(self, shape: Shape) -> int | None:
        reaches = self._reaches
        if shape not in reaches:
            if len(reaches) >= _MANY:
                reaches.clear()
            reach = self._reach_of(shape)
            match shape:
                case (str(stream), frozenset()) if (floor := self.floors.get(stream)) is not None:
                    reach = max(reach or 0, floor.length)
            reaches[shape] = reach
        return reaches[shape]
