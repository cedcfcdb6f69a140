"""Patterns over events: events of a step in, the matches of all queries out.

Events come in any order.  Queries to which a further event can only add matches are told of it at
once, all others in order of time once the watermark has reached it: they share one buffer.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pattern_stage.automaton import Automaton
from pattern_stage.bounds import MOST
from pattern_stage.compiler.compile import automaton_of
from pattern_stage.endings import Identity
from pattern_stage.found import Found, Group, Outcome, found_in, grouped
from pattern_stage.layouts import Event, Layouts
from pattern_stage.memory import Memory
from pattern_stage.pattern import Pattern, Slot
from pattern_stage.shared import Shared
from pattern_stage.switches import checked

__all__ = ["FOREVER", "PatternStage"]

_ROUND = 256
"""After so many steps all look what has expired, not those alone that took events."""

_SCATTERED = 64
"""So many queries may have automata of their own that others could share."""

FOREVER = 1 << 62
"""A time, in microseconds, that is never reached."""

Waiting = tuple[int, Event]


class PatternStage:
    """The patterns of one engine.

    `without` names techniques that are switched off (`switches.SWITCHES`).  `identity` gives for an
    event's number what orders it among simultaneous ones where NON OVERLAPPING has to choose:
    (document's id, node's number, attribute's name, numbers of the nodes of the block's
    variables).
    """

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
        self._groups: dict[Shared, tuple[object, ...]] = {}
        self._open: dict[tuple[object, ...], Shared] = {}
        """The groups that take queries in, by what these have in common."""
        self._of_query: dict[int, Shared] = {}
        self._at_once: dict[int, list[Shared]] = {}
        self._in_order: dict[int, list[Shared]] = {}
        self._weak: list[Shared] = []
        self._waiting: list[Waiting] = []
        self._watermark: int | None = None
        self._touched: dict[Shared, None] = {}
        """Which have taken events in this step, or wait for time to pass."""
        self._steps = self._adopted = 0
        self._done: list[Outcome] = []
        self._early: list[Outcome] = []
        """What `flush` has found before its time."""
        self._known: dict[tuple[object, ...], int] = {}
        """The same of before the state was built again, by key, with its time."""

    # Queries

    def add(
        self,
        number: int,
        pattern: Pattern,
        types: Iterable[Iterable[int]],
        constants: Iterable[str | float],
        since: int = 0,
        weak: bool = False,
    ) -> None:
        """A query: for each component the numbers of its types, and its constants.

        It sees the events with a number not below `since`, and has none by now: one that is to
        see events of before is added to a new stage, which takes them again.
        """
        if number in self._of_query:
            raise ValueError(f"query {number} is there already")
        of, values = tuple(map(tuple, types)), tuple(constants)
        template = (pattern, of)
        automaton = self._automata.get(template)
        if automaton is None:
            automaton = automaton_of(pattern, of, self._layouts, self._without)
            self._automata[template] = automaton
        apart = number if "templates" in self._without else None
        # What one that is weak drops goes by the newest event that it has seen itself.
        clock = since if weak else None
        key = (template, tuple(values[place] for place in automaton.fixed), weak, clock, apart)
        group = self._open.get(key)
        if group is None or group.members.worn:
            group = Shared(
                pattern, automaton, values, weak, self._identity, self._without, self._most
            )
            self._open[key] = group
            self._route(group, key)
        group.members.add(number, values, since)
        self._of_query[number] = group
        self._version += 1

    def apart(self) -> PatternStage:
        """An empty stage for queries that are to see events of before they come; `adopt` takes
        these over when they have."""
        other = PatternStage(self._without, self._identity, self._most)
        other._layouts, other._automata = self._layouts, self._automata
        return other

    def adopt(self, other: PatternStage, since: int) -> None:
        """Takes over the queries of a stage that was `apart`, with what they have taken and what
        waits for the watermark; here they see events with a number not below `since`."""
        for group, key in other._groups.items():
            if not group.at_once:
                # What waits here may lack what they read of it.
                group.members.see_from(since)
                group.before = [one for one in other._waiting if one[0] in group.components]
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
        make the stage again, where those that are alike share one."""
        return self._adopted > max(_SCATTERED, len(self._of_query) // 8)

    def _route(self, group: Shared, key: tuple[object, ...]) -> None:
        """From now on a group takes events."""
        self._groups[group] = key
        for type_ in group.components:
            routes = self._at_once if group.at_once else self._in_order
            routes.setdefault(type_, []).append(group)
        if group.weak:
            self._weak.append(group)

    def remove(self, number: int) -> None:
        """Takes a query away."""
        group = self._of_query.pop(number)
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
        for type_ in group.components:
            (self._at_once if group.at_once else self._in_order)[type_].remove(group)
        if group.weak:
            self._weak.remove(group)

    def __contains__(self, number: int) -> bool:
        return number in self._of_query

    @property
    def version(self) -> int:
        """Grows whenever slots, or how long events can be needed, may have changed."""
        return self._version

    def slots(self, type_: int) -> tuple[Slot | None, ...]:
        """The slots of a type's events, behind time and number; None at a place that none reads:
        any value will do there."""
        return self._layouts.slots(type_)

    def reach(self, type_: int) -> int:
        """For how many microseconds after its time an event of a type can be needed, once the
        watermark has reached it; FOREVER where no window ends that, 0 if no query reads it."""
        reach = 0
        for groups in (self._at_once, self._in_order):
            for group in groups.get(type_, ()):
                needed = group.reach(type_)
                if needed is None:
                    return FOREVER
                reach = max(reach, needed)
        return reach

    # Steps

    def take(self, events: Iterable[Waiting]) -> None:
        """The events of a step with their types, in any order, none before the watermark."""
        coming = sorted(events, key=_time)
        weak = [group for group in self._weak if coming]
        for group in weak:
            group.begin()
        at_once, in_order, waiting = self._at_once, self._in_order, self._waiting
        touched = self._touched
        for type_, event in coming:
            for group in at_once.get(type_, ()):
                touched[group] = None
                group.take(type_, event)
            if type_ in in_order:
                if not waiting or event[0] >= waiting[-1][1][0]:
                    waiting.append((type_, event))
                else:
                    insort(waiting, (type_, event), key=_time)
        for group in weak:
            group.settle()

    def advance(self, watermark: int | None) -> None:
        """No event before `watermark` will come any more (None: nothing is known)."""
        if watermark is None or (self._watermark is not None and watermark < self._watermark):
            return
        self._watermark = watermark
        due = bisect_right(self._waiting, watermark, key=_time)
        for type_, event in self._waiting[:due]:
            for group in self._in_order.get(type_, ()):
                self._touched[group] = None
                group.take(type_, event)
        del self._waiting[:due]
        self._steps += 1
        if self._steps % _ROUND == 0:
            self._touched = dict.fromkeys(self._groups)
        for group in self._touched:
            if group.before:
                group.catch_up(watermark)
            group.advance(watermark)
        self._collect()
        if self._early:
            self._early = [outcome for outcome in self._early if outcome.time >= watermark]
        if self._known:
            self._known = {key: time for key, time in self._known.items() if time >= watermark}

    def miss(self, events: Iterable[Waiting]) -> None:
        """Events that come too late for the queries that there are."""
        for type_, event in events:
            for groups in (self._at_once, self._in_order):
                for group in groups.get(type_, ()):
                    group.members.miss(event[1], event[0], group.members.seeing(event))

    def flush(self) -> None:
        """Finds what would be found if no event came any more; the watermark stays."""
        early = self._pending()
        self._done += early
        self._early += early

    def pending(self) -> dict[int, tuple[int, int]]:
        """How many matches of each query `flush` would find now, and the time when the last of
        them is known; nothing changes by it."""
        pending: dict[int, tuple[int, int]] = {}
        for outcome in self._pending():
            size, time = outcome.size, outcome.time
            for number in outcome.numbers:
                many, until = pending.get(number, (0, time))
                pending[number] = many + size, max(until, time)
        return pending

    def _pending(self) -> list[Outcome]:
        """What would be found if no event came any more, and was not found before."""
        self._collect()
        waiting = (one for one in self._groups if one.before or one.runs.endings.waiting)
        apart = {group: group.copy() for group in waiting}
        for type_, event in self._waiting:
            for group in self._in_order.get(type_, ()):
                if group not in apart:
                    apart[group] = group.copy()
                apart[group].take(type_, event)
        early = list[Outcome]()
        for group in apart.values():
            group.catch_up(None)
            group.runs.endings.settle(None)
            self.stopped |= group.members.stopped
            early += group.runs.endings.outcomes()
        return self._unknown(early)

    def found(self) -> list[Found]:
        """The matches since the last call, in order of time; none of queries that have more than
        they may."""
        return found_in(self._within_bounds(self._outcomes()))

    def groups(self) -> list[Group]:
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
        """What queries remember, of those that have something to."""
        memories: defaultdict[int, Memory] = defaultdict(Memory)
        for group in self._groups:
            for (number, partition), time in group.runs.endings.reported.items():
                memories[number].reported.append((partition, time))
            if group.members.missing:
                for number, event, time in group.members.missed():
                    memories[number].missed.append((event, time))
        for key, time in self._all_early().items():
            number, *events = key
            if self._of_query[number].forks:
                memories[number].early.append((time, events))
        return memories

    def rebuild(
        self,
        before: Sequence[Waiting],
        after: Sequence[Waiting],
        watermark: int | None,
        memories: Mapping[int, Memory],
    ) -> None:
        """Makes a new stage what another one was that had taken these events, some before the input
        had ended once, had come to that watermark, and whose queries had these memories: what it
        found was reported then."""
        for number, memory in memories.items():
            members = self._of_query[number].members
            for event, time in memory.missed:
                members.miss(event, time, members.bit(number))
        at_once, weak = self._at_once, self._weak
        self._at_once = {
            type_: [one for one in some if not one.weak] for type_, some in at_once.items()
        }
        self._weak = []
        if before:
            self.take(before)
            self.flush()
        self.take(after)
        self._at_once, self._weak = at_once, weak
        # What is weak sees all in order of time, however it came, but for what it has missed.
        for coming in sorted((*before, *after), key=_time):
            for group in at_once.get(coming[0], ()):
                if group.weak:
                    group.take(*coming)
        self._touched |= dict.fromkeys(weak)
        self.advance(watermark)
        self._outcomes()
        self._remember(memories)

    def _remember(self, memories: Mapping[int, Memory]) -> None:
        """What was decided stays, whatever is found again: what decided it may have gone."""
        for group in self._groups:
            group.runs.endings.reported = {}
        for number, memory in memories.items():
            endings = self._of_query[number].runs.endings
            last = {(number, partition): time for partition, time in memory.reported}
            endings.reported = {**endings.reported, **last}
        early = self._all_early()
        self._early = []
        self._known = {key: time for key, time in early.items() if not self._of_query[key[0]].forks}
        for number, memory in memories.items():
            self._known |= {(number, *found): time for time, found in memory.early}

    def _all_early(self) -> dict[tuple[Any, ...], int]:
        early = {match.key: match.time for match in found_in(self._early)} | self._known
        return {key: time for key, time in early.items() if key[0] in self._of_query}

    def stats(self) -> Mapping[str, int]:
        """Counts of what is held, and of what was dropped."""
        groups = self._groups
        return {
            "queries": len(self._of_query),
            "templates": len({id(group.automaton) for group in groups}),
            "automata": len(groups),
            "runs": sum(len(group.runs) for group in groups),
            "waiting": len(self._waiting) + sum(len(group.before) for group in groups),
            "dropped": sum(group.dropped for group in groups),
        }

    def _outcomes(self) -> list[Outcome]:
        self._collect()
        done, self._done = self._done, []
        return done

    def _collect(self) -> None:
        touched, self._touched = self._touched, {}
        for group in touched:
            if group.members.stopped:
                self.stopped |= group.members.stopped
            done = group.runs.endings.outcomes()
            self._done += done if group.monotone else self._unknown(done)
            if group.before or group.runs.endings.waiting:
                self._touched[group] = None

    def _within_bounds(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Outcomes that are to be gone through, but for those of queries that are stopped."""
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
        """Those matches that `flush` has not found before."""
        if not outcomes or not (self._early or self._known):
            return outcomes
        known = self._all_early()
        return [
            Outcome((match.number,), [match.events], None, match.time)
            for match in found_in(self._within_bounds(outcomes))
            if match.key not in known
        ]


def _time(coming: Waiting) -> Any:
    return coming[1][0]
