"""The queries of one row of R_T: who lets a pair of documents through (Algorithm 3).

Queries of a row differ in their windows, in the first document that each sees, and in nothing
else.  They are kept by these, so that a pair is tested once for all queries that are alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from join_stage.constraints import TimeConstraint

__all__ = ["Audience"]


class Audience:
    """Queries by (lo, wl, since); each with whether it is alone.

    >>> queries = Audience()
    >>> queries.add(1, TimeConstraint(True, 5), since=0, alone=True)
    >>> queries.add(2, TimeConstraint(True, 9), since=3, alone=True)
    >>> [[*some] for some in queries.admitting(gap=4, dt=4, first=0)]
    [[1]]
    """

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        self._groups: dict[tuple[int, int, int], dict[int, bool]] = {}

    def add(self, query: int, constraint: TimeConstraint, *, since: int, alone: bool) -> None:
        """Adds a query."""
        self._groups.setdefault((*constraint.bounds, since), {})[query] = alone

    def remove(self, query: int, constraint: TimeConstraint, *, since: int) -> None:
        """Removes a query."""
        key = (*constraint.bounds, since)
        del self._groups[key][query]
        if not self._groups[key]:
            del self._groups[key]

    def admitting(self, gap: int, dt: int, first: int) -> Iterator[dict[int, bool]]:
        """The queries that let a pair through whose right side begins `gap` after the left one's
        end and ends `dt` after it, and whose smallest document is `first`."""
        distance = abs(dt)
        for (lo, wl, since), queries in self._groups.items():
            if gap > lo and distance <= wl and first >= since:
                yield queries
