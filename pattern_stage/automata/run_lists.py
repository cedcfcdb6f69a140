"""The runs of a state, in order of start, as views that share what they have in common.

A run is `(start in microseconds, *register)`, with `keep` also the chain of its events.  Where an
arc adds the same integers to fields of all runs of a state, nothing is copied: the list beyond it
is the same one with another *shift*.  That is exact for fields that are always integers, and
changed by integer constants alone; of all others the shift is 0.  A list that changes in its older
runs alone continues with a view of the newer ones.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import itemgetter, neg
from typing import Any

__all__ = ["Run", "RunList", "RunShape", "Shift", "start_of"]

Run = tuple[Any, ...]

Shift = tuple[float, ...]
"""What is added to each of the fields that may be shifted."""

start_of: Callable[[Run], int] = itemgetter(0)

_VIEWS = 8
"""A list of more views is copied into one."""


class RunShape:
    """What the runs of an automaton have in common: how many fields, and which of them may be
    shifted; `absolute(runs, shift)` gives the runs of a shift, `add` the sum of two shifts."""

    __slots__ = ("absolute", "add", "empty", "integral", "width", "zero")

    def __init__(
        self,
        width: int,
        integral: Sequence[int],
        absolute: Callable[[Sequence[Run], Shift], list[Run]],
        add: Callable[[Shift, Shift], Shift],
    ) -> None:
        self.width, self.integral = width, tuple(sorted(integral))
        self.absolute, self.add = absolute, add
        self.zero = (0.0,) * len(self.integral)
        self.empty = RunList(self, _Base(), 0, 0, self.zero)

    def listed(
        self, runs: list[Run], shift: Shift | None = None, rest: RunList | None = None
    ) -> RunList:
        """A list of runs, which nobody else changes, and of those of another list behind them."""
        if not runs:
            return self.empty if rest is None else rest
        return RunList(self, _Base(runs), 0, len(runs), shift or self.zero, rest)

    def merged(self, one: RunList, other: Sequence[Run]) -> RunList:
        """The runs of a list and others, each once."""
        both = sorted((*one.runs, *other), key=start_of)
        return self.listed([*dict.fromkeys(both)])


class _Base(list[Run]):
    """Runs that views share; `columns` has the values of fields that were asked for, as far as they
    were."""

    __slots__ = ("columns",)

    def __init__(
        self, runs: Sequence[Run] = (), columns: dict[int, list[Any]] | None = None
    ) -> None:
        super().__init__(runs)
        self.columns = columns

    def part(self, lo: int, hi: int) -> _Base:
        """Some of the runs."""
        columns = self.columns
        if columns:
            columns = {field: column[lo:hi] for field, column in columns.items()}
        return _Base(self[lo:hi], columns)


class RunList:
    """A part of a list of runs, which grows behind it at most, and what is added to them; behind
    these the runs of `rest`, which start later.  A list without runs is the shape's `empty`."""

    __slots__ = ("_base", "_hi", "_lo", "_shape", "rest", "shift")

    def __init__(
        self,
        shape: RunShape,
        base: _Base,
        lo: int,
        hi: int,
        shift: Shift,
        rest: RunList | None = None,
    ) -> None:
        self._shape, self._base, self._lo, self._hi = shape, base, lo, hi
        self.shift, self.rest = shift, rest

    def __len__(self) -> int:
        many = self._hi - self._lo
        return many if self.rest is None else many + len(self.rest)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RunList):
            return NotImplemented
        many = len(self)
        if self is other or many != len(other) or not many:
            return many == len(other)
        if self.first != other.first or self.last != other.last:
            return False
        return self._newest == other._newest and self.runs == other.runs

    __hash__ = None  # type: ignore[assignment]

    @property
    def plain(self) -> Sequence[Run]:
        """The runs before `rest`, without the shift."""
        if self._lo == 0 and self._hi == len(self._base):
            return self._base
        return self._base[self._lo : self._hi]

    @property
    def runs(self) -> list[Run]:
        """The runs."""
        some = self.plain
        some = self._shape.absolute(some, self.shift) if any(self.shift) else [*some]
        return some if self.rest is None else some + self.rest.runs

    def having(self, field: int, value: Any) -> Sequence[Run]:
        """Those of `plain` that have a value in a field, and perhaps others."""
        base, lo, hi = self._base, self._lo, self._hi
        if base.columns is None:
            # Only a list that is asked again is read by columns.
            base.columns = {}
            return self.plain
        column = base.columns.get(field)
        if column is None:
            column = base.columns[field] = []
        if (there := len(column)) < hi:
            column += [run[field] for run in base[there:hi]]
        many = column[lo:hi].count(value)
        found: list[Run] = []
        for _ in range(many):
            lo = column.index(value, lo) + 1
            found.append(base[lo - 1])
        return found

    @property
    def first(self) -> int:
        """When the first run starts."""
        return start_of(self._base[self._lo])

    @property
    def last(self) -> int:
        """When the last run starts."""
        return start_of(self._base[self._hi - 1]) if self.rest is None else self.rest.last

    @property
    def _newest(self) -> Run:
        """The last run."""
        if self.rest is not None:
            return self.rest._newest
        return self._shape.absolute([self._base[self._hi - 1]], self.shift)[0]

    def after(self, time: float) -> RunList:
        """The runs that start after a time."""
        base, lo, hi, rest = self._base, self._lo, self._hi, self.rest
        if lo == hi or base[lo][0] > time:
            return self
        lo = bisect_right(base, time, lo, hi, key=start_of)
        if lo == hi:
            return self._shape.empty if rest is None else rest.after(time)
        if lo > len(base) // 2:
            # What is passed is not kept for good.
            return RunList(self._shape, base.part(lo, hi), 0, hi - lo, self.shift, rest)
        return RunList(self._shape, base, lo, hi, self.shift, rest)

    def until(self, time: float) -> RunList:
        """The runs that start at a time or before it."""
        base, lo, hi, rest = self._base, self._lo, self._hi, self.rest
        if lo == hi:
            return self
        if base[hi - 1][0] <= time:
            if rest is None:
                return self
            some = rest.until(time)
            if some is rest:
                return self
            return RunList(
                self._shape, base, lo, hi, self.shift, None if some is self._shape.empty else some
            )
        hi = bisect_right(base, time, lo, hi, key=start_of)
        if hi == lo:
            return self._shape.empty
        return RunList(self._shape, base, lo, hi, self.shift)

    def shifted(self, by: Shift) -> RunList:
        """The runs with integers added to their fields."""
        shape, rest = self._shape, self.rest
        if by is shape.zero:
            return self
        shift = shape.add(self.shift, by)
        if rest is not None:
            rest = rest.shifted(by)
        return RunList(shape, self._base, self._lo, self._hi, shift, rest)

    def followed_by(self, runs: list[Run]) -> RunList:
        """These runs, then others, none of which starts before them."""
        base, lo, hi, rest = self._base, self._lo, self._hi, self.rest
        if lo == hi:
            return self._shape.listed(runs)
        if not runs:
            return self
        if rest is not None:
            return RunList(self._shape, base, lo, hi, self.shift, rest.followed_by(runs))
        if any(self.shift):
            runs = self._shape.absolute(runs, tuple(map(neg, self.shift)))
        if hi < len(base):
            base, lo, hi = base.part(lo, hi), 0, hi - lo
        base.extend(runs)
        return RunList(self._shape, base, lo, len(base), self.shift)

    def before(self, newer: RunList) -> RunList:
        """These runs, then those of a list that start later."""
        empty = self._shape.empty
        if newer is empty or self is empty:
            return newer if self is empty else self
        views, some = [self], self.rest
        while some is not None:
            views.append(some)
            some = some.rest
        many, some = len(views), newer
        while some is not None:
            many, some = many + 1, some.rest
        if many > _VIEWS:
            return self._shape.listed(self.runs + newer.runs)
        for view in reversed(views):
            newer = RunList(view._shape, view._base, view._lo, view._hi, view.shift, newer)
        return newer
