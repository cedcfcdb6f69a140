"""Patterns and event queries that come and go, each on its level in the graph of streams, with the
stages of each level.

A level has one stage for all patterns and one for all event queries, but for those that wait for
nothing, which have one each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from xscl.consistency import STRONG, Level
from xscl.documents.events import PLACES, EventType
from xscl.documents.revisable import NONE_REVISABLE
from xscl.patterns.timed_query import TimedQuery
from xscl.queries.levels.consistency import Controller, PatternController, PlanController
from xscl.queries.levels.event_state import weak
from xscl.queries.levels.pattern_query import PatternQuery
from xscl.queries.levels.stages import Stages
from xscl.queries.levels.stream_level import StreamLevel

if TYPE_CHECKING:
    from xscl.language.syntax import Block
    from xscl.pattern_stage.memory import Memory
    from xscl.pattern_stage.plan.composites import CompositeStage
    from xscl.pattern_stage.plan.stage import EventStage
    from xscl.pattern_stage.processor import PatternStage
    from xscl.patterns.compile_automaton import Arcs
    from xscl.queries.levels.event_query import EventQuery
    from xscl.queries.levels.event_types import EventTypes
    from xscl.queries.subscription import Subscription

__all__ = ["Levels"]


class Levels:
    """The patterns and event queries of one engine.

    `outputs` has the subscriptions of event queries by number, `called` is how many of them have a
    callback.  If `stale`, the stages must be made again; `version` grows with each change.
    """

    def __init__(self, types: EventTypes, stages: Stages) -> None:
        self.types, self.stages = types, stages
        self.declared = self.revisable = NONE_REVISABLE
        """The streams whose documents may be retracted: those of callers, and with them those to
        which queries publish what may be taken back."""
        self.default = STRONG
        """The consistency of queries that ask for none."""
        # A list, as there may be very many: numbers ascend.
        self.outputs: list[Subscription | None] = []
        self.called = 0
        self.stale = False
        self.version = 0
        self.all: list[StreamLevel] = []
        self.patterns: dict[int, PatternQuery] = {}
        self.events: dict[EventQuery, None] = {}
        self._unplaced: dict[PatternQuery | EventQuery, list[Callable[[], None]]] = {}
        """Queries without a level, with what adds each of their subscriptions to it."""
        self.hurried: set[PatternQuery | EventQuery] = set()
        """Those that go in order since their stage was made again, and reported immediately before:
        what they read has become revisable."""
        self.waiting: set[PatternQuery | EventQuery] = set()
        """Those that might report immediately, and do not: what they read was revisable, or they
        looked less far, and what was pending then is reported in its time."""
        self._streams: tuple[int, set[str]] = -1, set()
        """The streams that are read, as of a version."""
        self.changed: dict[int, tuple[Arcs, str | None]] = {}
        """The arcs of automata that have changed, and their text once somebody has asked."""

    def __bool__(self) -> bool:
        return bool(self.patterns or self.events)

    def add(self, number: int, compiled: TimedQuery, since: int, *, feeding: bool) -> None:
        """Takes in a pattern that sees the documents from number `since` on, and may be `feeding`
        a stream; `place` sets its level."""
        types = tuple(tuple(map(self.types.take, blocks)) for blocks in compiled.blocks)
        asked = compiled.level or STRONG
        pattern = PatternQuery(compiled, types, since, feeding, asked)
        self.patterns[number] = pattern
        self._unplaced[pattern] = [partial(self._add, number, pattern)]

    def remove(self, number: int) -> None:
        """Takes out a pattern."""
        pattern = self.patterns.pop(number)
        self.changed.pop(number, None)
        self._unplaced.pop(pattern, None)
        self.waiting.discard(pattern)
        controller = self.controller(pattern)
        if controller is not None and not self.stale:
            controller.stage.remove(number)
        for one in chain.from_iterable(pattern.components):
            self.types.release(one)
        self.version += 1

    def controller(self, pattern: PatternQuery) -> PatternController | None:
        """The controller of a pattern; None of one that has no level yet."""
        if pattern.level is None:
            return None
        level = self.all[pattern.level]
        takes_back = pattern.asked.name == "middle" and not self._only_adds(pattern)
        takes_back |= self.is_eager(pattern)
        asked = pattern.asked if takes_back else STRONG
        controllers: dict[Level, PatternController]
        make: Callable[[Level], object]
        if pattern.compiled.composite:
            controllers, make = level.composites, self.stages.of_composites
        elif takes_back:
            controllers, make = level.middle, self.stages.of_revised_patterns
        else:
            return level.patterns
        if asked not in controllers:
            stage: Any = make(asked)
            controllers[asked] = PatternController(stage)
            self.version += 1
        return controllers[asked]

    def plan(self, query: EventQuery, number: int) -> PlanController:
        """The controller of a subscription, by its number, of an event query that has a level."""
        assert query.level is not None
        level = self.all[query.level]
        if query.weak:
            return level.weak[number]
        if query.asked.name != "middle" or self._only_adds(query):
            return level.plan
        if query.asked not in level.middle_plans:
            level.middle_plans[query.asked] = PlanController(self.stage_for(query))
            self.version += 1
        return level.middle_plans[query.asked]

    def stage_for(self, query: EventQuery) -> EventStage:
        """A new stage for an event query."""
        if query.asked.name != "middle" or self._only_adds(query):
            return self.stages.of_events()
        return self.stages.of_revised_events(query.asked)

    def is_eager(self, pattern: PatternQuery) -> bool:
        """Whether a `strong` automaton reports what the numbers of its events decide, before the
        watermark does."""
        return (
            pattern.compiled.eager
            and "sequence" not in self.stages.without
            and not self.may_change(pattern.types)
        )

    def _only_adds(self, query: PatternQuery | EventQuery) -> bool:
        """Whether nothing that comes takes a match of a query away, and none that waited before is
        still to be reported."""
        if query.asked.widened or query.in_order:
            return False
        return query.compiled.monotone and not self.may_change(query.types)

    def rearrange(self, number: int, arcs: Arcs, since: float) -> bool:
        """An automaton, which has them already, has these arcs from a time on; returns whether they
        need of events that have come what was not kept of them."""
        self.changed[number] = arcs, None
        controller = self.controller(self.patterns[number])
        if controller is None or self.stale:
            return False
        if controller.stage.freed(number):
            # Runs that came to nothing by the arcs before may come to something now.
            self.stale = True
            self.version += 1
            return False
        lived = [(one.life, one.compiled) for one in arcs.versions]
        lacks = controller.stage.rearrange(number, lived, len(arcs.states), arcs.final, since)
        if lacks:
            # What is read of events is more from now on.
            self.version += 1
        return lacks

    def takes_arcs_along(self, number: int) -> bool:
        """Whether arcs of an automaton may change in one step with documents: no stage is, or
        becomes, a new one for that."""
        controller = self.controller(self.patterns[number])
        return controller is not None and not self.stale and not controller.stage.freed(number)

    def promise(self, block: Block, time: int) -> None:
        """No document comes any more that is before a time and in which a block selects
        something."""
        if block.stream.text in self.revisable:
            return
        types = {one.number: time for one in self.types.selected_with(block)}
        for level in self.all if types else ():
            level.patterns.stage.promise(types)

    def changed_arcs(self) -> Iterator[tuple[int, str]]:
        """The numbers of automata whose arcs have changed, with their arcs as text."""
        from xscl.patterns.change_arcs import text_of_arcs

        for number, (arcs, text) in self.changed.items():
            if text is None:
                text = text_of_arcs(arcs)
                self.changed[number] = arcs, text
            yield number, text

    def members(self) -> Iterator[tuple[EventQuery, Subscription]]:
        """The subscriptions of event queries."""
        for one in self.outputs:
            if one is not None and one.wiring.events is not None:
                yield one.wiring.events, one

    def name(self, number: int) -> str | None:
        """The name of an event query, None where there is none of a number."""
        one = self.outputs[number] if number < len(self.outputs) else None
        return None if one is None else one.name

    def subscribe(self, query: EventQuery, member: Subscription) -> None:
        """Adds a subscription of an event query; of a new one `place` sets the level."""
        self.outputs += repeat(None, member.order + 1 - len(self.outputs))
        self.outputs[member.order] = member
        self.called += member.on_match is not None
        if not query.members:
            query.asked = query.compiled.level or STRONG
            query.read(tuple(map(self.types.take, query.compiled.blocks)))
            self.stages.read(query.types)
            self.stages.share(query.types)
            self.events[query] = None
            self._unplaced[query] = []
        query.members += 1
        query.number = member.order
        if query.level is None:
            self._unplaced[query].append(partial(self._add_member, query, member))
        else:
            self._add_member(query, member)
            self.version += 1

    def unsubscribe(self, query: EventQuery, member: Subscription) -> None:
        """Removes a subscription, and with the last one its event query."""
        self.outputs[member.order] = None
        self.called -= member.on_match is not None
        query.members -= 1
        # If stale, it may be on another level than its stage, and all of these are made again.
        if not self.stale and query.level is not None:
            self.plan(query, member.order).stage.remove(member.order)
        for level in self.all if query.weak else ():
            level.weak.pop(member.order, None)
        if not query.members:
            del self.events[query]
            self._unplaced.pop(query, None)
            self.waiting.discard(query)
            for one in query.types:
                self.types.release(one)
            query.level = query.in_order = None
        self.version += 1

    def place(self, level_of: Callable[[Iterable[str]], int], *, again: bool) -> None:
        """Puts the queries onto their levels, given that of a query over some streams: those
        that have none or, where the graph of streams is another one, all `again`."""
        unplaced, self._unplaced = self._unplaced, {}
        queries: Iterable[PatternQuery | EventQuery] = unplaced
        if again:
            queries = (*self.patterns.values(), *self.events)
        known = dict[frozenset[str], int]()
        for query in queries:
            streams = frozenset([one.stream for one in query.types])
            level = known.get(streams)
            if level is None:
                level = known[streams] = level_of(streams)
            while len(self.all) <= level:
                self.all.append(self._new_level())
            if query.level == level:
                continue
            self.stale |= query.level is not None
            query.level = level
            self.version += 1
        for adding in unplaced.values():
            for add in adding:
                add()
                self.version += 1

    def dearer(self) -> int:
        """How many compositions have a plan that costs a fifth more than the best of now."""
        stages: Iterator[Any] = (
            one.stage for level in self.all for one in level.composites.values()
        )
        return sum(len(stage.dearer()) for stage in stages)

    def renew_patterns(self) -> None:
        """Makes the stages of patterns again, which remember nothing but how many events were
        dropped."""
        self.hurried.difference_update(self.patterns.values())
        for pattern in self.patterns.values():
            self.follow(pattern)
        for level in self.all:
            dropped = sum(one.all_dropped for one in level.of_patterns)
            level.patterns = PatternController(self.stages.of_patterns(), dropped=dropped)
            level.middle, level.composites = {}, {}
        for number, pattern in self.patterns.items():
            self._add(number, pattern)
        self.stale = False
        self.version += 1

    def renew_plans(self) -> None:
        """The same of event queries."""
        self.hurried.difference_update(self.events)
        for query in self.events:
            self.follow(query)
        for level in self.all:
            dropped = sum(plan.all_dropped for plan in level.plans)
            level.plan = PlanController(self.stages.of_events(), dropped=dropped)
            level.middle_plans, level.weak = {}, {}
        for query, member in self.members():
            self._add_member(query, member)
        self.version += 1

    def plans(self) -> Iterator[tuple[str, PlanController, set[EventType]]]:
        """The controllers of event queries, each with its name in a state file and the types that
        it reads."""
        for place, level in enumerate(self.all):
            # Also those whose queries have just been put onto another level.
            read: dict[PlanController, set[EventType]] = {
                plan: set() for plan in (level.plan, *level.middle_plans.values())
            }
            for query in self.events:
                if query.level == place and not query.weak:
                    read.setdefault(self.plan(query, query.number), set()).update(query.types)
            for at, (plan, types) in enumerate(read.items()):
                yield f"{place} {at}" if at else str(place), plan, types
            for number, plan in level.weak.items():
                one = self.outputs[number]
                assert one is not None
                assert one.wiring.events is not None
                yield weak(one.name), plan, set(one.wiring.events.types)

    def stopped(self) -> dict[int, str]:
        """Queries that have exceeded a bound, and why: they are to be removed."""
        stopped: dict[int, str] = {}
        for level in self.all:
            for one in level.of_patterns:
                stopped |= one.stage.stopped
            for plan in level.plans:
                stopped |= plan.stage.stopped
        return stopped

    # What is known of them

    @property
    def windows(self) -> set[int]:
        """The windows of all patterns that end, in microseconds, and what bounds event queries."""
        some = {one.compiled.within for one in self.patterns.values()}
        ends = {within for within in some if within is not None}
        return ends | {one for query, of in self.members() for one in query.windows(of)}

    def reach(self, types: Iterable[EventType]) -> int:
        """For how long (microseconds) after its time an event of some types can be reached."""
        stages = [one.stage for level in self.all for one in level.of_patterns]
        return max([stage.reach(one.number) for one in types for stage in stages], default=0)

    @property
    def memories(self) -> dict[int, Memory]:
        """What patterns remember beyond the events retained, by number."""
        of = [one.stage.memories for level in self.all for one in level.of_patterns]
        # A stage that is to be made again still has those that have gone.
        return {n: one for some in of for n, one in some.items() if n in self.patterns}

    def stats(self) -> dict[str, int]:
        """What patterns hold, and how many events were dropped, for `Engine.stats`."""
        patterns = chain.from_iterable(level.of_patterns for level in self.all)
        return _totals(self.stages.of_patterns().stats(), patterns)

    def event_stats(self) -> dict[str, int]:
        """The same of event queries."""
        plans = chain.from_iterable(level.plans for level in self.all)
        return _totals(self.stages.of_events().stats(), plans)

    # Inside

    def _new_level(self) -> StreamLevel:
        patterns = PatternController(self.stages.of_patterns())
        return StreamLevel(patterns, PlanController(self.stages.of_events()))

    @property
    def clocked(self) -> dict[str, int]:
        """The clocks of what patterns and event queries read: matches go by them that may be taken
        back, or might after another start, and changes of arcs."""
        clocks = self.stages.clocks
        if self._streams[0] != self.version:
            self._streams = self.version, {kind.stream for kind in self.types}
        return {one: clocks[one] for one in sorted(self._streams[1] & clocks.keys())}

    def _add(self, number: int, pattern: PatternQuery) -> None:
        controller = self.controller(pattern)
        assert controller is not None
        self.add_to(controller.stage, number, pattern)

    def add_to(
        self, stage: PatternStage | CompositeStage, number: int, pattern: PatternQuery
    ) -> None:
        """Adds a pattern to a stage."""
        types = [[one.number for one in types] for types in pattern.components]
        if pattern.in_order is None:
            self.follow(pattern)
        self.stages.read(pattern.types)
        pattern.compiled.add_to(
            stage,
            number,
            types,
            pattern.since << PLACES,
            weak=pattern.weak,
            in_order=bool(pattern.in_order),
        )

    def follow(self, query: PatternQuery | EventQuery) -> None:
        """Notes whether a query goes in order of time: as what it reads is revisable or, where it
        waits for the watermark, was; what was pending then is reported in its time."""
        now, before = self.may_change(query.types), query.in_order
        if before is not None and query.compiled.monotone and _waits(query.asked):
            if now and not before and query.asked == STRONG:
                self.hurried.add(query)
            now = now or before
        query.in_order = now
        self._note_waiting(query)

    def ceased(self) -> None:
        """Some streams are no longer revisable."""
        some: list[PatternQuery | EventQuery] = [*self.patterns.values(), *self.events]
        for query in some:
            self._note_waiting(query)

    def _note_waiting(self, query: PatternQuery | EventQuery) -> None:
        waits = query.in_order or query.asked.widened
        if waits and query.compiled.monotone and not self.may_change(query.types):
            self.waiting.add(query)
        else:
            self.waiting.discard(query)

    def went_over(
        self,
        revisable: Container[str],
        level: Level,
        waiting: Container[int],
        asking: Callable[[], Container[int]],
    ) -> None:
        """Before a restart these streams were revisable, this was the consistency of queries but
        those `asking` for theirs, by number, and these were `waiting`."""
        wider = self.default.is_wider(level)
        asked: Container[int] = ()
        if wider:
            self.stages.before, asked = level, asking()
        # Those that share an event query say the same of consistency, and wait alike.
        events = ((query.number, query) for query in self.events)
        for number, query in chain[Any](self.patterns.items(), events):
            monotone = query.compiled.monotone
            waited = number in waiting or any(one.stream in revisable for one in query.types)
            if monotone:
                query.in_order = waited
            # Others have reported what there was.
            if wider and (waited or not monotone) and number not in asked:
                query.asked = self.default._replace(widened=True)

    def may_change(self, types: Iterable[EventType]) -> bool:
        """Whether any event of some types may be retracted."""
        revisable = self.revisable
        return bool(revisable) and any(one.stream in revisable for one in types)

    @property
    def weak_reach(self) -> int | None:
        """For how long weak patterns may name an event; None if there is none."""
        from xscl.pattern_stage.processor import FOREVER

        some = [one for one in self.patterns.values() if one.weak]
        return max([one.compiled.within or FOREVER for one in some], default=None)

    def withdraw(self, stream: str, number: int, time: int) -> None:
        """A document of a stream is retracted before the watermark has reached its time."""
        read = {one.number for one in self.types if one.stream == stream}
        for level in self.all if read else ():
            for controller in (*level.of_patterns, *level.plans):
                controller.withdraw(number, time)

    def _add_member(self, query: EventQuery, member: Subscription) -> None:
        assert query.level is not None
        level = self.all[query.level]
        if query.weak:
            level.weak[member.order] = PlanController(self.stages.of_events(), weak=True)
        if query.in_order is None:
            self.follow(query)
        query.add_to(self.plan(query, member.order).stage, member)


def _waits(level: Level) -> bool:
    """Whether a query of a level waits for the watermark, some of its matches at least."""
    return level == STRONG or (level.name == "middle" and level.window is not None)


def _totals(none: Mapping[str, int], controllers: Iterable[Controller]) -> dict[str, int]:
    totals = Counter({**dict.fromkeys(none, 0), "dropped": 0})
    for one in controllers:
        totals.update(one.stage.stats())
        totals["dropped"] += one.dropped
    return dict(totals)
