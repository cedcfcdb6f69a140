"""Patterns over events: events of a step in, the matches of all queries out.

Events come in any order.  Queries to which a further event can only add matches process it
immediately, all others in order of time once the watermark has reached it: they share one buffer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count
from operator import attrgetter
from typing import Any

from xscl.pattern_stage.automata.group import AutomatonGroup, replaced
from xscl.pattern_stage.automata.in_order import Group, InOrder
from xscl.pattern_stage.automata.program import Arc, Life, Program
from xscl.pattern_stage.automaton import Automaton
from xscl.pattern_stage.bounds import MOST, portions
from xscl.pattern_stage.compiler.compile import automaton_of
from xscl.pattern_stage.endings import Identity
from xscl.pattern_stage.found import Found, FoundGroup, Outcome
from xscl.pattern_stage.layouts import END, NUMBER, Layouts, TypedEvent
from xscl.pattern_stage.memory import Memory
from xscl.pattern_stage.outcomes import Outcomes
from xscl.pattern_stage.pattern import Pattern
from xscl.pattern_stage.shared import Shared
from xscl.pattern_stage.switches import checked
from xscl.pattern_stage.values.terms import Slot

__all__ = ["FOREVER", "PatternStage", "settled"]

_ROUND = 256
"""After so many steps all groups drop what has expired, not only those that processed events."""

_SCATTERED = 64
"""So many queries may have automata of their own that they could share."""

FOREVER = 1 << 62
"""A time, in microseconds, that is never reached."""

_rank = attrgetter("rank")


class PatternStage:
    """The patterns of one engine.

    `without` names techniques that are switched off (`switches.SWITCHES`).  `identity` returns for
    an event's number its order among simultaneous ones where NON OVERLAPPING has to choose:
    (document's id, node's number, attribute's name, numbers of the nodes of the block's variables).
    """

    sequenced = False
    """Whether the numbers of an automaton's events matter: here these come in order."""

    def __init__(
        self,
        without: Iterable[str] = (),
        identity: Identity = lambda number: number,
        most: int = MOST,
    ) -> None:
        self._without, self._identity, self._most = checked(without), identity, most
        self._layouts = Layouts()
        self._version = 0
        self._automata: dict[object, Automaton] = {}
        self._groups: dict[Group, tuple[object, ...]] = {}
        self._open: dict[tuple[object, ...], Shared] = {}
        """The groups that accept queries, by the properties that these share."""
        self._of_query: dict[int, Group] = {}
        self._immediate: dict[int, list[Group]] = {}
        self._in_order = InOrder()
        self._ranks = count()
        self._weak: list[Group] = []
        self._buffered: list[TypedEvent] = []
        self._watermark: int | None = None
        self._touched: dict[Group, None] = {}
        """Those that have processed events in this step, or have pending ones."""
        self._promised: dict[AutomatonGroup, None] = {}
        """Automata whose types have punctuations."""
        self._hurried: set[int] = set()
        """Queries some of whose matches were reported before their time, other than by `flush`."""
        self._steps = self._adopted = 0
        self._outcomes = Outcomes(self._of_query.__contains__, most)

    @property
    def stopped(self) -> dict[int, str]:
        """Queries that have exceeded a bound, and why; they are to be removed."""
        return self._outcomes.stopped

    # Queries

    def add(
        self,
        number: int,
        pattern: Pattern,
        types: Iterable[Iterable[int]],
        constants: Iterable[str | float],
        since: int = 0,
        weak: bool = False,
        in_order: bool = False,
    ) -> None:
        """Adds a query: for each component the numbers of its types, and its constants.  It
        processes events `in_order` where these may be withdrawn.

        It sees the events with a number not below `since`, and has none yet: a query that must see
        earlier events is added to a new stage, which processes these again.
        """
        if number in self._of_query:
            raise ValueError(f"query {number} is there already")
        of, values = tuple(map(tuple, types)), tuple(constants)
        template = (pattern, of)
        automaton = self._automata.get(template)
        if automaton is None:
            automaton = automaton_of(pattern, of, self._layouts, self._without)
            self._automata[template] = automaton
        own = number if "templates" in self._without else None
        # A weak query drops events by the newest one that it has seen itself.
        clock = since if weak else None
        fixed = tuple(values[place] for place in automaton.fixed)
        key = (template, fixed, weak, clock, own, in_order)
        group = self._open.get(key)
        if group is None or group.members.worn:
            group = Shared(
                pattern,
                automaton,
                values,
                weak,
                self._identity,
                self._without,
                self._most,
                in_order=in_order,
            )
            self._open[key] = group
            self._route(group, key)
        group.members.add(number, values, since)
        self._of_query[number] = group
        self._version += 1

    def add_automaton(
        self,
        number: int,
        program: Program,
        arcs: Iterable[tuple[Life, Arc]],
        states: int,
        final: Collection[int],
        types: Sequence[int],
        since: int = 0,
        weak: bool = False,
        *,
        changed: bool = False,
    ) -> None:
        """Adds an automaton of so many states, given the number of each of its types; its arcs may
        have `changed` since it was subscribed."""
        layouts, most = self._layouts, self._most
        group = AutomatonGroup(
            number,
            program,
            arcs,
            states,
            final,
            types,
            layouts,
            since,
            most,
            weak=weak,
            changed=changed,
            sequenced=self.sequenced,
        )
        self._route(group, (number,))
        self._of_query[number] = group
        self._version += 1

    def rearrange(
        self,
        number: int,
        arcs: Iterable[tuple[Life, Arc]],
        states: int,
        final: Collection[int],
        since: float,
    ) -> bool:
        """From `since` on, which is after the watermark, an automaton has these arcs and states;
        returns whether its events are to be read again, and passed to `recall`."""
        group = self._of_query[number]
        assert isinstance(group, AutomatonGroup)
        self._in_order.activate(group, self._watermark)
        self._touched[group] = None
        return group.rearrange(arcs, states, final, since)

    def promise(self, types: Mapping[int, int]) -> None:
        """No event of some types comes any more that is before a time."""
        for group in self._groups:
            if isinstance(group, AutomatonGroup) and group.components.keys() & types.keys():
                group.promise(types)
                self._promised[group] = None

    def freed(self, number: int) -> bool:
        """Whether an automaton has dropped runs that other arcs could lead to a match: the stage is
        to be rebuilt if its arcs change."""
        group = self._of_query[number]
        return isinstance(group, AutomatonGroup) and group.freed

    def recall(self, number: int, events: Iterable[TypedEvent]) -> None:
        """The events of an automaton that have come are these, as they are read now."""
        group = self._of_query[number]
        assert isinstance(group, AutomatonGroup)
        self._in_order.activate(group, self._watermark)
        coming = sorted(events, key=_time)
        self._buffered = replaced(self._buffered, coming)
        group.recall(coming)

    def separate(self) -> PatternStage:
        """An empty stage for queries that must see earlier events; `adopt` adds them to this one
        afterwards."""
        other = PatternStage(self._without, self._identity, self._most)
        other._layouts, other._automata = self._layouts, self._automata
        return other

    def adopt(self, other: PatternStage, since: int) -> None:
        """Adds the queries of a `separate` stage, with their events and pending events; here they
        see events with a number not below `since`."""
        other._in_order.activate_all(other._watermark)
        for group, key in other._groups.items():
            if not group.immediate:
                # Events that are pending here may lack attributes that the new queries read.
                group.members.see_from(since)
                group.before = [one for one in other._buffered if one[0] in group.components]
            self._route(group, key)
        self._of_query.update(other._of_query)
        self._outcomes.adopt(other._outcomes)
        self._adopted += len(other._groups)
        self._touched |= dict.fromkeys(other._groups)
        self._version += 1

    @property
    def scattered(self) -> bool:
        """Whether so many queries were adopted, each with an automaton of its own, that it pays to
        rebuild the stage, where similar queries share one."""
        return self._adopted > max(_SCATTERED, len(self._of_query) // 8)

    def _route(self, group: Group, key: tuple[object, ...]) -> None:
        """Routes events to a group from now on."""
        self._groups[group] = key
        group.rank = next(self._ranks)
        if group.immediate:
            for type_ in group.components:
                self._immediate.setdefault(type_, []).append(group)
        else:
            self._in_order.add(group)
        if group.weak:
            self._weak.append(group)

    def remove(self, number: int) -> None:
        """Removes a query."""
        group = self._of_query.pop(number)
        self._hurried.discard(number)
        group.remove(number)
        self.stopped.pop(number, None)
        self._version += 1
        if len(group.members):
            return
        key = self._groups.pop(group)
        if self._open.get(key) is group:
            del self._open[key]
        if not any(group.automaton is other.automaton for other in self._groups):
            self._automata.pop(key[0], None)
        self._touched.pop(group, None)
        if isinstance(group, AutomatonGroup):
            self._promised.pop(group, None)
        if group.immediate:
            for type_ in group.components:
                self._immediate[type_].remove(group)
        else:
            self._in_order.remove(group)
        if group.weak:
            self._weak.remove(group)

    def __contains__(self, number: int) -> bool:
        return number in self._of_query

    @property
    def is_empty(self) -> bool:
        """Whether it has no queries."""
        return not self._of_query

    @property
    def version(self) -> int:
        """Grows whenever slots, or the reach of events, may have changed."""
        return self._version

    def slots(self, type_: int) -> tuple[Slot | None, ...]:
        """The slots of a type's events; None at a place that none reads: any value will do
        there."""
        return self._layouts.slots(type_)

    def reach(self, type_: int) -> int:
        """For how many microseconds after its time an event of a type can be needed, once the
        watermark has reached it; FOREVER where no window ends that, 0 if no query reads it."""
        reach = 0
        for group in self._reading(type_):
            needed = group.reach(type_)
            if needed is None:
                return FOREVER
            reach = max(reach, needed)
        return reach

    def _reading(self, type_: int) -> Iterable[Group]:
        """The groups that take events of a type."""
        return chain(self._immediate.get(type_, ()), self._in_order.routes.get(type_, ()))

    # Steps

    def take(self, events: Iterable[TypedEvent]) -> None:
        """Processes the events of a step with their types, in any order, none before the
        watermark."""
        coming = sorted(events, key=_time)
        immediate, in_order, buffered = self._immediate, self._in_order.routes, self._buffered
        types = {type_ for type_, _ in coming} if self._weak else ()
        reading = (group for type_ in types for group in immediate.get(type_, ()) if group.weak)
        weak = dict.fromkeys(reading)
        for one in weak:
            one.begin()
        touched = self._touched
        for type_, event in coming:
            for group in immediate.get(type_, ()):
                touched[group] = None
                group.take(type_, event)
            if type_ in in_order:
                if not buffered or event[END] >= buffered[-1][1][END]:
                    buffered.append((type_, event))
                else:
                    insort(buffered, (type_, event), key=_time)
        for one in weak:
            one.settle()

    def advance(self, watermark: int | None) -> None:
        """No event before `watermark` will come any more (None: nothing is known)."""
        if watermark is None or (self._watermark is not None and watermark < self._watermark):
            return
        if self.is_empty and not self._buffered:
            self._watermark = watermark
            return
        self._advance(watermark)
        self._collect()
        if self._promised:
            self._free()
        self._outcomes.advance(watermark)

    def _advance(self, watermark: int) -> None:
        """Processes what the watermark has reached."""
        self._watermark = watermark
        due = bisect_right(self._buffered, watermark, key=_time)
        self._in_order.take(self._buffered[:due], self._touched)
        del self._buffered[:due]
        self._steps += 1
        if self._steps % _ROUND == 0:
            dormant = self._in_order.is_dormant
            self._touched |= dict.fromkeys([one for one in self._groups if not dormant(one)])
            self._in_order.evict(watermark)
        for group in self._touched:
            if group.before:
                group.catch_up(watermark)
            group.advance(watermark)
            if isinstance(group, AutomatonGroup) and not group.immediate:
                self._in_order.suspend(group, watermark)

    def _free(self) -> None:
        """Drops runs that punctuations have closed."""
        self._promised = {
            group: None for group in self._promised if group.free(self._watermark, self._buffered)
        }

    def withdraw(self, first: int, end: int, time: int) -> None:
        """Drops the events of a time with numbers from `first` on and below `end`, none of which
        the watermark has reached."""
        _withdraw(self._buffered, first, end, time)
        for group in self._groups:
            if group.before:
                _withdraw(group.before, first, end, time)

    def miss(self, events: Iterable[TypedEvent]) -> None:
        """Notes events that come too late for the current queries."""
        for type_, event in events:
            for group in self._reading(type_):
                group.members.miss(event[NUMBER], event[END], group.members.seeing(event))

    def flush(self) -> None:
        """Reports what would be reported if no further event came; the watermark stays."""
        self._outcomes.add_early(self._pending())

    def report_early(self, numbers: Collection[int]) -> None:
        """What `flush` would report now of some queries was reported."""
        early = [
            one._replace(numbers=tuple([number for number in one.numbers if number in numbers]))
            for one in self._pending()
        ]
        self._outcomes.know_early([one for one in early if one.numbers])
        self._hurried.update(numbers)

    def pending(self) -> dict[int, tuple[int, int]]:
        """How many matches of each query `flush` would report now, and the time when the last of
        them is known; nothing changes."""
        pending: dict[int, tuple[int, int]] = {}
        for outcome in self._pending():
            size, time = outcome.size, outcome.time
            for number in outcome.numbers:
                many, until = pending.get(number, (0, time))
                pending[number] = many + size, max(until, time)
        return pending

    def _pending(self) -> list[Outcome]:
        """The matches that would be reported if no further event came, and were not reported
        before."""
        self._in_order.activate_all(self._watermark)
        self._collect()
        undecided = (one for one in self._groups if one.before or one.runs.endings.undecided)
        snapshots = {group: group.snapshot() for group in undecided}
        early = list[Outcome]()
        try:
            for type_, event in self._buffered:
                for group in self._in_order.routes.get(type_, ()):
                    if group not in snapshots:
                        snapshots[group] = group.snapshot()
                    group.take(type_, event)
            for group in snapshots:
                group.catch_up(None)
                group.runs.endings.settle(None)
                self.stopped.update(group.members.stopped)
                early += group.runs.endings.outcomes()
        finally:
            for group, snapshot in snapshots.items():
                group.restore(snapshot)
        return self._outcomes.unreported(early)

    def found(self) -> list[Found]:
        """The matches since the last call, in order of time; none for queries that have more than
        they may."""
        self._collect()
        return self._outcomes.found()

    def withdrawn(self) -> Sequence[Found]:
        """The matches that were reported and are no more, since the last call: none, here."""
        return ()

    def groups(self) -> list[FoundGroup]:
        """In place of `found`: the matches since the last call by query, last event and time, in
        order of time."""
        self._collect()
        return self._outcomes.groups()

    def counts(self) -> dict[int, int]:
        """In place of `found`: how many matches of each query there are since the last call."""
        self._collect()
        return self._outcomes.counts()

    # What is known

    @property
    def memories(self) -> dict[int, Memory]:
        """The memories of queries, where not empty."""
        memories: defaultdict[int, Memory] = defaultdict(Memory)
        for group in self._groups:
            for (number, partition), time in group.runs.endings.reported.items():
                memories[number].reported.append((partition, time))
        self._remember_missed(memories)
        for key, time in self._outcomes.early().items():
            number, *events = key
            if self._of_query[number].keeps_early or number in self._hurried:
                memories[number].early.append((time, events))
        return memories

    def rebuild(
        self,
        before: Sequence[TypedEvent],
        after: Sequence[TypedEvent],
        watermark: int | None,
        memories: Mapping[int, Memory],
    ) -> None:
        """Makes a new stage equal to another one that had processed these events, some before the
        input had ended once, had reached that watermark, and whose queries had these memories; its
        matches were reported then."""
        self._recall_missed(memories)
        immediate, weak = self._immediate, self._weak
        self._immediate = {
            type_: [one for one in some if not one.weak] for type_, some in immediate.items()
        }
        self._weak = []
        if before:
            self._take_again(before, settled(after, watermark))
            self.flush()
        self._take_again(after, watermark)
        self._immediate, self._weak = immediate, weak
        # A weak query sees all in order of time, however it came, except for what it has missed.
        for _, some in portions((*before, *after), self._most) if weak else ():
            there = [(one, coming) for coming in some for one in immediate.get(coming[0], ())]
            taking = dict.fromkeys([one for one, _ in there if one.weak])
            for group in taking:
                group.begin()
            for group, coming in there:
                if group.weak:
                    group.take(*coming)
            for group in taking:
                group.settle()
                group.runs.endings.outcomes()
        self._touched |= dict.fromkeys(weak)
        self.advance(watermark)
        self._collect()
        self._outcomes.new()
        self._restore_memory(memories)

    def _take_again(self, events: Iterable[TypedEvent], watermark: int | None) -> None:
        """Takes events that were processed, up to a watermark; forgets what was reported then."""
        for time, some in portions(events, self._most):
            self.take(some)
            if watermark is not None and time <= watermark:
                self._advance(time)
            self._collect()
            self._outcomes.new()

    def _remember_missed(self, memories: defaultdict[int, Memory]) -> None:
        """Adds the events that came too late for queries."""
        for group in self._groups:
            if group.members.missing:
                for number, event, time in group.members.missed():
                    memories[number].missed.append((event, time))

    def _recall_missed(self, memories: Mapping[int, Memory]) -> None:
        """Queries do not see the events that came too late for them."""
        for number, memory in memories.items():
            members = self._of_query[number].members
            for event, time in memory.missed:
                members.miss(event, time, members.bit(number))

    def _restore_memory(self, memories: Mapping[int, Memory]) -> None:
        """A decision stays, whatever is found again: its reasons may be gone."""
        for group in self._groups:
            group.runs.endings.reported = {}
        for number, memory in memories.items():
            endings = self._of_query[number].runs.endings
            last = {(number, partition): time for partition, time in memory.reported}
            endings.reported = {**endings.reported, **last}
        known = {
            key: time
            for key, time in self._outcomes.early().items()
            if not self._of_query[key[0]].keeps_early
        }
        for number, memory in memories.items():
            known |= {(number, *found): time for time, found in memory.early}
            if memory.early and not self._of_query[number].keeps_early:
                self._hurried.add(number)
        self._outcomes.restore(known)

    def stats(self) -> Mapping[str, int]:
        """Counts of the state, and of what was dropped."""
        self._in_order.activate_all(self._watermark)
        groups = self._groups
        return {
            "queries": len(self._of_query),
            "templates": len({id(group.automaton) for group in groups}),
            "automata": len(groups),
            "runs": sum(len(group.runs) for group in groups),
            "epochs": sum(one.epochs for one in groups if isinstance(one, AutomatonGroup)),
            "waiting": len(self._buffered) + sum(len(group.before) for group in groups),
            "dropped": sum(group.dropped for group in groups),
        }

    def _collect(self) -> None:
        touched, self._touched = [*self._touched], {}
        if self._in_order.mixed:
            # From now on matches come in the order of queries, whichever was touched first.
            touched.sort(key=_rank)
        for group in touched:
            if group.members.stopped:
                self.stopped.update(group.members.stopped)
            found = group.runs.endings.outcomes()
            self._outcomes.add(found, monotone=group.monotone)
            if group.before or group.runs.endings.undecided:
                self._touched[group] = None


def settled(after: Iterable[TypedEvent], watermark: int | None) -> int | None:
    """Up to when is decided, with the watermark of now, what was so before some events came."""
    first = min([event[END] for _, event in after], default=None)
    return watermark if first is None or watermark is None else min(first, watermark)


def _withdraw(events: list[TypedEvent], first: int, end: int, time: int) -> None:
    """Drops some events of a time out of events in order of time."""
    start = bisect_left(events, time, key=_time)
    stop = bisect_right(events, time, start, key=_time)
    events[start:stop] = [one for one in events[start:stop] if not first <= one[1][NUMBER] < end]


def _time(coming: TypedEvent) -> Any:
    return coming[1][END]
