"""Queries that differ in how alike is enough: those that a likeness reaches, by bisection."""

from __future__ import annotations

from bisect import bisect_right

from xscl.join_stage.registry import Trie

__all__ = ["Thresholds"]


class Thresholds:
    """The rows of a place of R_T whose next column is a threshold, the last one, in its order: of
    those up to a likeness the places are found by bisection."""

    def __init__(self, at: Trie) -> None:
        # The place is retained: its identity is not used again meanwhile.
        self.at = at
        self._thresholds = sorted(at)
        self._rows: dict[tuple[int, int], Trie] = {}

    def reached(self, above: int, most: int) -> Trie:
        """The rows of thresholds above one number, and at most another."""
        place = bisect_right(self._thresholds, above), bisect_right(self._thresholds, most)
        rows = self._rows.get(place)
        if rows is None:
            rows = self._rows[place] = {}
            for threshold in self._thresholds[slice(*place)]:
                rows.update(self.at[threshold])
        return rows
