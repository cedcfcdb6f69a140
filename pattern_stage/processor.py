"""Patterns over events: events of a step in, the matches of all queries out.

Events come in any order.  Queries to which a further event can only add matches process it
immediately, all others in order of time once the watermark has reached it: they share one buffer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from xscl.pattern_stage.automata.dormant import Dormant
from xscl.pattern_stage.automata.group import AutomatonGroup, replaced
from xscl.pattern_stage.automata.program import Arc, Life, Program
from xscl.pattern_stage.automaton import Automaton
from xscl.pattern_stage.bounds import MOST
from xscl.pattern_stage.compiler.compile import automaton_of
from xscl.pattern_stage.endings import Identity
from xscl.pattern_stage.found import Found, FoundGroup, Outcome, found_in, grouped
from xscl.pattern_stage.layouts import END, NUMBER, Event, Layouts
from xscl.pattern_stage.memory import Memory
from xscl.pattern_stage.pattern import Pattern
from xscl.pattern_stage.shared import Shared
from xscl.pattern_stage.switches import checked
from xscl.pattern_stage.values.terms import Slot

__all__ = ["FOREVER", "PatternStage"]

Group = Shared | AutomatonGroup

_ROUND = 256
"""After so many steps all groups drop what has expired, not only those that processed events."""

_NAP = 2
"""After so many events an automaton that woke is asked whether it sleeps again, then ever later."""

_OFTEN = 4
"""An automaton that sleeps takes an event alone; it wakes where it takes one of so many."""

_LONGEST = 4096
"""What wakes again and again is asked whether it sleeps after so many events at last."""

_SCATTERED = 64
"""So many queries may have automata of their own that they could share."""

FOREVER = 1 << 62
"""A time, in microseconds, that is never reached."""

PendingEvent = tuple[int, Event]


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
        self.stopped: dict[int, str] = {}
        """Queries that have exceeded a bound, and why; they are to be removed."""
        self._layouts = Layouts()
        self._version = 0
        self._automata: dict[object, Automaton] = {}
        self._groups: dict[Group, tuple[object, ...]] = {}
        self._open: dict[tuple[object, ...], Shared] = {}
        """The groups that accept queries, by the properties that these share."""
        self._of_query: dict[int, Group] = {}
        self._immediate: dict[int, list[Group]] = {}
        self._in_order: dict[int, list[Group]] = {}
        self._awake: dict[int, dict[Group, None]] = {}
        """Of those in order, the ones that take each event."""
        self._dormant = Dormant()
        """And those that take none before one begins a run of them."""
        self._nodded: dict[Group, int] = {}
        """Of those that sleep, after how many events in order each has taken its last one."""
        self._vigils: dict[Group, tuple[int, int]] = {}
        """When one woke, and for how many events it does not sleep again."""
        self._ordered = 0
        self._tired: dict[Group, None] = {}
        """Those awake that are asked before the next event whether they sleep: another one may have
        come at the time of the last."""
        self._ranks: dict[Group, int] | None = None
        """The places of groups among all, once some have slept: matches of one time come in that
        order."""
        self._weak: list[Group] = []
        self._buffered: list[PendingEvent] = []
        self._watermark: int | None = None
        self._touched: dict[Group, None] = {}
        """Those that have processed events in this step, or have pending ones."""
        self._promised: dict[AutomatonGroup, None] = {}
        """Automata whose types have punctuations."""
        self._steps = self._adopted = 0
        self._done: list[Outcome] = []
        self._early: list[Outcome] = []
        """The matches that `flush` has reported before their time."""
        self._known: dict[tuple[object, ...], int] = {}
        """The same from before the state was rebuilt, by key, with their times."""

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
        self._awaken(group)
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

    def recall(self, number: int, events: Iterable[PendingEvent]) -> None:
        """The events of an automaton that have come are these, as they are read now."""
        group = self._of_query[number]
        assert isinstance(group, AutomatonGroup)
        self._awaken(group)
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
        other._awaken_all()
        for group, key in other._groups.items():
            if not group.immediate:
                # Events that are pending here may lack attributes that the new queries read.
                group.members.see_from(since)
                group.before = [one for one in other._buffered if one[0] in group.components]
            self._route(group, key)
        self._of_query.update(other._of_query)
        self.stopped.update(other.stopped)
        self._adopted += len(other._groups)
        self._early += other._early
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
        if self._ranks is not None:
            self._ranks[group] = next(reversed(self._ranks.values()), 0) + 1
        for type_ in group.components:
            routes = self._immediate if group.immediate else self._in_order
            routes.setdefault(type_, []).append(group)
            if not group.immediate:
                if isinstance(group, AutomatonGroup):
                    self._tired[group] = None
                self._awake.setdefault(type_, {})[group] = None
        if group.weak:
            self._weak.append(group)

    def remove(self, number: int) -> None:
        """Removes a query."""
        group = self._of_query.pop(number)
        group.remove(number)
        self.stopped.pop(number, None)
        self._version += 1
        if len(group.members):
            return
        key = self._groups.pop(group)
        if self._ranks is not None:
            del self._ranks[group]
        if self._open.get(key) is group:
            del self._open[key]
        if not any(group.automaton is other.automaton for other in self._groups):
            self._automata.pop(key[0], None)
        self._touched.pop(group, None)
        self._tired.pop(group, None)
        if isinstance(group, AutomatonGroup):
            self._promised.pop(group, None)
            self._nodded.pop(group, None)
            self._vigils.pop(group, None)
            self._dormant.remove(group)
        for type_ in group.components:
            self._awake.get(type_, {}).pop(group, None)
            (self._immediate if group.immediate else self._in_order)[type_].remove(group)
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
        for groups in (self._immediate, self._in_order):
            for group in groups.get(type_, ()):
                needed = group.reach(type_)
                if needed is None:
                    return FOREVER
                reach = max(reach, needed)
        return reach

    # Steps

    def take(self, events: Iterable[PendingEvent]) -> None:
        """Processes the events of a step with their types, in any order, none before the
        watermark."""
        coming = sorted(events, key=_time)
        weak = [group for group in self._weak if coming]
        for one in weak:
            one.begin()
        immediate, in_order, buffered = self._immediate, self._in_order, self._buffered
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
        self._watermark = watermark
        if self.is_empty and not self._buffered:
            return
        due = bisect_right(self._buffered, watermark, key=_time)
        self._take_in_order(self._buffered[:due])
        del self._buffered[:due]
        self._steps += 1
        if self._steps % _ROUND == 0:
            dormant = self._dormant
            self._touched |= dict.fromkeys([one for one in self._groups if one not in dormant])
            for one in dormant.dreaming:
                dormant.end(one, watermark)
                one.advance(watermark)
                if not dormant.add(one):
                    self._awaken(one)
        for group in self._touched:
            if group.before:
                group.catch_up(watermark)
            group.advance(watermark)
            if isinstance(group, AutomatonGroup) and not self._rest(
                group, watermark, self._ordered
            ):
                self._tired[group] = None
        self._collect()
        if self._promised:
            self._free()
        if self._early:
            self._early = [outcome for outcome in self._early if outcome.time >= watermark]
        if self._known:
            self._known = {key: time for key, time in self._known.items() if time >= watermark}

    def _take_in_order(self, events: Sequence[PendingEvent]) -> None:
        """Processes events in order of time."""
        awake, touched, dormant, nodded = self._awake, self._touched, self._dormant, self._nodded
        checks: dict[int, list[tuple[int, Group]]] = {0: [(-1, one) for one in self._tired]}
        if events:
            self._tired = {}
        ordered, self._ordered = self._ordered, self._ordered + len(events)
        for at, (type_, event) in enumerate(events):
            for since, group in checks.pop(at, ()) if checks else ():
                # What was woken often can sleep soon, and is asked ever more rarely.
                if not self._rest(group, event[END], ordered + at):
                    checks.setdefault(2 * at - since, []).append((since, group))
            fresh: list[AutomatonGroup] = []
            for group in dormant.woken(type_, event) if dormant else ():
                last, nodded[group] = nodded.get(group, -_OFTEN), ordered + at
                if ordered + at - last < _OFTEN:
                    self._wake(group, event[END])
                    length = self._watch(group, ordered + at)
                    checks.setdefault(at + length, []).append((at, group))
                    continue
                dormant.end(group, event[END])
                group.take_next(type_, event)
                if group.query.changes or group.members.stopped:
                    touched[group] = None
                    self._rank()
                if not dormant.add(group):
                    fresh.append(group)
            for one in awake.get(type_, ()):
                touched[one] = None
                one.take(type_, event)
            for group in fresh:
                self._wake(group, event[END])
                checks.setdefault(at + _NAP, []).append((at, group))
            if dormant:
                dormant.passed(type_, event)

    def _watch(self, group: Group, at: int) -> int:
        """A group has woken; returns for how many events it does not sleep, which are the more the
        shorter it has slept."""
        since, length = self._vigils.get(group, (-_LONGEST, _NAP))
        length = min(2 * length, _LONGEST) if at - since < _OFTEN * length else _NAP
        self._vigils[group] = at, length
        return length

    def _rest(self, group: Group, time: int, at: int) -> bool:
        """Lets a group sleep of which it is known what events from a time on wake it, of which
        there were so many before; returns whether it sleeps."""
        if group in self._dormant:
            return True
        if group in self._vigils and at < sum(self._vigils[group]):
            return False
        if not isinstance(group, AutomatonGroup) or group.immediate or not group.rests(time):
            return False
        if not self._dormant.add(group):
            return False
        for type_ in group.components:
            self._awake[type_].pop(group, None)
        return True

    def _wake(self, group: AutomatonGroup, time: int | None = None) -> bool:
        """A group takes each event again, of a time or later; or also those of the newest time;
        returns whether it slept."""
        missed: list[PendingEvent] = []
        if time is None:
            missed = self._dormant.missed(group)
        else:
            self._dormant.end(group, time)
        slept = self._dormant.remove(group)
        for type_ in group.components if slept else ():
            self._awake[type_][group] = None
        if slept:
            self._rank()
        for coming in missed:
            group.take(*coming)
        return slept

    def _awaken(self, group: AutomatonGroup) -> None:
        """A group that may sleep knows all that the others do."""
        if self._wake(group):
            self._tired[group] = None
            if self._watermark is not None:
                group.advance(self._watermark)

    def _awaken_all(self) -> None:
        """No group sleeps that has runs."""
        for group in self._dormant.dreaming:
            self._awaken(group)

    def _rank(self) -> None:
        """From now on matches come in the order of groups, whichever was touched first."""
        if self._ranks is None:
            self._ranks = {one: at for at, one in enumerate(self._groups)}

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

    def miss(self, events: Iterable[PendingEvent]) -> None:
        """Notes events that come too late for the current queries."""
        for type_, event in events:
            for groups in (self._immediate, self._in_order):
                for group in groups.get(type_, ()):
                    group.members.miss(event[NUMBER], event[END], group.members.seeing(event))

    def flush(self) -> None:
        """Reports what would be reported if no further event came; the watermark stays."""
        early = self._pending()
        self._done += early
        self._early += early

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
        self._awaken_all()
        self._collect()
        undecided = (one for one in self._groups if one.before or one.runs.endings.undecided)
        snapshots = {group: group.snapshot() for group in undecided}
        early = list[Outcome]()
        try:
            for type_, event in self._buffered:
                for group in self._in_order.get(type_, ()):
                    if group not in snapshots:
                        snapshots[group] = group.snapshot()
                    group.take(type_, event)
            for group in snapshots:
                group.catch_up(None)
                group.runs.endings.settle(None)
                self.stopped |= group.members.stopped
                early += group.runs.endings.outcomes()
        finally:
            for group, snapshot in snapshots.items():
                group.restore(snapshot)
        return self._unknown(early)

    def found(self) -> list[Found]:
        """The matches since the last call, in order of time; none for queries that have more than
        they may."""
        return found_in(self._within_bounds(self._outcomes()))

    def withdrawn(self) -> Sequence[Found]:
        """The matches that were reported and are no more, since the last call: none, here."""
        return ()

    def groups(self) -> list[FoundGroup]:
        """In place of `found`: the matches since the last call by query, last event and time, in
        order of time."""
        return grouped(self._outcomes())

    def counts(self) -> dict[int, int]:
        """In place of `found`: how many matches of each query there are since the last call."""
        counts: dict[int, int] = {}
        for outcome in self._outcomes():
            count = outcome.size
            for number in outcome.numbers:
                counts[number] = counts.get(number, 0) + count
        return counts

    # What is known

    @property
    def memories(self) -> dict[int, Memory]:
        """The memories of queries, where not empty."""
        memories: defaultdict[int, Memory] = defaultdict(Memory)
        for group in self._groups:
            for (number, partition), time in group.runs.endings.reported.items():
                memories[number].reported.append((partition, time))
            if group.members.missing:
                for number, event, time in group.members.missed():
                    memories[number].missed.append((event, time))
        for key, time in self._all_early().items():
            number, *events = key
            if self._of_query[number].keeps_early:
                memories[number].early.append((time, events))
        return memories

    def rebuild(
        self,
        before: Sequence[PendingEvent],
        after: Sequence[PendingEvent],
        watermark: int | None,
        memories: Mapping[int, Memory],
    ) -> None:
        """Makes a new stage equal to another one that had processed these events, some before the
        input had ended once, had reached that watermark, and whose queries had these memories; its
        matches were reported then."""
        for number, memory in memories.items():
            members = self._of_query[number].members
            for event, time in memory.missed:
                members.miss(event, time, members.bit(number))
        immediate, weak = self._immediate, self._weak
        self._immediate = {
            type_: [one for one in some if not one.weak] for type_, some in immediate.items()
        }
        self._weak = []
        if before:
            self.take(before)
            self.flush()
        self.take(after)
        self._immediate, self._weak = immediate, weak
        # A weak query sees all in order of time, however it came, except for what it has missed.
        for coming in sorted((*before, *after), key=_time):
            for group in immediate.get(coming[0], ()):
                if group.weak:
                    group.take(*coming)
        self._touched |= dict.fromkeys(weak)
        self.advance(watermark)
        self._outcomes()
        self._restore_memory(memories)

    def _restore_memory(self, memories: Mapping[int, Memory]) -> None:
        """A decision stays, whatever is found again: its reasons may be gone."""
        for group in self._groups:
            group.runs.endings.reported = {}
        for number, memory in memories.items():
            endings = self._of_query[number].runs.endings
            last = {(number, partition): time for partition, time in memory.reported}
            endings.reported = {**endings.reported, **last}
        early = self._all_early()
        self._early = []
        self._known = {
            key: time for key, time in early.items() if not self._of_query[key[0]].keeps_early
        }
        for number, memory in memories.items():
            self._known |= {(number, *found): time for time, found in memory.early}

    def _all_early(self) -> dict[tuple[Any, ...], int]:
        early = {match.key: match.time for match in found_in(self._early)} | self._known
        return {key: time for key, time in early.items() if key[0] in self._of_query}

    def stats(self) -> Mapping[str, int]:
        """Counts of the state, and of what was dropped."""
        self._awaken_all()
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

    def _outcomes(self) -> list[Outcome]:
        self._collect()
        done, self._done = self._done, []
        return done

    def _collect(self) -> None:
        touched, self._touched = [*self._touched], {}
        if self._ranks is not None:
            touched.sort(key=self._ranks.__getitem__)
        for group in touched:
            if group.members.stopped:
                self.stopped |= group.members.stopped
            done = group.runs.endings.outcomes()
            self._done += done if group.monotone else self._unknown(done)
            if group.before or group.runs.endings.undecided:
                self._touched[group] = None

    def _within_bounds(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Outcomes to be enumerated, without those of stopped queries."""
        most = self._most
        if sum([one.size * len(one.numbers) for one in outcomes]) > most:
            counts = Counter[int]()
            for one in outcomes:
                size = one.size
                for number in one.numbers:
                    counts[number] += size
            why = f"more than {most:,} matches in one step"
            self.stopped |= {number: why for number, many in counts.items() if many > most}
        if not self.stopped:
            return outcomes
        return [
            one._replace(
                numbers=tuple([number for number in one.numbers if number not in self.stopped])
            )
            for one in outcomes
        ]

    def _unknown(self, outcomes: list[Outcome]) -> list[Outcome]:
        """The matches that `flush` has not reported before."""
        if not outcomes or not (self._early or self._known):
            return outcomes
        known = self._all_early()
        return [
            Outcome((match.number,), [match.events], None, match.time)
            for match in found_in(self._within_bounds(outcomes))
            if match.key not in known
        ]


def _withdraw(events: list[PendingEvent], first: int, end: int, time: int) -> None:
    """Drops some events of a time out of events in order of time."""
    start = bisect_left(events, time, key=_time)
    stop = bisect_right(events, time, start, key=_time)
    events[start:stop] = [one for one in events[start:stop] if not first <= one[1][NUMBER] < end]


def _time(coming: PendingEvent) -> Any:
    return coming[1][END]
