"""Patterns whose matches are reported as soon as the events so far have them, and taken back where
a late event or a retraction takes them away: groups of queries with a tail each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from xscl.pattern_stage.automata.group import AutomatonGroup
from xscl.pattern_stage.automata.in_order import Group
from xscl.pattern_stage.automata.program import Arc, Life
from xscl.pattern_stage.bounds import MOST, portions
from xscl.pattern_stage.endings import Identity, Partition
from xscl.pattern_stage.found import Found, FoundGroup, Outcome, found_in, grouped
from xscl.pattern_stage.layouts import END, TypedEvent
from xscl.pattern_stage.memory import Memory
from xscl.pattern_stage.pattern import Pattern
from xscl.pattern_stage.processor import PatternStage, settled
from xscl.pattern_stage.revising.group_tails import AutomatonTail, GroupTail
from xscl.pattern_stage.revising.tails import (
    NEVER,
    ROUND,
    Changes,
    Window,
    horizon_of,
    unbounded,
)

__all__ = ["Clock", "RevisingStage"]

Clock = Callable[[Iterable[int]], int | None]
"""The newest time of a document of the streams of some types; None where there was none."""


class RevisingStage(PatternStage):
    """Patterns and automata under `middle`: `found` has the matches that are new, `withdrawn` those
    that are no more.  Matches wait for the watermark only where they are more than a `window`
    beyond it, and for the clock of their streams.

    `final` is for automata whose events are numbered without gaps: what is known by that is
    reported for good.
    """

    def __init__(
        self,
        without: Iterable[str] = (),
        identity: Identity = lambda number: number,
        most: int = MOST,
        *,
        window: Window = unbounded,
        clock: Clock = lambda types: None,
        final: bool = False,
    ) -> None:
        super().__init__(without, identity, most)
        self.final, self.sequenced = final, "sequence" not in self._without
        self.window, self._clock = window, clock
        self._tails: dict[Group, GroupTail] = {}
        self._due: dict[Group, None] = {}
        """Those with something to do in this step."""
        self._changes = Changes[Found]()
        self._early: dict[tuple[Any, ...], tuple[int, Sequence[tuple[int, Any]]]] = {}
        """By key the matches that another stage has reported before their time, as a memory has
        them."""

    # Queries

    def add(
        self,
        number: int,
        pattern: Pattern,
        types: Iterable[Iterable[int]],
        constants: Iterable[str | float],
        since: int = 0,
        weak: bool = False,
        in_order: bool = True,
    ) -> None:
        """Adds a query, as of a stage in which all go in order."""
        super().add(number, pattern, types, constants, since, in_order=True)

    def separate(self) -> RevisingStage:
        """As of other stages."""
        other = RevisingStage(
            self._without,
            self._identity,
            self._most,
            window=self.window,
            clock=self._clock,
            final=self.final,
        )
        other._layouts, other._automata = self._layouts, self._automata
        return other

    def adopt(self, other: PatternStage, since: int) -> None:
        """As of other stages; a group keeps its tail."""
        assert isinstance(other, RevisingStage)
        for group, key in other._groups.items():
            self._route(group, key)
            tail = self._tails[group] = other._tails[group]
            tail.changes, tail.outcomes = self._changes, self._outcomes_of
        self._of_query.update(other._of_query)
        self._outcomes.adopt(other._outcomes)
        self._adopted += len(other._groups)
        self._due |= dict.fromkeys(other._groups)
        self._early |= other._early
        self._version += 1

    def _route(self, group: Group, key: tuple[object, ...]) -> None:
        super()._route(group, key)
        changes, outcomes = self._changes, self._outcomes_of
        if isinstance(group, AutomatonGroup):
            tail = AutomatonTail(group, changes, outcomes, self._most, final=self.final)
            self._tails[group] = tail
        else:
            self._tails[group] = GroupTail(group, changes, outcomes, self._most)

    def remove(self, number: int) -> None:
        """Removes a query."""
        group = self._of_query[number]
        super().remove(number)
        self._early = {key: one for key, one in self._early.items() if key[0] != number}
        if group not in self._groups:
            del self._tails[group]
            self._due.pop(group, None)
            return
        tail = self._tails[group]
        tail.standing = {key: one for key, one in tail.standing.items() if one.number != number}
        tail.reported = {key: one for key, one in tail.reported.items() if key[0] != number}

    def rearrange(
        self,
        number: int,
        arcs: Iterable[tuple[Life, Arc]],
        states: int,
        final: Collection[int],
        since: float,
    ) -> bool:
        """As of other stages; the tail is processed again, with the new arcs."""
        group = self._of_query[number]
        tail = self._tails[group]
        # Arcs that ended before the watermark may be gone: nothing before it is processed again.
        if self._watermark is not None:
            tail.follow(self._watermark)
        tail.process_again()
        self._due[group] = None
        return super().rearrange(number, arcs, states, final, since)

    def promise(self, types: Mapping[int, int]) -> None:
        """Nothing is dropped: a tail may be processed again."""

    def recall(self, number: int, events: Iterable[TypedEvent]) -> None:
        """As of other stages; the tail has events of its own."""
        coming = [*events]
        tail = self._tails[self._of_query[number]]
        tail.replace(coming)
        super().recall(number, coming)

    # Steps

    def take(self, events: Iterable[TypedEvent]) -> None:
        """Takes the events of a step with their types, in any order, none before the watermark."""
        for coming in sorted(events, key=_time):
            for group in self._in_order.routes.get(coming[0], ()):
                if group.members.seeing(coming[1]):
                    self._tails[group].add(coming)
                    self._due[group] = None

    def withdraw(self, first: int, end: int, time: int) -> None:
        """Drops the events of a time with numbers from `first` on and below `end`."""
        for group, tail in self._tails.items():
            if tail.events and tail.withdraw(first, end, time):
                self._due[group] = None

    def advance(self, watermark: int | None) -> None:
        """A step ends: no event before `watermark` will come any more (None: nothing is known)."""
        if watermark is not None and (self._watermark is None or watermark > self._watermark):
            self._watermark = watermark
            # Matches that compete are ordered by their documents, which go with the watermark.
            self._due |= {group: None for group in self._groups if group.forks}
        self._steps += 1
        if self._steps % ROUND == 0:
            self._due = dict.fromkeys(self._groups)
        due, self._due = self._due, {}
        for group in due:
            tail = self._tails[group]
            self._process(tail)
            if tail.waits:
                self._due[group] = None

    def flush(self) -> None:
        """Reports what would be reported if no further event came; the watermark stays."""
        self.advance(self._watermark)
        for tail in self._tails.values():
            tail.flush()
            self._note_stopped(tail.group)
            if tail.flushed:
                self._due[tail.group] = None

    def pending(self) -> dict[int, tuple[int, int]]:
        """How many matches of each query `flush` would report now, and the time when the last of
        them is known; nothing changes."""
        pending: dict[int, tuple[int, int]] = {}
        for tail in self._tails.values():
            for one in tail.more().values():
                many, until = pending.get(one.number, (0, one.time))
                pending[one.number] = many + 1, max(until, one.time)
        return pending

    def found(self) -> list[Found]:
        """The matches that are reported since the last call, in order of time."""
        return sorted(self._changes.new(), key=_known)

    def withdrawn(self) -> list[Found]:
        """The matches that were reported and are no more, since the last call, in order of time."""
        return sorted(self._changes.gone(), key=_known)

    def groups(self) -> list[FoundGroup]:
        """In place of `found`: the matches by query, last event and time."""
        return grouped(Outcome((one.number,), [one.events], None, one.time) for one in self.found())

    def counts(self) -> dict[int, int]:
        """In place of `found`: how many matches of each query are reported since the last call."""
        return Counter(one.number for one in self.found())

    # What is known

    @property
    def memories(self) -> dict[int, Memory]:
        """The memories of queries at their bases, where not empty."""
        memories: defaultdict[int, Memory] = defaultdict(Memory)
        for tail in self._tails.values():
            for (number, partition), time in tail.reported.items():
                memories[number].reported.append((partition, time))
            for key in self._early.keys() & tail.flushed:
                memories[key[0]].early.append(self._early[key])
        self._remember_missed(memories)
        return memories

    def rebuild(
        self,
        before: Sequence[TypedEvent],
        after: Sequence[TypedEvent],
        watermark: int | None,
        memories: Mapping[int, Memory],
    ) -> None:
        """Makes a new stage equal to another one that had taken these events."""
        self._recall_missed(memories)
        decided = defaultdict[Group, dict[tuple[int, Partition], int]](dict)
        for number, memory in memories.items():
            last = {(number, partition): time for partition, time in memory.reported}
            decided[self._of_query[number]] |= last
        if before:
            self._take_again(before, settled(after, watermark))
            self.flush()
        self._take_again(after, watermark)
        for group, tail in self._tails.items():
            if not isinstance(group, AutomatonGroup):
                # A decision stays, whatever is found again: its reasons may be gone.
                tail.decide(decided.get(group, {}))
        self._due = dict.fromkeys(self._groups)
        self.advance(watermark)
        self._early = {
            (number, *events): (time, events)
            for number, memory in memories.items()
            for time, events in memory.early
        }
        for tail in self._tails.values() if self._early else ():
            tail.flush(self._early)
        if watermark is not None:
            for tail in self._tails.values():
                tail.follow(watermark)
        self._forget()
        # The window may be wider from now on.
        self._due = dict.fromkeys(self._groups)

    def _take_again(self, events: Iterable[TypedEvent], watermark: int | None) -> None:
        """As of other stages: the base of a tail follows the events."""
        for time, some in portions(events, self._most):
            self.take(some)
            if watermark is None or time > watermark:
                continue
            self._watermark = time
            due, self._due = self._due, {}
            for group in due:
                if not isinstance(group, AutomatonGroup):
                    self._tails[group].follow(time)
            self._forget()

    def _forget(self) -> None:
        self._changes.new()
        self._changes.gone()

    def stats(self) -> Mapping[str, int]:
        """Counts of the state."""
        waiting = sum(len(tail.events) - tail.taken for tail in self._tails.values())
        return {**super().stats(), "waiting": waiting}

    # Inside

    def _process(self, tail: GroupTail) -> None:
        """Brings a tail up to where a group reports."""
        mark, clock = self._watermark, self._clock(tail.group.components)
        horizon = horizon_of(mark, clock, self.window(), forks=tail.group.forks)
        if horizon is not None:
            follow = self._steps % ROUND == 0 or tail.group.forks
            tail.process(horizon, mark, follow=follow)
        elif tail.flushed:
            # Nothing is looked at yet but by `flush`, and that may be no more.
            tail.process(NEVER, mark)
        self._note_stopped(tail.group)

    def _note_stopped(self, group: Group) -> None:
        """Notes the queries of a group that have been stopped."""
        if group.members.stopped:
            self.stopped.update(group.members.stopped)

    def _outcomes_of(self, group: Group) -> dict[Hashable, Found]:
        """What a group has found since the last call."""
        outcomes = group.runs.endings.outcomes()
        self._note_stopped(group)
        return {one.key: one for one in found_in(self._outcomes.within_bounds(outcomes))}


def _time(coming: TypedEvent) -> Any:
    return coming[1][END]


def _known(found: Found) -> int:
    return found.time
