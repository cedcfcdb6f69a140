"""The queries of one row of R_T: which of them admit a pair of documents (Algorithm 3).

Queries of a row differ only in their windows and in the first document that each sees.  They are
grouped by these, so that a pair is tested once for all equivalent queries.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from xscl.join_stage.constraints import TimeConstraint

__all__ = ["Audience", "Queries", "Seen"]

Seen = tuple[tuple[int, ...], int, int, int]
"""A pair of documents or composites, or a single document, as constraints see it: the right side
begins `gap` after the left one's end and ends `dt` after it, and `first` is the smallest
document."""


class Queries:
    """Equivalent queries, sole disjuncts and others, as compact arrays.  The arrays never change;
    an update makes new ones."""

    __slots__ = ("_members", "_others", "_sole")

    def __init__(self) -> None:
        # By number, whether it is a sole disjunct; mostly all are.
        self._members: dict[int, bool] = {}
        self._sole: array[int] | None = None
        self._others: array[int] | None = None

    def __bool__(self) -> bool:
        return bool(self._members)

    @property
    def sole(self) -> array[int]:
        """Queries that are one disjunct, whose matches no other query finds or reads."""
        if self._sole is None:
            members = self._members
            self._sole = array(
                "q", members if all(members.values()) else [q for q in members if members[q]]
            )
        return self._sole

    @property
    def others(self) -> array[int]:
        """Disjuncts of several, and queries whose matches another query reads."""
        if self._others is None:
            members = self._members
            self._others = array(
                "q", () if all(members.values()) else [q for q in members if not members[q]]
            )
        return self._others

    def add(self, query: int, *, sole_disjunct: bool) -> None:
        """Adds a query."""
        self._members[query] = sole_disjunct
        self._sole = self._others = None

    def remove(self, query: int) -> None:
        """Removes a query."""
        del self._members[query]
        self._sole = self._others = None


class Audience:
    """Queries by (lo, wl, since).

    >>> queries = Audience()
    >>> queries.add(1, TimeConstraint(True, 5), since=0, sole_disjunct=True)
    >>> queries.add(2, TimeConstraint(True, 9), since=3, sole_disjunct=True)
    >>> [some.sole.tolist() for some in queries.admitting(gap=4, dt=4, first=0)]
    [[1]]
    """

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        self._groups: dict[tuple[int, int, int], Queries] = {}

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return iter(self._groups)

    def add(
        self, query: int, constraint: TimeConstraint, *, since: int, sole_disjunct: bool
    ) -> None:
        """Adds a query."""
        key = (*constraint.bounds, since)
        queries = self._groups.get(key)
        if queries is None:
            queries = self._groups[key] = Queries()
        queries.add(query, sole_disjunct=sole_disjunct)

    def remove(self, query: int, constraint: TimeConstraint, *, since: int) -> None:
        """Removes a query."""
        key = (*constraint.bounds, since)
        self._groups[key].remove(query)
        if not self._groups[key]:
            del self._groups[key]

    def admitting(self, gap: int, dt: int, first: int) -> Iterator[Queries]:
        """The queries that admit a pair whose right side begins `gap` after the left one's end and
        ends `dt` after it, and whose smallest document is `first`."""
        distance = abs(dt)
        for (lo, wl, since), queries in self._groups.items():
            if gap > lo and distance <= wl and first >= since:
                yield queries

    def admitted(self, seen: Sequence[Seen]) -> Iterator[tuple[Queries, list[tuple[int, ...]]]]:
        """The queries that admit any of some pairs, each with those pairs."""
        for (lo, wl, since), queries in self._groups.items():
            through = [
                documents
                for documents, gap, dt, first in seen
                if gap > lo and -wl <= dt <= wl and first >= since
            ]
            if through:
                yield queries, through
