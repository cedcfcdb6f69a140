"""One automaton over its input: events by part, matches that come and go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import groupby
from operator import le, lt

from xscl.pattern_stage.automata.closings import closings
from xscl.pattern_stage.automata.epoch import Key
from xscl.pattern_stage.automata.lives import LivingArcs
from xscl.pattern_stage.automata.part import Part
from xscl.pattern_stage.automata.program import Arc, Life, Program
from xscl.pattern_stage.automata.sequenced import SequencedPart
from xscl.pattern_stage.automata.tables import Step, Table
from xscl.pattern_stage.automata.texts import CompiledArc, compiled_arc, integral_in, shape_of
from xscl.pattern_stage.automata.wakers import Wakers
from xscl.pattern_stage.layouts import END, NUMBER, Event, Layouts, TypedEvent
from xscl.pattern_stage.values.terms import Form, Slot

__all__ = ["AutomatonQuery"]


_KNOWN = 64
"""So many arcs that live no more may stay compiled, for when they come again."""


class AutomatonQuery:
    """An automaton whose types are the engine's `types`, of `states`, of which some are `final`.

    Events come in any order; `changes` has the matches that are new (1) and those that are no more
    (-1) since they were taken.  Where it is `sequenced`, and says what numbers events, no step is
    made across a gap that the watermark has not passed.
    """

    def __init__(
        self,
        program: Program,
        arcs: Iterable[tuple[Life, Arc]],
        states: int,
        final: Collection[int],
        types: Sequence[int],
        layouts: Layouts,
        *,
        sequenced: bool = False,
    ) -> None:
        self.program, self.states, self.final = program, states, {*final}
        self.types = tuple(types)
        self.changes: dict[Key, int] = {}
        self.clock = self._newest = self._oldest = float("-inf")
        self._layouts = layouts
        self._compiled: dict[int, CompiledArc] = {}
        """By the identity of an arc, which it has."""
        self._shape = shape_of(program, integral_in(program, ()))
        self._living = LivingArcs(self._table)
        self._counts: dict[Key, int] = {}
        self._parts: dict[tuple[str, ...], Part] = {}
        self._due: list[tuple[float, tuple[str, ...]]] = []
        self._touched: dict[tuple[str, ...], None] = {}
        """The parts that may have changed since `evict`."""
        self._staying: list[tuple[float, tuple[str, ...]]] = []
        """Until when parts stay as they are; what a part is not in `_stays` with has passed."""
        self._stays: dict[tuple[str, ...], float] = {}
        self._local: dict[int, list[int]] = {}
        for local, type_ in enumerate(self.types):
            self._local.setdefault(type_, []).append(local)
        slots = [Slot(attribute, Form.TEXT) for attribute in program.by]
        of_type = dict.fromkeys(self.types)
        self._by = {type_: [layouts.place((type_,), slot) for slot in slots] for type_ in of_type}
        self._places: list[int] | None = None
        """By type of its own, where the numbers of events are, if they are to be looked at."""
        if sequenced and program.sequence is not None:
            number = Slot(program.sequence, Form.NUMBER)
            self._places = [layouts.place((type_,), number) for type_ in self.types]
        self.arcs: list[tuple[Life, Arc]] = []
        self._rearranged = float("inf")
        """From when on arcs differ that events have not met yet."""
        self.rearrange(arcs, float("-inf"))
        self.catch_up()

    def extend(self, states: int, final: Collection[int]) -> None:
        """There are so many states from now on, of which these are final."""
        if states > self.states:
            for part in self._parts.values():
                part.extend(states - self.states)
        if (states, {*final}) != (self.states, self.final):
            self._living.remake()
        self.states, self.final = states, {*final}

    def rearrange(self, arcs: Iterable[tuple[Life, Arc]], since: float) -> None:
        """From now on these are the arcs, which differ from `since` on; `catch_up` follows, once
        events have the attributes that these read."""
        self.arcs = [one for one in arcs if one[0][1] > self._oldest]
        self.__dict__.pop("wakers", None)
        fresh = [arc for _, arc in self.arcs if id(arc) not in self._compiled]
        if fresh:
            self._compile(fresh)
        closed, compiled = self._living.closes, self._compiled
        self._living.replace([(life, compiled[id(arc)]) for life, arc in self.arcs])
        if since > max(self.clock, self._newest) and closed >= self._living.closes:
            # Nothing that has been stepped over changes.
            return
        self._rearranged = min(since, self._rearranged)

    def catch_up(self) -> None:
        """Events that have come meet the arcs as they are now, where these differ for them."""
        since, self._rearranged = self._rearranged, float("inf")
        for by, part in self._parts.items() if since < float("inf") else ():
            # Without arcs that close windows, parts have not followed the time.
            part.clock = max(part.clock, self.clock)
            part.rearranged(since)
            self._await(by, part)

    @cached_property
    def wakers(self) -> Wakers | None:
        """The events that can do something to it; None where time does something, too, or where a
        document is several of its events, each of which has to be ignored."""
        if self._living.opens or self._living.closes or len({*self.types}) < len(self.types):
            return None
        first, known = {self.program.start}, 0
        while known < len(first):
            known = len(first)
            first |= {
                arc.target for _, arc in self.arcs if arc.kind == "epsilon" and arc.source in first
            }
        compiled = self._compiled
        arcs = [(life, compiled[id(arc)]) for life, arc in self.arcs]
        return Wakers(arcs, self.program, self.types, first)

    @property
    def occupied(self) -> int:
        """The states, as a mask, that runs are in, or were before the newest epoch: another event
        may still come at its time."""
        states, empty = 0, self._shape.empty
        for part in self._parts.values():
            for epoch in part.epochs[-2:]:
                for state, runs in enumerate(epoch.lists):
                    if runs is not empty:
                        states |= 1 << state
        return states

    @property
    def newest(self) -> float:
        """The time of the newest event that was taken."""
        return self._newest

    def end(self, states: int) -> None:
        """An event after the newest one that was taken has ended all runs in some states."""
        for part in self._parts.values():
            part.end(states)

    @property
    def opens(self) -> bool:
        """Whether there are arcs that fire when a window opens."""
        return self._living.opens

    def _compile(self, fresh: Sequence[Arc]) -> None:
        """Makes functions for arcs that have none."""
        # A field stays what it became once: runs may have values of arcs that are no more.
        integral = integral_in(self.program, fresh, self._shape.integral)
        if integral != {*self._shape.integral}:
            self._compiled = {}
            shape = shape_of(self.program, integral)
            for part in self._parts.values():
                part.reshape(shape)
            self._shape = shape
            self._living.remake()
        if len(self._compiled) > 2 * len(self.arcs) + _KNOWN:
            before = self._compiled
            self._compiled = {id(arc): before[id(arc)] for _, arc in self.arcs if id(arc) in before}
        for _, arc in self.arcs:
            if id(arc) not in self._compiled:
                types = self.types if arc.type is None else (self.types[arc.type],)
                self._compiled[id(arc)] = compiled_arc(
                    arc, self.program, self._shape, types, self._layouts
                )

    def _table(self, arcs: Iterable[CompiledArc]) -> Table:
        return Table(self.program, self._shape, arcs, self.states, self.final, len(self.types))

    # Events

    def take(self, time: int, events: Iterable[TypedEvent]) -> None:
        """Events of one time come, with the engine's types."""
        self._newest = max(self._newest, time)
        of_part: dict[tuple[str, ...], list[TypedEvent]] = {}
        for type_, event in events:
            by = self._part_of(type_, event) if self.program.by else ()
            if by is not None:
                some = [(local, event) for local in self._local[type_]]
                of_part[by] = of_part[by] + some if by in of_part else some
        for by, some in of_part.items():
            part = self._part(by)
            part.add(time, some)
            self._await(by, part)

    def take_next(self, type_: int, event: Event) -> None:
        """An event comes before which nothing comes any more, with the engine's type: a lighter way
        than `take_all`, for one that comes alone."""
        time, local = event[END], self._local[type_]
        by = self._part_of(type_, event) if self.program.by else ()
        if by is None:
            return
        part = self._part(by)
        if len(local) > 1 or (part.epochs and part.epochs[-1].time >= time):
            self.take(time, [(type_, event)])
            return
        self._newest = time
        table = self._living.at(time)
        part.add_next((local[0], event), table, table.plan(local[0], event))

    def take_all(self, events: Sequence[TypedEvent], *, forget: bool = False) -> int:
        """Events come, with the engine's types; returns how many runs their parts have.

        Where they are in order of time, newer than all others, this is faster than `take` with each
        of them, and more so where it may `forget` all that is before the last one: nothing more
        comes there.
        """
        # What events do is the same in all parts.
        typed = [(local, event) for type_, event in events for local in self._local[type_]]
        times = [event[END] for _, event in typed]
        if not all(map(le, times, times[1:])):
            typed.sort(key=_time)
            times.sort()
        last = times[-1]
        self._newest = max(self._newest, last)
        steps = self._living.steps(typed, times)
        if not self.program.by:
            runs = self._take_in_part((), steps, times, forget=forget)
        else:
            of_part: dict[tuple[str, ...], list[Step]] = {}
            for step in steps:
                by = self._part_of(self.types[step[0][0]], step[0][1])
                if by is not None:
                    of_part.setdefault(by, []).append(step)
            runs = 0
            for by, some in of_part.items():
                times = [one[1][END] for one, _, _ in some]
                runs += self._take_in_part(by, some, times, forget=forget)
        self.settle(last)
        return runs

    def _take_in_part(
        self,
        by: tuple[str, ...],
        steps: Iterable[Step],
        times: Sequence[int],
        *,
        forget: bool,
    ) -> int:
        """Takes the events of a part; returns how many runs it has."""
        part = self._part(by)
        newest = part.epochs[-1].time if part.epochs else float("-inf")
        if newest < times[0] and all(map(lt, times, times[1:])):
            part.add_all(steps, len(times), forget=forget)
        else:
            for time, together in groupby(steps, _time_of):
                part.add(time, [one for one, _, _ in together])
        self._await(by, part)
        return part.runs

    def _part(self, by: tuple[str, ...]) -> Part:
        part = self._parts.get(by)
        if part is None:
            kind = Part if self._places is None else SequencedPart
            part = self._parts[by] = kind(
                self.program,
                by,
                self._shape,
                self.states,
                self._living,
                self._changed,
                self._passed,
            )
            if isinstance(part, SequencedPart):
                part.places = self._places or ()
        part.clock = max(part.clock, self.clock)
        self._touched[by] = None
        return part

    def recall(self, time: int, type_: int, event: Event) -> None:
        """An event that has come, as it is read now; where nothing is known of its part any more,
        that it has come is known again."""
        by = self._part_of(type_, event)
        if by is None or time > max(self.clock, self._newest):
            return
        self._part(by).recall(time, event)

    def retract(self, time: int, type_: int, event: Event) -> None:
        """An event that was taken is as if it had never come."""
        by = self._part_of(type_, event)
        part = None if by is None else self._parts.get(by)
        if part is not None and by is not None:
            self._touched[by] = None
            part.remove(time, lambda one: one[1][NUMBER] == event[NUMBER])
            self._await(by, part)

    def _part_of(self, type_: int, event: Event) -> tuple[str, ...] | None:
        """The part that an event is in; None where it lacks what splits the input."""
        by = tuple([event[place] for place in self._by[type_]])
        return None if None in by else by

    # Time

    def settle(self, clock: float) -> None:
        """The query's clock goes on: windows close."""
        if clock <= self.clock:
            return
        self.clock = clock
        if self._places is not None and clock == float("inf"):
            for one in self._parts.values():
                one.settle(clock)
        while self._due and self._due[0][0] <= clock:
            _, by = heappop(self._due)
            part = self._parts.get(by)
            if part is not None:
                part.settle(clock)
                self._await(by, part)

    def _await(self, by: tuple[str, ...], part: Part) -> None:
        if self._living.closes and (due := part.due()) < float("inf"):
            heappush(self._due, (due, by))

    def evict(self, watermark: float) -> None:
        """Forgets what nothing can change any more."""
        oldest = watermark
        timed = self._living.opens or self._living.closes
        every = timed or self._places is not None
        changing = [*self._parts] if every else self._changing(watermark)
        for by in changing:
            part = self._parts[by]
            part.evict(watermark)
            if part.idle(watermark):
                self._parts.pop(by).forget()
                self._stays.pop(by, None)
            elif timed:
                oldest = min(oldest, part.epochs[0].time)
            elif not every and self._stays.get(by, float("inf")) > (until := part.stays_until):
                self._stays[by] = until
                heappush(self._staying, (until, by))
        if every:
            # Arcs that fire as windows open or close may go, and all are looked at once more then.
            self._touched = dict.fromkeys(self._parts)
        self._oldest = max(self._oldest, oldest)

    def _changing(self, watermark: float) -> list[tuple[str, ...]]:
        """The parts of which `evict` may forget something, where nothing happens as windows open
        or close."""
        changing, self._touched = self._touched, {}
        while self._staying and self._staying[0][0] < watermark:
            until, by = heappop(self._staying)
            if self._stays.get(by) == until:
                del self._stays[by]
                changing[by] = None
        return [by for by in changing if by in self._parts]

    def free(self, types: Sequence[float]) -> bool:
        """Drops runs that come to nothing, given for each type the time before which no event of it
        comes any more; returns whether there were any."""
        closed = closings(self.arcs, self.states, self.final, types)
        dropped = [part.free(closed) for part in self._parts.values()]
        return any(dropped)

    # Matches

    def _changed(self, key: Key, many: int) -> None:
        before = self._counts.get(key, 0)
        after = before + many
        if after:
            self._counts[key] = after
        else:
            del self._counts[key]
        if bool(before) is not bool(after):
            net = self.changes.get(key, 0) + many
            if net:
                self.changes[key] = net
            else:
                del self.changes[key]

    def _passed(self, key: Key) -> None:
        """A match stays for good."""
        self._counts.pop(key, None)

    def snapshot(self) -> Callable[[], None]:
        """What brings the query back to what it is now."""
        parts = {by: (part, part.copied()) for by, part in self._parts.items()}
        counts, changes, due = {**self._counts}, {**self.changes}, [*self._due]
        clock, newest = self.clock, self._newest
        touched, staying, stays = {**self._touched}, [*self._staying], {**self._stays}

        def restore() -> None:
            for _, back in parts.values():
                back()
            self._parts = {by: part for by, (part, _) in parts.items()}
            self._counts, self.changes, self._due = counts, changes, due
            self.clock, self._newest = clock, newest
            self._touched, self._staying, self._stays = touched, staying, stays

        return restore

    @property
    def waits(self) -> bool:
        """Whether time may bring matches: a window closes."""
        if self._places is not None:
            return any(one.pending for one in self._parts.values())  # type: ignore[attr-defined]
        return bool(self._due)

    @property
    def parts(self) -> Collection[Part]:
        """The parts of the input that have runs, or epochs that may change."""
        return self._parts.values()

    @property
    def runs(self) -> int:
        """How many runs there are, after the newest epoch of each part."""
        return sum(part.runs for part in self._parts.values())


def _time(coming: TypedEvent) -> int:
    return int(coming[1][END])


def _time_of(step: Step) -> int:
    return int(step[0][1][END])
