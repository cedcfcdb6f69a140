"""Queries that share an automaton: the same up to constants that gates compare.

They process events immediately where a further event can only add matches, or where they are weak;
else in order of time, when the watermark has passed them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from xscl.pattern_stage.automaton import Automaton
from xscl.pattern_stage.bounds import MOST
from xscl.pattern_stage.endings import Endings, Identity
from xscl.pattern_stage.layouts import END, NUMBER, Event, TypedEvent
from xscl.pattern_stage.pattern import Pattern
from xscl.pattern_stage.query_masks import QueryMasks
from xscl.pattern_stage.runs import Coming, Runs
from xscl.pattern_stage.stacks import Stacks

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
        *,
        in_order: bool = False,
    ) -> None:
        self.automaton = automaton
        self.weak, self.monotone = weak, pattern.monotone and not (weak or in_order)
        self.forks = self.keeps_early = weak or pattern.non_overlapping
        """Whether the matches that are reported before their time may depend on earlier such
        reports."""
        first, *more = pattern.components
        self._alone = pattern.monotone and not (more or first.kleene)
        """Whether each event is a match by itself."""
        self.members = QueryMasks(automaton, constants)
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
        self.dropped = self.rank = 0
        self.before: list[TypedEvent] = []
        """Events from before the queries came, for these only, in order of time."""
        self._clock: int | None = None
        self._buffered: list[Coming] = []
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
    def immediate(self) -> bool:
        """Whether events are processed when they come."""
        return self.monotone or self.weak

    def reach(self, type_: int) -> int | None:
        """For how long after its time an event of a type can be needed; None for ever.

        A match that must wait for its end began less than `within` before the watermark; an event
        that forbids it at its start may be older by as much again.
        """
        if self._alone:
            return 0
        within = self.automaton.within
        return within if within is None or type_ not in self._at_start else 2 * within

    def begin(self) -> None:
        """Begins a step: a weak group drops incoming events that are before the newest one."""
        self._clock = self.runs.epoch

    def take(self, type_: int, event: Event, seeing: int | None = None) -> None:
        """Processes an event of one of the types, for the queries of a mask or all that see it: in
        order of time if not monotone."""
        if seeing is None:
            if self.before:
                self.catch_up(event[END])
            seeing = self.members.seeing(event)
        if not seeing:
            return
        components, runs, time = self.components[type_], self.runs, event[END]
        if self.monotone and isinstance(runs, Runs):
            coming = (type_, components, event)
            if runs.epoch is not None and time < runs.epoch:
                self._late(runs, coming)
                return
            self._buffered.append(coming)
        elif self.weak and self._clock is not None and time < self._clock:
            self.dropped += 1
            self.members.miss(event[NUMBER], time, seeing)
            return
        if not self.monotone:
            runs.endings.settle(time)
        runs.event(type_, components, event, seeing)

    def catch_up(self, time: int | None) -> None:
        """Processes the events from before its queries, up to a time."""
        before = self.before
        due = len(before) if time is None else bisect_right(before, time, key=_time_of)
        self.before = before[due:]
        for type_, event in before[:due]:
            self.take(type_, event, self.members.oldest)

    def _late(self, runs: Runs, coming: Coming) -> None:
        buffered, (type_, components, event) = self._buffered, coming
        time, within = event[END], self.automaton.within
        place = bisect_left(buffered, time, key=_time)
        first = 0 if within is None else bisect_right(buffered, time - within, key=_time)
        after = bisect_right(buffered, time, key=_time)
        # As an event of another of its types, a component may have taken it before.
        taken = {
            component
            for _, components, other in buffered[place:after]
            if other[NUMBER] == event[NUMBER]
            for component in components
        }
        if left := tuple(component for component in components if component not in taken):
            runs.late(buffered[first:place], (type_, left, event), buffered[after:])
        buffered.insert(after, coming)

    def advance(self, watermark: int) -> None:
        """Notes that all before the watermark has come and was processed."""
        if self.members.missing and self.automaton.within is not None:
            self.members.missing.drop(watermark - 2 * self.automaton.within)
        if self.weak:
            newest = self.runs.epoch
            self.runs.endings.settle(watermark if newest is None else max(watermark, newest), True)
            return
        if not self.monotone:
            self.runs.endings.settle(watermark)
        elif isinstance(self.runs, Stacks):
            self.runs.advance(watermark)
        elif self._buffered and self.automaton.within is not None:
            gone = bisect_right(self._buffered, watermark - self.automaton.within, key=_time)
            if gone > len(self._buffered) // 2:
                del self._buffered[:gone]

    def settle(self) -> None:
        """Ends a step: a weak group immediately reports what the events so far decide."""
        if self.weak:
            self.runs.endings.settle(self.runs.epoch, True)

    def snapshot(self) -> Any:
        """The state of queries that are not monotone, once all outcomes have been read."""
        return self.runs.snapshot(), self.runs.endings.snapshot(), self.before, self.dropped

    def restore(self, snapshot: Any) -> None:
        """Restores a snapshot, which must not be used again."""
        runs, endings, self.before, self.dropped = snapshot
        self.runs.restore(runs)
        self.runs.endings.restore(endings)

    def remove(self, number: int) -> None:
        """Removes a query."""
        self.runs.drop(self.members.remove(number))
        self.runs.endings.drop(number)


def _time(coming: Coming) -> Any:
    return coming[2][END]


def _time_of(coming: TypedEvent) -> Any:
    return coming[1][END]
