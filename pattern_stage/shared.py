"""Queries that share an automaton: alike but for constants that gates compare.

They take events at once where a further event can only add matches, or where they are
weak; else in order of time, when the watermark has passed them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from pattern_stage.automaton import Automaton
from pattern_stage.bounds import MOST
from pattern_stage.endings import Endings, Identity
from pattern_stage.layouts import Event
from pattern_stage.members import Members
from pattern_stage.pattern import Pattern
from pattern_stage.runs import Coming, Runs
from pattern_stage.stacks import Stacks

__all__ = ["Shared"]


class Shared:
    """The runs of queries that share an automaton."""

    def __init__(
        self,
        pattern: Pattern,
        automaton: Automaton,
        constants: Sequence[str | float],
        weak: bool,
        identity: Identity,
        without: frozenset[str],
        most: int = MOST,
    ) -> None:
        self.automaton = automaton
        self.weak, self.monotone = weak, pattern.monotone and not weak
        self.forks = weak or pattern.non_overlapping
        """Whether what is reported before its time may depend on what was reported before that."""
        self.members = Members(automaton, constants)
        indexed = "negation index" not in without
        overlapping = not pattern.non_overlapping
        endings = Endings(automaton, self.members, overlapping, identity, indexed, most)
        self.runs: Runs | Stacks
        if automaton.sequence is None:
            self.runs = Runs(automaton, self.members, endings, "shared buffer" not in without)
        else:
            self.runs = Stacks(automaton, self.members, endings, without, self.monotone)
        self.components: dict[int, tuple[int, ...]] = {}
        for place, types in enumerate(automaton.types):
            for type_ in dict.fromkeys(types):
                self.components[type_] = (*self.components.get(type_, ()), place)
        self.dropped = 0
        self.before: list[tuple[int, Event]] = []
        """Events of before its queries came, which these alone take, in order of time."""
        self._clock: int | None = None
        self._held: list[Coming] = []
        twice = any(one.after is None for one in automaton.negated) and any(
            one.before is None for one in automaton.negated
        )
        self._at_start = {
            type_
            for one in automaton.negated
            if twice and one.after is None
            for type_ in automaton.types[one.component]
        }
        """Types of events that forbid a match at its start while another may at its end."""

    @property
    def at_once(self) -> bool:
        """Whether events are taken when they come."""
        return self.monotone or self.weak

    def reach(self, type_: int) -> int | None:
        """For how long after its time an event of a type can be needed; None for good.

        A match that waits for its end has begun less than `within` before the watermark, and what
        forbids it at its start is up to as much older.
        """
        within = self.automaton.within
        return within if within is None or type_ not in self._at_start else 2 * within

    def begin(self) -> None:
        """A step begins: what comes now and is behind the newest event is dropped, if weak."""
        self._clock = self.runs.epoch

    def take(self, type_: int, event: Event, seeing: int | None = None) -> None:
        """An event of one of the types, for the queries of a mask or all that see it: in order of
        time if not monotone."""
        if seeing is None:
            if self.before:
                self.catch_up(event[0])
            seeing = self.members.seeing(event)
        if not seeing:
            return
        components, runs, time = self.components[type_], self.runs, event[0]
        if self.monotone and isinstance(runs, Runs):
            coming = (type_, components, event)
            if runs.epoch is not None and time < runs.epoch:
                self._late(runs, coming)
                return
            self._held.append(coming)
        elif self.weak and self._clock is not None and time < self._clock:
            self.dropped += 1
            self.members.miss(event[1], time, seeing)
            return
        if not self.monotone:
            runs.endings.settle(time)
        runs.event(type_, components, event, seeing)

    def catch_up(self, time: int | None) -> None:
        """Takes what came before its queries, as far as it is not after a time."""
        before = self.before
        due = len(before) if time is None else bisect_right(before, time, key=_time_of)
        self.before = before[due:]
        for type_, event in before[:due]:
            self.take(type_, event, self.members.oldest)

    def _late(self, runs: Runs, coming: Coming) -> None:
        held, (type_, components, event) = self._held, coming
        time, within = event[0], self.automaton.within
        place = bisect_left(held, time, key=_time)
        first = 0 if within is None else bisect_right(held, time - within, key=_time)
        after = bisect_right(held, time, key=_time)
        # As of another of its types, a component may have taken the event before.
        taken = {
            component
            for _, components, other in held[place:after]
            if other[1] == event[1]
            for component in components
        }
        if left := tuple(component for component in components if component not in taken):
            runs.late(held[first:place], (type_, left, event), held[after:])
        held.insert(after, coming)

    def advance(self, watermark: int) -> None:
        """All before the watermark has come and been taken."""
        if self.members.missing and self.automaton.within is not None:
            self.members.forget_missed(watermark - 2 * self.automaton.within)
        if self.weak:
            newest = self.runs.epoch
            self.runs.endings.settle(watermark if newest is None else max(watermark, newest), True)
            return
        if not self.monotone:
            self.runs.endings.settle(watermark)
        elif isinstance(self.runs, Stacks):
            self.runs.advance(watermark)
        elif self._held and self.automaton.within is not None:
            gone = bisect_right(self._held, watermark - self.automaton.within, key=_time)
            if gone > len(self._held) // 2:
                del self._held[:gone]

    def settle(self) -> None:
        """A step is over: what is weak says at once what the events so far decide."""
        if self.weak:
            self.runs.endings.settle(self.runs.epoch, True)

    def copy(self) -> Shared:
        """The same, to go on apart; of queries that are not monotone."""
        other = object.__new__(Shared)
        other.__dict__ |= self.__dict__
        other.runs = self.runs.copy(self.runs.endings.copy())
        return other

    def remove(self, number: int) -> None:
        """Takes a query away."""
        self.runs.drop(self.members.remove(number))
        self.runs.endings.drop(number)


def _time(coming: Coming) -> int:
    return coming[2][0]


def _time_of(coming: tuple[int, Event]) -> int:
    return coming[1][0]
