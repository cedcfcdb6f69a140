"""Ranges: the documents with an equal leaf that are in time, as parts of postings.

Which documents these are is two binary searches, by a rule for the two leaves' positions.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass

from join_stage.in_process.signatures import Transitions
from join_stage.in_process.slices import Posting

__all__ = ["PairRule", "PairRules", "Range"]


@dataclass(slots=True)
class Range:
    """Documents with an equal leaf: part of a posting, and where the pair of leaves leads to."""

    posting: Posting
    begin: int
    end: int
    following: Transitions

    @property
    def documents(self) -> array[int]:
        return self.posting.documents[self.begin : self.end]

    @property
    def times(self) -> array[int]:
        return self.posting.times[self.begin : self.end]


@dataclass(frozen=True, slots=True)
class PairRule:
    """When a leaf at another position may pair with this one (`after` < dt <= `until`), and the
    transitions to the state that the pair moves to."""

    after: int
    until: int
    following: Transitions

    def add(self, posting: Posting, time: int, to: list[Range]) -> None:
        """Adds the documents of a posting that a leaf of this time meets."""
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
            to.append(Range(posting, begin, end, self.following))


PairRules = tuple[PairRule | None, PairRule | None]
"""As the right one of a pair, and as the left one."""
