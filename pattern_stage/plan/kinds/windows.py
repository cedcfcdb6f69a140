"""The groups of an aggregate over one buffer, and the state of each in each window.

A cohort is a set of members that have had the same events so far: streams of one channel until an
event is not in all of them, and windows of different lengths over one stream (s_w: a buffer of the
widest, a pointer for each).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from xscl.pattern_stage.algebra import frozen
from xscl.pattern_stage.algebra.grouping import Grouping, Kept
from xscl.pattern_stage.plan.kinds.accumulators import Accumulator, Best, Count, Total
from xscl.pattern_stage.plan.memberships import Membership
from xscl.pattern_stage.plan.retained import Retained

__all__ = ["Cohort", "Cohorts", "Group"]

_MADE: dict[Kept, type[Accumulator]] = {"best": Best, "count": Count, "total": Total}


class Slide:
    """A window over a group: the place of its first event, and its state."""

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
        """Adds an event."""
        place, self.last = self.first + len(self.events), time
        for slide in self.slides:
            for kept, value in zip(slide.kept, values, strict=True):
                kept.add(place, value)
        if self.slides[0].length is None:
            self.first += 1  # No event is removed, so none has to be stored.
        else:
            self.events.append((time, values))

    def copy(self, grouping: Grouping) -> Group:
        """An independent copy."""
        other = Group(self.keys, [slide.length for slide in self.slides], grouping)
        other.events, other.first, other.last = self.events[:], self.first, self.last
        for slide, its in zip(other.slides, self.slides, strict=True):
            slide.next = its.next
            for kept, one in zip(slide.kept, its.kept, strict=True):
                kept.fill(one.dump())
        return other

    def dump(self) -> Any:
        """The group as plain data: its events, or its state where no event is removed."""
        kept = None if self.events else [one.dump() for one in self.slides[0].kept]
        return self.keys, self.first, self.last, self.events, kept

    def slide(self, time: int) -> None:
        """Removes the events of windows that end at a time."""
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
        """The most recently updated groups come last."""

    def take(self, time: int, key: Hashable, keys: tuple[Any, ...], values: Any) -> Group:
        """Adds an event; returns its group."""
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(keys, self.windows, self.grouping)
        else:
            self.groups.move_to_end(key)
        group.add(time, values)
        return group

    def results(self, group: Group, slide: Slide, time: int) -> tuple[Any, ...]:
        """The event of a group and window, without its items."""
        kept = slide.kept
        found = [getattr(kept[place], method)() for place, method in self.grouping.results]
        return (time, time, None, *group.keys, *found)

    def fill(self, dumped: Any) -> None:
        """Adds a group from a dump."""
        keys, first, last, events, kept = dumped
        group = self.groups[frozen(keys)] = Group(keys, self.windows, self.grouping)
        for time, values in events:
            group.add(time, values)
        if kept is not None:
            group.first, group.last = first, last
            for one, its in zip(group.slides[0].kept, kept, strict=True):
                one.fill(its)

    def evict(self, watermark: int) -> None:
        """Drops groups whose last event no window reaches."""
        if self.widest is None:
            return
        since, groups = watermark - self.widest, self.groups
        while groups and next(iter(groups.values())).last < since:
            groups.popitem(last=False)

    def split(self, members: frozenset[int]) -> Cohort:
        """Some of the members, with all events so far; they leave this cohort."""
        other = self.copy()
        other.members = members
        self.leave(members)
        return other

    def leave(self, members: frozenset[int]) -> None:
        """Removes some members."""
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
        """An independent copy."""
        other = Cohort(self.grouping, self.members, self.constants, self.windows)
        for key, group in self.groups.items():
            other.groups[key] = group.copy(self.grouping)
        return other

    def size(self) -> int:
        """The number of events, or of groups where no event is removed."""
        return sum(len(group.events) or 1 for group in self.groups.values())


class Cohorts(Retained):
    """The cohorts of an m-op's members, each as long as it reaches any events."""

    def __init__(self, make: Callable[[list[int]], Cohort]) -> None:
        self._make = make
        self.by_member: dict[int, Cohort] = {}
        self.met: dict[Membership, list[Cohort]] = {}
        """By membership, valid as long as cohorts do not change."""

    def install(self, cohort: Cohort) -> None:
        """Adds a cohort, of members that have none or leave theirs."""
        self.met.clear()
        self.by_member |= dict.fromkeys(cohort.members, cohort)

    def dissolve(self, cohort: Cohort) -> None:
        """Removes an empty cohort: its members may be combined with others."""
        self.met.clear()
        for member in cohort.members:
            del self.by_member[member]

    def _each(self) -> list[Cohort]:
        return list({id(one): one for one in self.by_member.values()}.values())

    def evict(self, watermark: int) -> None:
        """Drops events that no window reaches."""
        for cohort in self._each():
            cohort.evict(watermark)
            if not cohort.groups:
                self.dissolve(cohort)

    def size(self) -> int:
        """Events, or groups where nothing goes."""
        return sum(cohort.size() for cohort in self._each())

    def snapshot(self) -> object:
        """All cohorts."""
        return [cohort.copy() for cohort in self._each()]

    def restore(self, snapshot: Any) -> None:
        """Restores a snapshot."""
        self.by_member = {}
        for cohort in snapshot:
            self.install(cohort)
        self.met.clear()

    def dump(self, name: Callable[[int], object]) -> object:
        """Members by name, and the state of each group."""
        found = [
            (
                [*map(name, sorted(cohort.members))],
                [group.dump() for group in cohort.groups.values()],
            )
            for cohort in self._each()
        ]
        return found or None

    def load(self, dumped: Any, members: Callable[[Iterable[object]], list[int]]) -> None:
        """Adds the cohorts of the members that still exist."""
        for names, groups in dumped:
            here = members(names)
            if here:
                cohort = self._make(here)
                for group in groups:
                    cohort.fill(group)
                self.install(cohort)
