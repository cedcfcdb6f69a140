"""An automaton among the patterns of a stage: it takes events in order of time, once the watermark
has passed them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from xscl.pattern_stage.automata.program import Arc, Life, Program
from xscl.pattern_stage.automata.query import AutomatonQuery
from xscl.pattern_stage.bounds import MOST
from xscl.pattern_stage.found import Chains, Found, Outcome, Result
from xscl.pattern_stage.layouts import END, NUMBER, Event, Layouts, TypedEvent
from xscl.pattern_stage.query_masks import Missed

__all__ = ["AutomatonGroup", "replaced"]


_ROUND = 16
"""So many events are taken together, after which the runs of their parts are counted: runs may
double with each event.  Those of all parts are counted after so many such batches, or where there
are more parts, after as many of them as this is a part of these."""


class _Member:
    """The only query of an automaton, in place of the masks of queries that share one."""

    worn = True

    def __init__(self, number: int, since: int) -> None:
        self.number, self.since = number, since
        self.missing = Missed()
        self.stopped: dict[int, str] = {}
        self._there = 1

    def __len__(self) -> int:
        return self._there

    @property
    def oldest(self) -> int:
        """The query, if it sees anything."""
        return self._there

    def bit(self, number: int) -> int:
        """The query's bit."""
        return 1

    def seeing(self, event: Event) -> int:
        """Whether the query sees an event."""
        number = event[NUMBER]
        return int(number >= self.since and number not in self.missing) if self._there else 0

    def see_from(self, since: int) -> None:
        """The query sees events with numbers not below `since`."""
        self.since = since

    def miss(self, event: int, time: int, mask: int) -> None:
        """Notes an event, by its number, which the query does not see."""
        if mask:
            self.missing.add(event, time)

    def missed(self) -> Iterator[tuple[int, int, int]]:
        """The query, the number of an event that it has missed, and the event's time."""
        return ((self.number, event, time) for event, time in self.missing.times)

    def remove(self) -> None:
        """The query goes."""
        self._there = 0


class _Endings:
    """What is found, as the stage asks for it."""

    reported: Mapping[Any, int] = {}

    def __init__(self, group: AutomatonGroup) -> None:
        self._group = group

    @property
    def undecided(self) -> bool:
        """Whether time may bring matches."""
        self._group.take_pending()
        return self._group.query.waits

    def settle(self, time: int | None) -> None:
        """Windows close until a time; None: all."""
        self._group.take_pending()
        self._group.query.settle(float("inf") if time is None else time)

    def outcomes(self) -> list[Outcome]:
        """The matches since the last call."""
        return self._group.outcomes()


class AutomatonGroup:
    """One automaton, as `Shared` is a group of patterns; its arcs may have `changed`."""

    monotone = False

    def __init__(
        self,
        number: int,
        program: Program,
        arcs: Iterable[tuple[Life, Arc]],
        states: int,
        final: Collection[int],
        types: Sequence[int],
        layouts: Layouts,
        since: int,
        most: int = MOST,
        *,
        weak: bool = False,
        changed: bool = False,
        sequenced: bool = False,
    ) -> None:
        self.immediate = self.weak = self.forks = weak
        self._newest: int | None = None
        """The time of the newest event, and in a step that of the one before the step."""
        self._clock: int | None = None
        self.members = _Member(number, since)
        self.query = AutomatonQuery(
            program, arcs, states, final, types, layouts, sequenced=sequenced
        )
        self.automaton = self.query
        self.runs = self
        self.endings = _Endings(self)
        self.keeps_early = weak or changed
        self.components = {type_: (type_,) for type_ in dict.fromkeys(types)}
        self.dropped = self.rank = 0
        self.before: list[TypedEvent] = []
        """Events of before its query came, which it alone takes, in order of time."""
        self._types = tuple(types)
        self._promised: dict[int, int] = {}
        """By type the time before which no event of it comes."""
        self.freed = False
        """Whether runs were dropped that could come to nothing by the arcs that there are."""
        self._most, self._layouts = most, layouts
        self._left = _ROUND
        """After so many batches the runs of all parts are counted."""
        self._pending: list[TypedEvent] = []

    def __len__(self) -> int:
        self.take_pending()
        return self.query.runs

    @property
    def epochs(self) -> int:
        """How many times of events it retains, in all parts."""
        return sum(len(part.epochs) for part in self.query.parts)

    def reach(self, type_: int) -> int | None:
        """For how long after its time an event can be needed; None for good."""
        return self.query.program.within

    def rearrange(
        self, arcs: Iterable[tuple[Life, Arc]], states: int, final: Collection[int], since: float
    ) -> bool:
        """From `since` on, which is after the watermark, the arcs are these; returns whether they
        need events that have come, to be read again (`recall`): for attributes that none has read
        so far, or to know when a window has opened."""
        self.take_pending()
        opens, layouts = self.query.opens, self._layouts.version
        self.query.extend(states, final)
        self.query.rearrange(arcs, since)
        # What was reported before its time, when the input ended, was by other arcs.
        self.keeps_early = True
        lacks = self._layouts.version != layouts or (self.query.opens and not opens)
        if not lacks:
            self.query.catch_up()
        return lacks

    def promise(self, types: Mapping[int, int]) -> None:
        """No event of some types comes any more that is before a time."""
        for type_ in types.keys() & self.components.keys():
            self._promised[type_] = max(types[type_], self._promised.get(type_, types[type_]))

    def free(self, watermark: int | None, buffered: Sequence[TypedEvent]) -> bool:
        """Drops runs that come to nothing, unless by events that are buffered; returns whether
        anything is promised beyond the watermark."""
        self.take_pending()
        promised = self._promised
        if watermark is not None:
            self._promised = promised = {
                type_: time for type_, time in promised.items() if time > watermark
            }
        if not promised or self.query.program.within is None or self.before:
            return bool(promised)
        types: dict[int, float] = {**promised}
        for type_, event in buffered:
            if type_ in types:
                types[type_] = min(types[type_], event[END])
        first = float("-inf")
        self.freed |= self.query.free([types.get(type_, first) for type_ in self._types])
        return True

    def recall(self, events: Sequence[TypedEvent]) -> None:
        """Events that have come, in order of time, are these, as they are read now."""
        self.take_pending()
        self.before = replaced(self.before, events)
        for type_, event in events:
            if self.members.seeing(event):
                self.query.recall(event[END], type_, event)
        self.query.catch_up()

    def take(self, type_: int, event: Event, seeing: int | None = None) -> None:
        """An event of one of the types."""
        if seeing is None and self.before:
            self.catch_up(event[END])
        if not (self.members.seeing(event) if seeing is None else seeing):
            return
        time = event[END]
        if self.weak:
            if self._clock is not None and time < self._clock:
                self.dropped += 1
                self.members.miss(event[NUMBER], time, 1)
                return
            self._newest = time
        self._pending.append((type_, event))
        if len(self._pending) >= _ROUND:
            self.take_pending()

    def take_pending(self) -> None:
        """Takes the events that have come."""
        if not self._pending:
            return
        pending, self._pending, query = self._pending, [], self.query
        if max(query.take_all(pending, forget=True), self._counted()) > self._most:
            self._stop()

    def _counted(self) -> int:
        """How many runs there are, if it is time to count them."""
        self._left -= 1
        if self._left > 0:
            return 0
        self._left = max(_ROUND, len(self.query.parts) // _ROUND)
        return self.query.runs

    def mend(self, events: Sequence[TypedEvent]) -> None:
        """Takes events in any order, none before the watermark; what they change is known."""
        if events and self.query.take_all(events) > self._most:
            self._stop()

    def _stop(self) -> None:
        self.members.stopped[self.members.number] = f"more than {self._most:,} partial matches"
        self.members.remove()

    def begin(self) -> None:
        """Begins a step: a weak automaton drops incoming events that are before the newest one."""
        self._clock = self._newest

    def settle(self) -> None:
        """Ends a step: a weak automaton reports what the events so far decide."""
        self.take_pending()
        if self._newest is not None:
            self.query.settle(self._newest)

    def rests(self, time: int) -> bool:
        """Whether it is known which events from a time on do something, and no other one comes at
        the time of the newest so far."""
        # What is missed, and read all the same, ends nothing.
        if self.weak or self.before or self.members.missing or self.query.wakers is None:
            return False
        self.take_pending()
        return self.query.newest < time

    def take_next(self, type_: int, event: Event) -> None:
        """As `take` where it has no pending events: one comes alone."""
        if self.members.seeing(event):
            self.query.take_next(type_, event)
            if self._counted() > self._most:
                self._stop()

    def catch_up(self, time: int | None) -> None:
        """Takes what came before its query, as far as it is not after a time."""
        before = self.before
        due = len(before) if time is None else bisect_right(before, time, key=_time)
        self.before = before[due:]
        for type_, event in before[:due]:
            self.take(type_, event, self.members.oldest)

    def advance(self, watermark: int) -> None:
        """All before the watermark has come and been taken."""
        self.take_pending()
        self.drop_missed(watermark)
        newest = self._newest
        self.query.settle(watermark if newest is None else max(watermark, newest))
        self.query.evict(watermark)

    def drop_missed(self, watermark: int) -> None:
        """Drops events that came too late, once none of their time is read any more."""
        within = self.query.program.within
        if within is not None:
            self.members.missing.drop(watermark - within)

    def outcomes(self) -> list[Outcome]:
        """The matches since the last call, in order of time."""
        self.take_pending()
        changes, self.query.changes = self.query.changes, {}
        # What is reported stands, whatever a simultaneous event makes of it.
        new = [key for key, many in changes.items() if many > 0]
        numbers = (self.members.number,)
        return [
            Outcome(numbers, [Result.of(events or (), start, register)], None, time)
            for start, time, register, events in sorted(new, key=_found_at)
        ]

    def differences(self) -> list[tuple[Found, bool]]:
        """The matches that have come or gone since the last call, and whether they have come."""
        changes, self.query.changes = self.query.changes, {}
        return [
            (self._found(start, time, register, events), many > 0)
            for (start, time, register, events), many in changes.items()
        ]

    def _found(self, start: int, time: int, register: Any, events: Any) -> Found:
        result = Result.of(events or (), start, register)
        return Found(self.members.number, Chains((result,), None), 0, time)

    def snapshot(self) -> Callable[[], None]:
        """What brings it back to what it is now."""
        self.take_pending()
        before, restore = self.before, self.query.snapshot()

        def back() -> None:
            restore()
            self.before, self._pending = before, []

        return back

    def restore(self, snapshot: Callable[[], None]) -> None:
        """Brings it back."""
        snapshot()

    def remove(self, number: int) -> None:
        """Takes the query away."""
        self.members.remove()


def replaced(events: Iterable[TypedEvent], coming: Iterable[TypedEvent]) -> list[TypedEvent]:
    """Events, those that are among the coming ones as these are."""
    read = {(type_, event[NUMBER]): event for type_, event in coming}
    return [(type_, read.get((type_, event[NUMBER]), event)) for type_, event in events]


def _time(coming: TypedEvent) -> int:
    return int(coming[1][END])


def _found_at(key: tuple[Any, ...]) -> tuple[int, int]:
    return key[1], key[0]
