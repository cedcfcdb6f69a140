"""Value joins: the equalities of two spines that queries require, each stored once.

A leaf's spines determine in which value joins it takes part, on the left or on the right side; the
widest window of the queries that have a value join bounds what is joined for it
(docs/laws.md#time).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xscl.join_stage.bounds import Bounds
from xscl.join_stage.constraints import TimeConstraint
from xscl.join_stage.journal import Journal

__all__ = ["ValueJoin", "ValueJoins"]


@dataclass(slots=True, eq=False)
class ValueJoin:
    """An equality of two spines, with the number of its uses in rows of R_T and the bounds of the
    queries that have it."""

    number: int
    spines: tuple[int, int]
    uses: int = 0
    bounds: Bounds = field(default_factory=Bounds)


class ValueJoins:
    """Value joins by the spines of their left and right leaves (`partners`).

    `joining` counts the value joins of each spine; `changes` are those to be written.
    """

    def __init__(self) -> None:
        self.partners: dict[int, dict[int, ValueJoin]] = {}
        self.joining: Counter[int] = Counter()
        self.changes: Journal[ValueJoin] = Journal()
        self._bounds = Bounds()
        self._next = 0

    def __len__(self) -> int:
        return sum(map(len, self.partners.values()))

    @property
    def bounds(self) -> tuple[int, int]:
        """The widest (lo, wl) of all."""
        return self._bounds.widest

    def of(self, spines: tuple[int, int]) -> ValueJoin:
        """The value join of two spines, a new one where there is none."""
        left, right = spines
        partners = self.partners.setdefault(left, {})
        join = partners.get(right)
        if join is None:
            join = partners[right] = ValueJoin(self._next, spines)
            self._next += 1
            self.joining[left] += 1
            self.joining[right] += 1
            self.changes.come(join.number, join)
        return join

    def use(self, joins: Sequence[ValueJoin]) -> None:
        """Adds a row of R_T that has these value joins."""
        for join in joins:
            join.uses += 1

    def release(self, joins: Sequence[ValueJoin]) -> None:
        """Removes a row of R_T that had these value joins."""
        for join in joins:
            join.uses -= 1
            if not join.uses:
                self._remove(join)

    def add(self, constraint: TimeConstraint, joins: Sequence[ValueJoin]) -> bool:
        """Counts the constraint of a query with these value joins; returns whether the bounds of
        any have changed."""
        if joins:
            self._bounds.add(constraint)
        return self._count(joins, Bounds.add, constraint)

    def remove(self, constraint: TimeConstraint, joins: Sequence[ValueJoin]) -> bool:
        """Removes the constraint of a query; returns whether the bounds of any have changed."""
        if joins:
            self._bounds.remove(constraint)
        return self._count(joins, Bounds.remove, constraint)

    def _count(
        self,
        joins: Sequence[ValueJoin],
        count: Callable[[Bounds, TimeConstraint], None],
        constraint: TimeConstraint,
    ) -> bool:
        changed = False
        for join in joins:
            bounds = join.bounds
            before = bounds.widest
            count(bounds, constraint)
            if bounds.widest != before:
                self.changes.change(join.number, join)
                changed = True
        return changed

    def _remove(self, join: ValueJoin) -> None:
        left, right = join.spines
        del self.partners[left][right]
        if not self.partners[left]:
            del self.partners[left]
        for spine in join.spines:
            self.joining[spine] -= 1
            if not self.joining[spine]:
                del self.joining[spine]
        self.changes.go(join.number, join)
