"""Slices of R_L: the leaves with one string, by position, in order of time (section 6.5)."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

from xscl.join_stage.in_process.signatures import LeafPosition

__all__ = ["ENTRY", "POSTING", "Posting", "Slice", "size_of"]

_SLICE = 250
POSTING = 350
ENTRY = 20
"""Estimated bytes."""


class Posting:
    """The documents with a string at one position, in order of time.

    Parts of it are taken, often hundreds of which none is visited; so they are bare numbers.
    """

    __slots__ = ("documents", "times")

    def __init__(self) -> None:
        self.times = array("q")
        self.documents = array("q")

    def add(self, document: int, time: int) -> None:
        """Adds a document, mostly at the end."""
        if not self.times or self.times[-1] <= time:
            self.times.append(time)
            self.documents.append(document)
            return
        index = bisect_right(self.times, time)
        self.times.insert(index, time)
        self.documents.insert(index, document)

    def remove(self, document: int, time: int) -> None:
        """Removes a document, mostly from the beginning."""
        index = bisect_left(self.times, time)
        while index < len(self.times) and self.times[index] == time:
            if self.documents[index] == document:
                del self.times[index], self.documents[index]
                return
            index += 1

    def find(self, document: int, time: int, begin: int, end: int) -> int | None:
        """The index of a document with this time in a part of it, None if it is not there."""
        index = bisect_left(self.times, time, begin, end)
        while index < end and self.times[index] == time:
            if self.documents[index] == document:
                return index - begin
            index += 1
        return None


Slice = dict[LeafPosition, Posting]


def size_of(of_string: Slice) -> int:
    """The estimated bytes of a slice."""
    postings = of_string.values()
    return _SLICE + sum(POSTING + ENTRY * len(posting.times) for posting in postings)
