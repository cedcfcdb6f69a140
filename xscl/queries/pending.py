"""Matches that are found, but not reported before the watermark has passed what they need."""

from __future__ import annotations

from typing import NamedTuple

from xscl.times import to_seconds

__all__ = ["Pending"]


class Pending(NamedTuple):
    """How many matches of a query are pending, and the time (seconds) that the watermark has to
    pass for the last of them."""

    matches: int
    until: float

    @classmethod
    def of(cls, matches: int, until: int) -> Pending:
        """Given the time in microseconds."""
        return cls(matches, to_seconds(until))

    def joined(self, other: Pending | None) -> Pending:
        """Both together."""
        if other is None:
            return self
        return Pending(self.matches + other.matches, max(self.until, other.until))
