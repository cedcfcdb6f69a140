"""The groups of an aggregate over one buffer, and what is kept of each in each window.

A cohort is members that have had the same events so far: streams of one channel until an event is
not in all of them, and windows of different lengths over one stream (s_w: a buffer of the widest,
a pointer for each).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from pattern_stage.algebra import frozen
from pattern_stage.algebra.grouping import Grouping, Kept
from pattern_stage.plan.kinds.accumulators import Accumulator, Best, Count, Total

__all__ = ["Cohort", "Group"]

_MADE: dict[Kept, type[Accumulator]] = {"best": Best, "count": Count, "total": Total}


def _as_tuples(value: Any) -> Any:
    """What is kept of an event, or keys, as they were before somebody wrote them as JSON."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


class Slide:
    """A window over a group: the place of its first event, and what is kept of it."""

    __slots__ = ("kept", "length", "next")

    def __init__(self, length: int | None, kept: Iterable[Kept]) -> None:
        self.length, self.next = length, 0
        self.kept: list[Accumulator] = [_MADE[one](length is None) for one in kept]


class Group:
    """The events of a group in the widest window, by place: `first` is the place of the oldest."""

    __slots__ = ("events", "first", "keys", "last", "slides")

    def __init__(self, keys: tuple[Any, ...], windows: Iterable[int | None], grouping: Grouping):
        self.keys, self.last, self.first = keys, 0, 0
        self.events: list[tuple[int, tuple[Any, ...]]] = []
        self.slides = [Slide(length, grouping.kept) for length in windows]

    def add(self, time: int, values: tuple[Any, ...]) -> None:
        """An event more."""
        place, self.last = self.first + len(self.events), time
        for slide in self.slides:
            for kept, value in zip(slide.kept, values, strict=True):
                kept.add(place, value)
        if self.slides[0].length is None:
            self.first += 1  # Nothing goes, so no event has to be known.
        else:
            self.events.append((time, values))

    def copy(self, grouping: Grouping) -> Group:
        """The same, apart from this one."""
        other = Group(self.keys, [slide.length for slide in self.slides], grouping)
        other.events, other.first, other.last = self.events[:], self.first, self.last
        for slide, its in zip(other.slides, self.slides, strict=True):
            slide.next = its.next
            for kept, one in zip(slide.kept, its.kept, strict=True):
                kept.fill(one.dump())
        return other

    def dump(self) -> Any:
        """The group as plain data: its events, or what is kept where nothing goes."""
        kept = None if self.events else [one.dump() for one in self.slides[0].kept]
        return self.keys, self.first, self.last, self.events, kept

    def slide(self, time: int) -> None:
        """Lets windows end at a time."""
        events, first = self.events, self.first
        for slide in self.slides:
            if slide.length is None:
                return
            since, place = time - slide.length, slide.next
            while events[place - first][0] < since:
                for kept, value in zip(slide.kept, events[place - first][1], strict=True):
                    kept.drop(place, value)
                place += 1
            slide.next = place
        gone = min(slide.next for slide in self.slides) - first
        if 2 * gone > len(events):
            del events[:gone]
            self.first += gone


class Cohort:
    """Members that have had the same events, and the groups of these."""

    __slots__ = (
        "_by_window",
        "constants",
        "grouping",
        "groups",
        "members",
        "widest",
        "windows",
    )

    def __init__(
        self,
        grouping: Grouping,
        members: Iterable[int],
        constants: tuple[Any, ...],
        windows: Sequence[int | None],
    ) -> None:
        self.grouping, self.constants = grouping, constants
        self.members = frozenset(members)
        self._by_window: dict[int | None, tuple[int, ...]] = {}
        self.windows = tuple(windows)
        self.widest = max((one for one in windows if one is not None), default=None)
        self.groups = OrderedDict[Hashable, Group]()
        """Those that had an event last stand last."""

    def take(self, time: int, key: Hashable, keys: tuple[Any, ...], values: Any) -> Group:
        """An event more; the group that has got it."""
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(keys, self.windows, self.grouping)
        else:
            self.groups.move_to_end(key)
        group.add(time, values)
        return group

    def results(self, group: Group, slide: Slide, time: int) -> tuple[Any, ...]:
        """The event of a group and window, but for its items."""
        kept = slide.kept
        found = [getattr(kept[place], method)() for place, method in self.grouping.results]
        return (time, time, None, None, *group.keys, *found)

    def fill(self, dumped: Any) -> None:
        """A group as it was dumped."""
        keys, first, last, events, kept = dumped
        keys = _as_tuples(keys)
        group = self.groups[frozen(keys)] = Group(keys, self.windows, self.grouping)
        for time, values in events:
            group.add(time, _as_tuples(values))
        if kept is not None:
            group.first, group.last = first, last
            for one, its in zip(group.slides[0].kept, kept, strict=True):
                one.fill(its)

    def forget(self, watermark: int) -> None:
        """Lets go of groups whose last event no window reaches."""
        if self.widest is None:
            return
        since, groups = watermark - self.widest, self.groups
        while groups and next(iter(groups.values())).last < since:
            groups.popitem(last=False)

    def split(self, members: frozenset[int]) -> Cohort:
        """Some of the members, with all that has been so far; they leave this cohort."""
        other = self.copy()
        other.members = members
        self.leave(members)
        return other

    def leave(self, members: frozenset[int]) -> None:
        """Goes on without some."""
        self.members -= members
        self._by_window = {}

    def by_window(self, of: Callable[[int], int | None]) -> Mapping[int | None, tuple[int, ...]]:
        """The members of each window, given a member's."""
        if not self._by_window:
            found: dict[int | None, list[int]] = {}
            for member in sorted(self.members):
                found.setdefault(of(member), []).append(member)
            self._by_window = {one: tuple(members) for one, members in found.items()}
        return self._by_window

    def copy(self) -> Cohort:
        """The same, apart from this one."""
        other = Cohort(self.grouping, self.members, self.constants, self.windows)
        for key, group in self.groups.items():
            other.groups[key] = group.copy(self.grouping)
        return other

    def held(self) -> int:
        """How many events, or groups where nothing goes, are held."""
        return sum(len(group.events) or 1 for group in self.groups.values())
