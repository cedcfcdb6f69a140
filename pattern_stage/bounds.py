"""A bound on each query's use of the machine: a Kleene plus under skip-till-any-match has 2^n − 1
runs over n events."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from xscl.pattern_stage.layouts import END, TypedEvent

__all__ = ["MOST", "Exceeded", "Tally", "epochs", "portions"]

MOST = 1_000_000
"""The maximal number of a query's matches in one step, and of its pending or partial ones."""

_PORTION = 256
_SHARE = 4096
"""A portion has so few events that a query has too many matches in it only where each event is in
so many."""


def portions(events: Iterable[TypedEvent], most: int) -> Iterator[tuple[int, list[TypedEvent]]]:
    """Events that a stage processes again, in order of time, a portion at a time: what is counted
    in each step is not to be more than it was.  With each the time before which all have come."""
    coming = sorted(events, key=_end)
    size = _size(most)
    for at in range(0, len(coming), size):
        after = coming[at + size : at + size + 1]
        time = _end(coming[min(at + size, len(coming)) - 1])
        yield (time - 1 if after and _end(after[0]) == time else time), coming[at : at + size]


def epochs(events: Sequence[TypedEvent], most: int) -> Iterator[Sequence[TypedEvent]]:
    """The same of events in order of time, where those of one time must not be taken apart."""
    at, size = 0, _size(most)
    while at < len(events):
        last = events[min(at + size, len(events)) - 1]
        end = bisect_right(events, _end(last), at, key=_end)
        yield events[at:end]
        at = end


def _size(most: int) -> int:
    return max(1, min(_PORTION, most // _SHARE))


def _end(coming: TypedEvent) -> int:
    return coming[1][END]  # type: ignore[no-any-return]


class Exceeded(Exception):
    """Queries for which something was being built have been stopped."""


class Tally:
    """The number of something for each query, added up for all queries of a mask together: for each
    binary digit the queries whose number has it."""

    def __init__(self) -> None:
        self._digits: list[int] = []

    def add(self, mask: int, many: int = 1) -> None:
        """Adds so many for the queries of a mask."""
        digits = self._digits
        first = 0
        while many:
            carry, place = mask if many & 1 else 0, first
            while carry:
                if place == len(digits):
                    digits.append(0)
                digits[place], carry = digits[place] ^ carry, digits[place] & carry
                place += 1
            if first == len(digits):
                digits.append(0)
            many >>= 1
            first += 1

    def over(self, most: int) -> int:
        """The queries that have more than `most`."""
        over, equal = 0, -1
        for place in reversed(range(max(len(self._digits), most.bit_length()))):
            digit = self._digits[place] if place < len(self._digits) else 0
            if most >> place & 1:
                equal &= digit
            else:
                over |= equal & digit
                equal &= ~digit
        return over
