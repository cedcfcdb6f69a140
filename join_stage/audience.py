"""The queries of one row of R_T: who lets a pair of documents through (Algorithm 3).

Queries of a row differ in their windows, in the first document that each sees, and in nothing
else.  They are kept by these, so that a pair is tested once for all queries that are alike.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from join_stage.constraints import TimeConstraint

__all__ = ["Audience", "Queries"]


class Queries:
    """Queries that are alike: those that are alone, and those that are one of several disjuncts,
    as compact arrays that never change; the next ones are new."""

    __slots__ = ("_alone", "_members", "_others")

    def __init__(self) -> None:
        # By number, whether it is alone; mostly all are.
        self._members: dict[int, bool] = {}
        self._alone: array[int] | None = None
        self._others: array[int] | None = None

    def __bool__(self) -> bool:
        return bool(self._members)

    @property
    def alone(self) -> array[int]:
        """Those whose matches no other query can have."""
        if self._alone is None:
            members = self._members
            self._alone = array(
                "q", members if all(members.values()) else [q for q in members if members[q]]
            )
        return self._alone

    @property
    def others(self) -> array[int]:
        """Those that are one of several disjuncts, or whose matches somebody reads."""
        if self._others is None:
            members = self._members
            self._others = array(
                "q", () if all(members.values()) else [q for q in members if not members[q]]
            )
        return self._others

    def add(self, query: int, *, alone: bool) -> None:
        """Adds a query."""
        self._members[query] = alone
        self._alone = self._others = None

    def remove(self, query: int) -> None:
        """Removes a query."""
        del self._members[query]
        self._alone = self._others = None


class Audience:
    """Queries by (lo, wl, since).

    >>> queries = Audience()
    >>> queries.add(1, TimeConstraint(True, 5), since=0, alone=True)
    >>> queries.add(2, TimeConstraint(True, 9), since=3, alone=True)
    >>> [some.alone.tolist() for some in queries.admitting(gap=4, dt=4, first=0)]
    [[1]]
    """

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        self._groups: dict[tuple[int, int, int], Queries] = {}

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return iter(self._groups)

    def add(self, query: int, constraint: TimeConstraint, *, since: int, alone: bool) -> None:
        """Adds a query."""
        key = (*constraint.bounds, since)
        queries = self._groups.get(key)
        if queries is None:
            queries = self._groups[key] = Queries()
        queries.add(query, alone=alone)

    def remove(self, query: int, constraint: TimeConstraint, *, since: int) -> None:
        """Removes a query."""
        key = (*constraint.bounds, since)
        self._groups[key].remove(query)
        if not self._groups[key]:
            del self._groups[key]

    def admitting(self, gap: int, dt: int, first: int) -> Iterator[Queries]:
        """The queries that let a pair through whose right side begins `gap` after the left one's
        end and ends `dt` after it, and whose smallest document is `first`."""
        distance = abs(dt)
        for (lo, wl, since), queries in self._groups.items():
            if gap > lo and distance <= wl and first >= since:
                yield queries
