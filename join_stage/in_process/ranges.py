"""Ranges: the documents with an equal leaf that are in time, as parts of postings.

Two binary searches find these documents, by a rule for the two leaves' positions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from xscl.join_stage.in_process.signatures import LeafPosition, Transitions
from xscl.join_stage.in_process.slices import Posting

__all__ = ["PairRule", "Range", "Rules"]

Range = tuple[Posting, int, int, Transitions]
"""Documents with an equal leaf: part of a posting, from an index to another, and the transitions of
the pair of leaves."""


@dataclass(frozen=True, slots=True)
class PairRule:
    """When a leaf at another position may pair with this one (`after` < dt <= `until`), which is
    then on the `right` side or on the left one, and the transitions to the state that the pair
    moves to."""

    after: int
    until: int
    following: Transitions
    right: bool

    def add(self, posting: Posting, time: int, to: list[Range]) -> None:
        """Adds the documents of a posting that a leaf with this time meets."""
        times = posting.times
        if not times:
            return
        after, until = time + self.after, time + self.until
        end = len(times)
        # Documents mostly come in order.
        if times[-1] > until:
            end = bisect_right(times, until)
        elif times[-1] <= after:
            return
        begin = 0 if times[0] > after else bisect_right(times, after, 0, end)
        if begin < end:
            to.append((posting, begin, end, self.following))


T = TypeVar("T")


class _Made(dict[LeafPosition, T]):
    """Values made from a position on first use."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[LeafPosition], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, position: LeafPosition) -> T:
        made = self[position] = self._make(position)
        return made


class Rules(_Made[_Made[list[PairRule]]]):
    """The rules of two positions, as `make` makes them: first the new document's, then the
    other's."""

    def __init__(self, make: Callable[[LeafPosition, LeafPosition], list[PairRule]]) -> None:
        super().__init__(lambda leaf: _Made(partial(make, leaf)))
