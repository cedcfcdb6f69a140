"""A bound on what each query may have: a Kleene plus under skip-till-any-match has 2^n − 1 runs
over n events, and no query may take the machine."""

from __future__ import annotations

__all__ = ["MOST", "Exceeded", "Tally"]

MOST = 1_000_000
"""So many matches may a query have in one step, and so many of what is pending or partial."""


class Exceeded(Exception):
    """Queries for which something is being built have been stopped."""


class Tally:
    """How many of something each query has, added up for all queries of a mask at once: of each
    binary digit the queries whose number has it."""

    def __init__(self) -> None:
        self._digits: list[int] = []

    def add(self, mask: int, many: int = 1) -> None:
        """So many more for the queries of a mask."""
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
