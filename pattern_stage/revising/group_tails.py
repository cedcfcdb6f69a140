"""The tails of groups of patterns, and of automata, which take an event of their past without going
back to the base."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Hashable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any

from xscl.pattern_stage.automata.group import AutomatonGroup, replaced
from xscl.pattern_stage.automata.in_order import Group
from xscl.pattern_stage.found import Found
from xscl.pattern_stage.layouts import END, NUMBER, TypedEvent
from xscl.pattern_stage.revising.tails import COPIED, Changes, Tail

__all__ = ["AutomatonTail", "GroupTail", "Outcomes"]

Outcomes = Callable[[Group], dict[Hashable, Found]]
"""What a group has found since the last call, by key."""


class GroupTail(Tail[Found]):
    """The tail of a group; `outcomes` is what that has found since the last call."""

    __slots__ = ("_gathered", "group", "outcomes", "reported")

    def __init__(
        self, group: Group, changes: Changes[Found], outcomes: Outcomes, most: int
    ) -> None:
        super().__init__(changes, most, forks=group.forks)
        self.group, self.outcomes = group, outcomes
        self._gathered: dict[Hashable, Found] = {}
        self.reported: Mapping[Any, int] = {**group.runs.endings.reported}
        """At the base, by partition the last match where matches do not overlap."""

    def _save(self) -> Any:
        self.cost = len(self.group.runs) // COPIED
        return self.group.snapshot()

    def _load(self, saved: Any) -> None:
        self.group.restore(saved)
        self._gathered = {}

    def _take(self, events: list[TypedEvent]) -> None:
        take = self.group.take
        for type_, event in events:
            take(type_, event)

    def _gather(self) -> None:
        self._gathered |= self.outcomes(self.group)

    def _found(self, horizon: int | None) -> dict[Hashable, Found]:
        endings = self.group.runs.endings
        if horizon is not None and self.forks:
            endings.settle(horizon, True)  # type: ignore[call-arg]
        else:
            endings.settle(horizon)
        return self._all()

    def _settle(self, mark: int) -> dict[Hashable, Found]:
        self.group.advance(mark)
        return self._all()

    def _all(self) -> dict[Hashable, Found]:
        self._gather()
        found, self._gathered = self._gathered, {}
        return found

    def _behind(self, mark: int) -> int:
        return bisect_right(self.events, mark, key=_time)

    def _end(self, one: Found) -> int:
        return one.time

    def _at_base(self) -> None:
        self.reported = {**self.group.runs.endings.reported}

    def decide(self, reported: Mapping[Any, int]) -> None:
        """At the base, these were the last matches by partition."""
        self.back()
        self.group.runs.endings.reported = reported
        self._at_base()

    def replace(self, coming: Sequence[TypedEvent]) -> None:
        """Some events are read again."""
        self.events = replaced(self.events, coming)

    @property
    def waits(self) -> bool:
        """Whether time alone may bring something."""
        undecided = self.group.runs.endings.undecided
        return bool(undecided or self.flushed or self.taken < len(self.events))


class AutomatonTail(GroupTail):
    """The tail of an automaton, which takes an event of its past, or one that is withdrawn, by
    itself: from there, until nothing changes."""

    __slots__ = ("_ends", "_final", "_fresh", "_order")

    group: AutomatonGroup

    def __init__(
        self,
        group: AutomatonGroup,
        changes: Changes[Found],
        outcomes: Outcomes,
        most: int,
        *,
        final: bool = False,
    ) -> None:
        super().__init__(group, changes, outcomes, most)
        self._final = final
        """Whether nothing is taken back, whoever breaks a promise."""
        self._fresh: list[TypedEvent] = []
        """The events that it has not taken yet."""
        self._ends: list[tuple[int, int, Hashable]] = []
        """The times of the matches that stand, with a number and their keys."""
        self._order = count()

    def add(self, coming: TypedEvent) -> None:
        """An event comes."""
        insort(self.events, coming, key=_time)
        self._fresh.append(coming)

    def withdraw(self, first: int, end: int, time: int) -> bool:
        """Drops events; says whether there were any."""
        fresh = {id(one) for one in self._fresh}
        start, before = bisect_left(self.events, time, key=_time), len(self.events)
        for place in range(bisect_right(self.events, time, start, key=_time) - 1, start - 1, -1):
            type_, event = coming = self.events[place]
            if first <= event[NUMBER] < end:
                del self.events[place]
                if id(coming) not in fresh:
                    self.group.query.retract(time, type_, event)
        self._fresh = [one for one in self._fresh if not first <= one[1][NUMBER] < end]
        return len(self.events) < before

    def replace(self, coming: Sequence[TypedEvent]) -> None:
        """Some events are read again."""
        super().replace(coming)
        self._fresh = replaced(self._fresh, coming)

    def process(self, horizon: int, mark: int | None, *, follow: bool = False) -> None:
        """Takes what is not after the horizon, and reports what differs."""
        due = [one for one in self._fresh if one[1][END] <= horizon]
        if due:
            if len(due) == len(self._fresh):
                self._fresh = []
            else:
                self._fresh = [one for one in self._fresh if one[1][END] > horizon]
            self.group.mend(sorted(due, key=_time))
        self.group.query.settle(horizon)
        self._differ()
        if self.flushed:
            beyond = self._beyond()
            for key in [*self.flushed]:
                if key not in beyond and not self._final:
                    self.flushed.discard(key)
                    self.changes.take_back(key, self.standing.pop(key))
        if mark is not None:
            self.follow(mark)

    def follow(self, mark: int) -> None:
        """What was before the watermark is no longer taken back."""
        self.group.query.settle(mark)
        self.group.query.evict(mark)
        self.group.drop_missed(mark)
        self._differ()
        del self.events[: self._behind(mark)]
        while self._ends and self._ends[0][0] <= mark:
            _, _, key = heappop(self._ends)
            self.standing.pop(key, None)
            self.flushed.discard(key)

    def process_again(self) -> None:
        """It knows by itself what changes."""

    def _differ(self) -> None:
        """Reports what has changed."""
        for one, arose in self.group.differences():
            key = one.key
            if not arose:
                if key in self.standing and not self._final:
                    self.changes.take_back(key, self.standing.pop(key))
            elif key not in self.standing:
                self.standing[key] = one
                heappush(self._ends, (one.time, next(self._order), key))
                self.changes.report(key, one)
            self.flushed.discard(key)

    def _beyond(self) -> dict[Hashable, Found]:
        saved = self._save()
        try:
            self.group.mend(sorted(self._fresh, key=_time))
            self.group.query.settle(float("inf"))
            return {one.key: one for one, arose in self.group.differences() if arose}
        finally:
            self._load(saved)

    @property
    def waits(self) -> bool:
        """Whether time alone may bring something."""
        return bool(self._fresh or self.flushed or self.group.query.waits)


def _time(coming: TypedEvent) -> Any:
    return coming[1][END]
