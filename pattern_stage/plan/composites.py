"""Patterns whose plans are of the algebra of event queries, as a level has patterns: the events of
a step in, matches out, each a composite of events of variables.

Events retained are all that there is to know: after a restart they are processed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from xscl.pattern_stage.bounds import MOST, portions
from xscl.pattern_stage.compositions.planned import ASSUMED, Composition, Planned, Rate
from xscl.pattern_stage.compositions.rates import MeasuredRates
from xscl.pattern_stage.found import Chains, Found, FoundGroup, Outcome, Result, grouped
from xscl.pattern_stage.layouts import END, NUMBER, START, Layouts, TypedEvent
from xscl.pattern_stage.memory import Memory
from xscl.pattern_stage.plan.outputs import Outputs
from xscl.pattern_stage.plan.saved import name_of
from xscl.pattern_stage.plan.stage import EventStage, is_monotone
from xscl.pattern_stage.processor import settled
from xscl.pattern_stage.query_masks import Missed
from xscl.pattern_stage.values.terms import Slot

__all__ = ["CompositeStage"]

_SCATTERED = 8
"""The maximal number of stages of queries that were adopted; with more it pays to make one."""


class CompositeStage:
    """The composite patterns of a level; `make` makes a stage of the plans, given the layouts of
    events.  Plans are made by the rules except `without`, with the rates of types that `given`
    knows, for the others those `measured`.  Methods are as in `PatternStage`."""

    def __init__(
        self,
        make: Callable[[Layouts], EventStage],
        most: int = MOST,
        given: Callable[[int], float | None] = lambda _: None,
        measured: MeasuredRates | None = None,
        without: Iterable[str] = (),
    ) -> None:
        self._make, self._most = make, most
        self._given, self._without = given, frozenset(without)
        self._measured = measured or MeasuredRates()
        self._queries: dict[int, tuple[Composition, tuple[int, ...], Planned]] = {}
        """With the types of the sources."""
        self._layouts = Layouts()
        self._stages: list[EventStage] = [make(self._layouts)]
        """The first has all queries, but for those that were adopted."""
        self._weak: dict[int, tuple[EventStage, int | None]] = {}
        """A stage for each weak query, with the time of its newest event."""
        self._of_query: dict[int, EventStage] = {}
        self._called: dict[int, tuple[int, ...]] = {}
        """The variables of each query, by their numbers in its plan."""
        self._read_by: dict[int, tuple[frozenset[int], int | None]] = {}
        self._version = self._dropped = 0
        self._missed = Missed()
        self._missed_by: dict[int, Missed] = {}
        """The same of each weak query."""
        self._early: dict[tuple[Any, ...], int] = {}
        """By key, with its time, what another stage has reported, and this one may find again."""
        self._new: list[Found] = []
        self._gone: list[Found] = []

    # Queries

    def add_plan(
        self,
        number: int,
        composition: Composition,
        types: Iterable[int],
        since: int = 0,
        *,
        weak: bool = False,
        in_order: bool = False,
    ) -> Planned:
        """Adds a query, with the types of the sources of its plan; returns this."""
        of, stage = tuple(types), self._stages[0]
        planned = composition.planned(self.rates(of), self._without)
        root, constants, reach, _ = planned.lowered
        self._queries[number] = composition, of, planned
        if weak:
            stage = EventStage(layout=self._layouts, most=self._most)
            self._weak[number] = stage, None
        stage.add(number, root, of, constants, since, in_order=in_order and not weak)
        self._of_query[number] = stage
        self._called[number] = tuple(map(int, planned.lowered.variables))
        self._read_by[number] = frozenset(of), 0 if is_monotone(root) else reach
        self._version += 1
        return planned

    def remove(self, number: int) -> None:
        """Removes a query."""
        stage = self._of_query.pop(number)
        del self._queries[number]
        stage.remove(number)
        self._weak.pop(number, None)
        self._missed_by.pop(number, None)
        del self._read_by[number]
        self._called.pop(number)
        self._early = {key: time for key, time in self._early.items() if key[0] != number}
        if stage in self._stages[1:] and stage not in self._of_query.values():
            self._stages.remove(stage)
        self._version += 1

    def __contains__(self, number: int) -> bool:
        return number in self._of_query

    def rates(self, types: Iterable[int]) -> list[Rate]:
        """The rates of types."""
        return [*map(self._rate, types)]

    def _rate(self, type_: int) -> Rate:
        if rate := self._given(type_):
            return rate, "given"
        measured = self._measured.of(type_)
        return ASSUMED if measured is None else (measured, "measured")

    def dearer(self) -> list[int]:
        """The queries that, at the rates of now, another plan would evaluate for a fifth less."""
        found = []
        for number, (composition, types, planned) in self._queries.items():
            best = composition.planned(self.rates(types), self._without)
            if planned.is_dearer(best, self._without):
                found.append(number)
        return found

    @property
    def version(self) -> int:
        """Grows whenever slots, or the reach of events, may have changed."""
        return self._version + self._layouts.version

    def slots(self, type_: int) -> tuple[Slot | None, ...]:
        """The slots of a type's events."""
        return self._layouts.slots(type_)

    def reach(self, type_: int) -> int:
        """For how many microseconds after its time an event of a type can be needed."""
        from xscl.pattern_stage.processor import FOREVER

        some = [reach for types, reach in self._read_by.values() if type_ in types]
        return FOREVER if None in some else max((one or 0 for one in some), default=0)

    @property
    def stopped(self) -> dict[int, str]:
        """Queries that have exceeded a bound, and why; they are to be removed."""
        return {number: why for one in self._every() for number, why in one.stopped.items()}

    def separate(self) -> CompositeStage:
        """An empty stage for queries that must see earlier events."""
        other = CompositeStage(self._make, self._most, self._given, self._measured, self._without)
        other._layouts = self._layouts
        other._stages = [self._make(self._layouts)]
        return other

    def adopt(self, other: CompositeStage, since: int) -> None:
        """Adds the queries of a `separate` stage."""
        self._stages += other._stages
        self._weak |= other._weak
        self._missed_by |= other._missed_by
        self._early |= other._early
        self._of_query |= other._of_query
        self._called |= other._called
        self._queries |= other._queries
        self._read_by |= other._read_by
        self._version += 1

    @property
    def scattered(self) -> bool:
        """Whether it pays to make one stage of all queries."""
        return len(self._stages) > _SCATTERED

    # Steps

    def take(self, events: Iterable[TypedEvent]) -> None:
        """Takes the events of a step with their types, in any order, none before the watermark."""
        coming = [*events]
        self._measured.take(coming)
        self._take(coming)

    def _take(self, coming: Sequence[TypedEvent]) -> None:
        missed = self._missed
        seen = [one for one in coming if one[1][NUMBER] not in missed] if missed else coming
        for stage in self._stages:
            stage.take(seen)
        kinds = {type_ for type_, _ in coming} if self._weak else set()
        for number, (stage, time) in self._weak.items():
            types, _ = self._read_by[number]
            if types.isdisjoint(kinds):
                continue
            dropped = self._missed_by.get(number, ())
            some = [one for one in coming if one[0] in types and one[1][NUMBER] not in dropped]
            on_time = [one for one in some if time is None or one[1][END] >= time]
            if len(on_time) < len(some):
                self._dropped += len(some) - len(on_time)
                for _, event in some:
                    if time is not None and event[END] < time:
                        self._missed_of(number).add(event[NUMBER], event[END])
            if on_time:
                newest = max(event[END] for _, event in on_time)
                stage.take(on_time)
                stage.advance(newest)
                stage.flush()
                self._weak[number] = stage, newest

    def withdraw(self, first: int, end: int, time: int) -> None:
        """Drops the events of a time with numbers from `first` on and below `end`."""
        for stage in self._stages:
            stage.withdraw(first, end, time)

    def advance(self, watermark: int | None) -> None:
        """A step ends: no event before `watermark` will come any more."""
        for stage in self._stages:
            stage.advance(watermark)
        if watermark is None:
            return
        if self._early:
            self._early = {key: time for key, time in self._early.items() if time >= watermark}
        for number, missed in self._missed_by.items():
            _, reach = self._read_by[number]
            if reach is not None:
                missed.drop(watermark - reach)
        if self._missed:
            reaches = [reach for _, reach in self._read_by.values()]
            if None not in reaches:
                self._missed.drop(watermark - max(filter(None, reaches), default=0))

    def flush(self) -> None:
        """Reports what would be reported if no further event came; the watermark stays."""
        for stage in self._stages:
            stage.flush()

    def report_early(
        self, numbers: Container[int], only: Container[tuple[Any, ...]] | None = None
    ) -> None:
        """What `flush` would report now of some queries was reported, or `only` that of some
        keys."""
        for stage in self._stages:
            outputs, early = stage.unreported(), dict[int, list[str]]()
            for place in range(len(outputs)):
                root, event, _ = outputs[place]
                for one in self._matches_at(outputs, place):
                    if one.number in numbers and (only is None or one.key in only):
                        early.setdefault(one.number, []).append(name_of(root.key(event)))
                        self._early[one.key] = one.time
            stage.report_early(early)

    def promise(self, types: Mapping[int, int]) -> None:
        """Nothing is dropped for it."""

    def miss(self, events: Iterable[TypedEvent]) -> None:
        """Notes events that come too late for the current queries."""
        late = [(event[NUMBER], event[END]) for _, event in events]
        for missed in (self._missed, *map(self._missed_of, self._weak)):
            for event, end in late:
                missed.add(event, end)

    def pending(self) -> dict[int, tuple[int, int]]:
        """How many matches of each query `flush` would report now, and the time when the last of
        them is known; nothing changes."""
        return {number: one for stage in self._stages for number, one in stage.pending().items()}

    def found(self) -> list[Found]:
        """The matches since the last call, in order of time."""
        self._read()
        new, self._new = self._new, []
        return new

    def withdrawn(self) -> Sequence[Found]:
        """The matches that were reported and are no more, since the last call."""
        self._read()
        gone, self._gone = self._gone, []
        return gone

    def groups(self) -> list[FoundGroup]:
        """In place of `found`: the matches by query, last event and time."""
        return grouped(Outcome((one.number,), [one.events], None, one.time) for one in self.found())

    def counts(self) -> dict[int, int]:
        """In place of `found`: how many matches of each query there are since the last call."""
        return Counter(one.number for one in self.found())

    # What is known

    @property
    def memories(self) -> dict[int, Memory]:
        """Of each query the events that came too late, and what was reported early."""
        memories = dict[int, Memory]()
        for number in self._of_query:
            missed = self._missed_by.get(number) if number in self._weak else self._missed
            if missed:
                memories[number] = Memory(missed=missed.times)
        for (number, *events), time in self._early.items():
            memories.setdefault(number, Memory()).early.append((time, events))
        return memories

    def rebuild(
        self,
        before: Sequence[TypedEvent],
        after: Sequence[TypedEvent],
        watermark: int | None,
        memories: Mapping[int, Memory],
    ) -> None:
        """Makes a new stage equal to another one that had taken these events."""
        self._missed = Missed()
        for number, memory in memories.items():
            if number in self._weak:
                self._missed_by[number] = Missed(memory.missed)
            else:
                self._missed.update(Missed(memory.missed))
        if before:
            self._take_again(before, settled(after, watermark))
            self.flush()
        self._take_again(after, watermark)
        self.advance(watermark)
        self._forget()
        early = {(n, *events) for n, memory in memories.items() for _, events in memory.early}
        if early:
            self.report_early(memories, early)

    def _take_again(self, events: Iterable[TypedEvent], watermark: int | None) -> None:
        """Takes events that were processed, up to a watermark; forgets what was reported then."""
        for time, some in portions(events, self._most):
            self._take(some)
            if watermark is not None and time <= watermark:
                self.advance(time)
            self._forget()

    def _forget(self) -> None:
        self.found()
        self.withdrawn()

    def stats(self) -> Mapping[str, int]:
        """Counts of the state, as a stage of patterns has them."""
        stats = [one.stats() for one in self._every()]
        return {
            "queries": len(self._of_query),
            "templates": 0,
            "automata": 0,
            "runs": sum(one["instances"] for one in stats),
            "epochs": 0,
            "waiting": sum(one["waiting"] for one in stats),
            "dropped": self._dropped,
        }

    # Inside

    def _missed_of(self, number: int) -> Missed:
        return self._missed_by.setdefault(number, Missed())

    def _every(self) -> Iterable[EventStage]:
        return (*self._stages, *(stage for stage, _ in self._weak.values()))

    def _read(self) -> None:
        for stage in self._every():
            outputs = stage.read()
            if outputs.gone is not None:
                self._gone += self._matches(outputs.gone)
            if outputs:
                self._new += self._matches(outputs)

    def _matches(self, outputs: Outputs) -> list[Found]:
        """The matches that outputs are, with the variables of each query."""
        places = range(len(outputs))
        return [one for place in places for one in self._matches_at(outputs, place)]

    def _matches_at(self, outputs: Outputs, place: int) -> Iterator[Found]:
        root, event, _ = outputs[place]
        assert root.events is not None
        events, made = root.events(event), dict[tuple[int, ...], Chains]()
        for number in outputs.numbers(place):
            called = self._called[number]
            several = made.get(called)
            if several is None:
                some = [(called[variable], one) for variable, one in events]
                made[called] = several = Chains((Result.of(some, event[START], ()),), None)
            yield Found(number, several, 0, event[END])
