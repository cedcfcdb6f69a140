"""Cells: the parts of a stream that are joined apart from each other, by different tasks.

A document goes to each cell in which it may match something, and each match belongs to one cell,
the *owner*, in which all its documents are; the others that find it, too, pass it over.  So no task
waits for another, nothing is found twice, and neither a value that half of the documents have nor
a long stream is the work of one task.

`TimeSlices` are for matches that stay within some time: a slice has what comes in its time, and
before it what may still be reached from it.  `Subsets` are for all others: documents are dealt into
classes by a hash, and a cell has `width` of the classes, so that any `width` documents meet in one
(the fragments and replicates of a θ-join; Okcan and Riedewald, SIGMOD 2011).  `Keys` are for events
that match only with those of the same key: a cell has all documents of some keys.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil, comb

import numpy as np

from xscl.documents.attributes import number_of_text
from xscl.pattern_stage.values.terms import Attribute

__all__ = ["Cells", "Keys", "Place", "Subsets", "TimeSlices", "owns"]

Place = tuple[str, str]
"""The stream and the id of a document."""

_SLACK = 1_000_000
"""Microseconds by which a time in seconds, as a match has it, may be off for years far ahead."""


@dataclass(frozen=True)
class TimeSlices:
    """Slices of time: one before the first bound, one from each bound on.

    `reach` and the bounds are in microseconds."""

    bounds: Sequence[int]
    reach: int

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.bounds) + 1

    def of(self, document: Place, time: int) -> Sequence[int]:
        """The cells that a document goes to."""
        last = bisect_right(self.bounds, time + self.reach + _SLACK)
        return range(bisect_right(self.bounds, time), last + 1)

    def owner(self, documents: Iterable[Place], time: int) -> int:
        """The cell of a match of some documents and of a time."""
        return bisect_right(self.bounds, time)

    def owners(self, documents: Sequence[Place], rows: np.ndarray, times: np.ndarray) -> np.ndarray:
        """The cells of matches: of each the places of its documents among some, and its time."""
        return np.searchsorted(np.array(self.bounds, dtype=np.int64), times, side="right")


@dataclass(frozen=True)
class Subsets:
    """All choices of `width` out of some classes of documents."""

    classes: int
    width: int

    @classmethod
    def for_tasks(cls, tasks: int, width: int) -> Subsets:
        """Those that take the least time where so many tasks run in parallel."""

        def time(classes: int) -> float:
            return ceil(comb(classes, width) / tasks) * width / classes

        return cls(min(range(width, 4 * (width + tasks)), key=time), width)

    @property
    def count(self) -> int:
        """The number of cells."""
        return comb(self.classes, self.width)

    @cached_property
    def _cells(self) -> list[frozenset[int]]:
        return [frozenset(cell) for cell in combinations(range(self.classes), self.width)]

    @cached_property
    def _with(self) -> list[list[int]]:
        """The cells that have a class."""
        cells = list(enumerate(self._cells))
        return [[n for n, cell in cells if one in cell] for one in range(self.classes)]

    @cached_property
    def _owners(self) -> dict[frozenset[int], int]:
        return {}

    def of(self, document: Place, time: int) -> Sequence[int]:
        """The cells that a document goes to."""
        return self._with[self._class_of(document)]

    def owner(self, documents: Iterable[Place], time: int) -> int:
        """The cell of a match of some documents."""
        if self.classes == self.width:
            return 0
        return self._owner(frozenset(map(self._class_of, documents)))

    def owners(self, documents: Sequence[Place], rows: np.ndarray, times: np.ndarray) -> np.ndarray:
        """The cells of matches: of each the places of its documents among some, and its time."""
        if self.count == 1:
            return np.zeros(len(rows), dtype=np.int64)
        classes = np.array([self._class_of(one) for one in documents], dtype=np.int64)
        kinds, of_rows = np.unique(np.sort(classes[rows], axis=1), axis=0, return_inverse=True)
        owners = np.array([self._owner(frozenset(kind)) for kind in kinds.tolist()], dtype=np.int64)
        return owners[of_rows.ravel()]

    def _owner(self, classes: frozenset[int]) -> int:
        found = self._owners.get(classes)
        if found is None:
            found = next(n for n, cell in enumerate(self._cells) if classes <= cell)
            self._owners[classes] = found
        return found

    def _class_of(self, document: Place) -> int:
        return _hash("\0".join(document)) % self.classes


@dataclass(frozen=True)
class Keys:
    """Classes of the values of an attribute, of which each event has one."""

    key: Attribute
    count: int

    def of_key(self, value: str | None) -> Sequence[int]:
        """The cell that a document with this value goes to, None for none: one where values are
        equal, be it as text or as numbers."""
        number = _NaN if value is None else number_of_text(value)
        same = (value or "") if number != number else repr(number + 0.0)
        return (_hash(same) % self.count,)

    def owner(self, documents: Iterable[Place], time: int) -> int:
        """The cell that says of a document that it cannot be read."""
        return _hash("\0".join(next(iter(documents)))) % self.count


def _hash(text: str) -> int:
    return zlib.crc32(text.encode(errors="surrogatepass"))


_NaN = float("nan")

Cells = TimeSlices | Subsets | Keys


def owns(cells: Cells, cell: int, documents: Iterable[Place], time: int) -> bool:
    """Whether a match that a cell has found is its own; of keys, as a document is in one cell."""
    return isinstance(cells, Keys) or cells.owner(documents, time) == cell
