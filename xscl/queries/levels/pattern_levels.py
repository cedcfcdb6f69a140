"""Patterns and event queries as a second stage, level by level: a step's events in, matches out.

They are evaluated once a step, when all that feeds them is there (in waves, a derived event could
come after the match that it should have prevented).  So they go by their level in the graph of
streams, each level with stages of its own; time passes through the levels in order, and what one
publishes are events of those above it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pattern_stage import PatternStage
from pattern_stage.plan.rules import SWITCHES as OF_EVENTS
from pattern_stage.plan.stage import EventStage
from pattern_stage.switches import SWITCHES as OF_PATTERNS
from xscl.documents.document import Document
from xscl.documents.events import PLACES, EventNodes, EventType, TypedEvent
from xscl.patterns.compile import CompiledPattern
from xscl.queries.levels.event_query import EventQuery, Member
from xscl.queries.levels.event_readers import EventReaders
from xscl.queries.levels.event_rows import EventRows
from xscl.queries.levels.event_state import Saved, is_due, recall, save, weak
from xscl.queries.levels.event_types import EventTypes
from xscl.queries.levels.pattern_rows import PatternReading, PatternRows
from xscl.queries.levels.stage_holders import Level, Patterns, Plan
from xscl.queries.levels.witness_free import WitnessFree

__all__ = ["PatternLevels", "Saved", "Told"]

Told = list[Any]
"""What NON OVERLAPPING remembers of a query: a partition, and the time of a match."""


@dataclass(slots=True)
class _Pattern:
    """A pattern as its level has it."""

    compiled: CompiledPattern
    types: tuple[tuple[EventType, ...], ...]
    since: int
    feeding: bool
    level: int | None = None

    @property
    def all_types(self) -> set[EventType]:
        return {one for some in self.types for one in some}


class PatternLevels(WitnessFree):
    """The patterns and event queries of one engine; to evaluation it is a second stage.

    `document` is a document held, by its number; `without` are techniques that are switched off,
    `sharable` sets of streams, each of which is in one at most.
    `members` are the subscriptions of event queries, `names` theirs, which the catalogue keeps.
    """

    def __init__(
        self,
        types: EventTypes,
        nodes: EventNodes,
        document: Callable[[int], Document],
        without: Collection[str] = (),
        sharable: Collection[Collection[str]] = (),
    ) -> None:
        self.types = types
        self.nodes = nodes
        self.stale = False
        """Whether the stages must be made anew."""
        self.members: Callable[[], Iterable[tuple[EventQuery, Member]]] = tuple
        self.names: Callable[[int], str | None] = lambda number: None
        self._document = document
        self.without = frozenset(without)
        self.sharable = tuple(map(frozenset, sharable))
        self._alike: dict[int, int] = {}
        """By type of a sharable stream the type that stands for all that share with it."""
        self._first: dict[frozenset[str], int] = {}
        self._patterns: dict[int, _Pattern] = {}
        self._unplaced: dict[int, _Pattern] = {}
        self._events: dict[EventQuery, None] = {}
        self._unplaced_events: dict[EventQuery, list[Member]] = {}
        self._levels: list[Level] = []
        self._turn = 0
        self._changes = 0
        self._saved_at = -1
        self._readers: EventReaders | None = None

    # Queries

    def __len__(self) -> int:
        return len(self._patterns) + len(self._events)

    def __iter__(self) -> Iterator[int]:
        return iter(self._patterns)

    def add(
        self, number: int, compiled: CompiledPattern, since: int, *, feeding: bool
    ) -> PatternReading:
        """Takes in a pattern that sees the documents from number `since` on, and may be `feeding`
        a stream; `place` sets its level."""
        types = tuple(tuple(map(self.types.take, blocks)) for blocks in compiled.blocks)
        pattern = _Pattern(compiled, types, since, feeding)
        self._patterns[number] = self._unplaced[number] = pattern
        return PatternReading(compiled, self.nodes.node)

    def remove(self, number: int) -> None:
        """Takes out a pattern."""
        pattern = self._patterns.pop(number)
        self._unplaced.pop(number, None)
        if pattern.level is not None:
            self._levels[pattern.level].patterns.stage.remove(number)
        for types in pattern.types:
            for one in types:
                self.types.release(one)
        self._changed()

    def subscribe(self, query: EventQuery, member: Member) -> None:
        """Takes in a subscription of an event query; of a new one `place` sets the level."""
        if not query.members:
            query.types = tuple(map(self.types.take, query.compiled.blocks))
            self._share(query.types)
            self._events[query] = None
            self._unplaced_events[query] = []
        query.members += 1
        query.number = member.number
        if query.level is None:
            self._unplaced_events[query].append(member)
        else:
            self._add_member(query, member)
            self._changed()

    def unsubscribe(self, query: EventQuery, number: int) -> None:
        """Takes out a subscription, and with the last one its event query."""
        query.members -= 1
        if query.level is not None:
            level = self._levels[query.level]
            level.plan_of(query, number).stage.remove(number)
            if query.compiled.weak:
                level.weak.remove(query.weak.pop(number))
        if not query.members:
            del self._events[query]
            self._unplaced_events.pop(query, None)
            for one in query.types:
                self.types.release(one)
            query.level = None
        self._changed()

    def place(self, level_of: Callable[[Iterable[str]], int], *, anew: bool) -> None:
        """Puts the queries onto their levels, given that of a query over some streams: those
        that have none or, where the graph of streams is another one, `anew`."""
        unplaced, self._unplaced = self._unplaced, {}
        for number, pattern in (self._patterns if anew else unplaced).items():
            level = self._level(level_of({one.stream for one in pattern.all_types}))
            if pattern.level is None:
                self._add(number, pattern, level)
            self.stale |= pattern.level not in (None, level)
            pattern.level = level
        members, self._unplaced_events = self._unplaced_events, {}
        for query in [*(self._events if anew else members)]:
            level = self._level(level_of({one.stream for one in query.types}))
            self.stale |= query.level not in (None, level)
            query.level = level
            for member in members.get(query, ()):
                self._add_member(query, member)
        self._changed()

    def windows(self) -> set[int]:
        """The windows of all patterns that end, in microseconds, and what bounds event queries."""
        some = {one.compiled.pattern.within for one in self._patterns.values()}
        ends = {within for within in some if within is not None}
        return ends.union(*[query.windows for query in self._events])

    def stats(self) -> dict[str, int]:
        """What patterns hold, and how many events were dropped, for `Engine.stats`."""
        totals = Counter(dict.fromkeys(PatternStage().stats(), 0))
        for level in self._levels:
            totals.update(level.patterns.stage.stats())
            totals["dropped"] += level.patterns.dropped
        return dict(totals)

    def event_stats(self) -> dict[str, int]:
        """The same of event queries."""
        totals = Counter(dict.fromkeys(EventStage().stats(), 0))
        totals["dropped"] = 0
        for level in self._levels:
            for plan in level.plans:
                totals.update(plan.stage.stats())
                totals["dropped"] += plan.dropped
        return dict(totals)

    def told(self) -> dict[int, list[Told]]:
        """What patterns must remember over a restart, as plain data."""
        told: dict[int, list[Told]] = {}
        for level in self._levels:
            for number, *rest in level.patterns.stage.told:
                told.setdefault(number, []).append(rest)
        return told

    def tell(self, told: Mapping[int, list[Told]]) -> None:
        """Lets patterns remember."""
        for number, some in told.items():
            level = self._patterns[number].level
            assert level is not None
            self._levels[level].patterns.stage.told = [(number, *rest) for rest in some]

    def saved(self) -> Saved:
        """What event queries must remember over a restart, as JSON by what it is of; of what was
        saved at another time it says only what has come since."""
        plans = [*self._plans()]
        anew = self._changes != self._saved_at or any(is_due(plan) for _, plan, _ in plans)
        self._saved_at = self._changes
        saved: Saved = {}
        for of, plan, _ in plans:
            if anew:
                plan.snapshot = None
                if plan.mark is not None:
                    plan.log.forget(plan.mark)
            save(of, plan, self.names, self.types, saved)
            if anew:
                plan.snapshot, plan.logged = saved[f"state\n{of}"], 0
        return saved

    def recall(self, saved: Saved, flushed: int) -> None:
        """Lets event queries remember, as far as they are there; `flushed` as in `catch_up`."""
        if self._readers is None:
            # What these ask for has its place in events, too.
            self._readers = self._read()
        numbers = {member.name: member.number for _, member in self.members()}
        recall(saved, self._plans(), numbers.get, self.types, flushed)

    def renew(self, *, forget: bool = False, flushed: int = 0, more: Saved | None = None) -> None:
        """Begins anew: patterns to be fed with the documents held (`wait`, `catch_up`), event
        queries as they were and with `more` to remember; or to `forget`."""
        told = [[] if forget else level.patterns.stage.told for level in self._levels]
        self._saved_at = -1
        saved = {} if forget else self.saved() | (more or {})
        self._levels = [self._new_level() for _ in told]
        for number, pattern in self._patterns.items():
            assert pattern.level is not None
            self._add(number, pattern, pattern.level)
        for query, member in self.members():
            self._add_member(query, member)
        for level, before in zip(self._levels, told, strict=True):
            level.patterns.stage.told = before
        self.stale = False
        self._changed()
        if saved:
            self.recall(saved, flushed)

    def look_back(
        self,
        query: EventQuery,
        member: Member,
        events: Callable[[EventReaders], Iterable[TypedEvent]],
        watermark: int | None,
        flushed: int,
    ) -> EventRows:
        """What a subscription of an event query finds among documents held, of which `events` are
        read; it remembers them from now on."""
        plan = Plan(self._event_stage(), query.compiled.weak)
        query.add_to(plan.stage, member)
        readers = EventReaders(self.nodes)
        readers.of_plan(plan, query.types)
        self.wait(events(readers))
        waiting, plan.waiting = plan.waiting, []
        time = max([event[1] for _, event in waiting], default=None) if plan.weak else watermark
        rows = plan.catch_up(waiting, time, flushed)
        rows.found()
        more: Saved = {}
        save(weak(member.name) if plan.weak else "", plan, self.names, self.types, more)
        self.renew(flushed=flushed, more=more)
        return EventRows(plan.stage, feeding=True, found=rows.found())

    def _plans(self) -> Iterator[tuple[str, Plan, set[EventType]]]:
        """The stages of event queries, what is saved of each, and the types that it reads."""
        for place, level in enumerate(self._levels):
            queries = [one for one in self._events if one.level == place]
            read = {kind for one in queries if not one.compiled.weak for kind in one.types}
            yield str(place), level.plan, read
            for query in queries:
                for number, plan in query.weak.items():
                    yield weak(self.names(number) or ""), plan, set(query.types)

    @property
    def parts(self) -> set[str]:
        """The streams whose documents have events in them."""
        return {one.stream for one in self.types if not one.whole}

    def numbers(self) -> set[int]:
        """The numbers of the join stage whose rows are events."""
        return {number for one in self.types for number in one.numbers}

    def of_any(self, queries: Collection[int]) -> bool:
        """Whether any of some queries is a pattern."""
        return not self._patterns.keys().isdisjoint(queries)

    def _share(self, types: Iterable[EventType]) -> None:
        for one in types:
            for streams in self.sharable if one.whole else ():
                if one.stream in streams:
                    first = self._first.setdefault(streams, one.number)
                    self._alike.setdefault(one.number, first)

    def _event_stage(self) -> EventStage:
        return EventStage(self.without & OF_EVENTS, self._alike)

    def _level(self, level: int) -> int:
        while len(self._levels) <= level:
            self._levels.append(self._new_level())
        return level

    def _new_level(self) -> Level:
        patterns = PatternStage(self.without & OF_PATTERNS, self._identity)
        return Level(Patterns(patterns), Plan(self._event_stage()))

    def _add(self, number: int, pattern: _Pattern, level: int) -> None:
        self._levels[level].patterns.stage.add(
            number,
            pattern.compiled.pattern,
            tuple(tuple(one.number for one in types) for types in pattern.types),
            pattern.compiled.constants,
            since=pattern.since << PLACES,
            weak=pattern.compiled.weak,
        )

    def _add_member(self, query: EventQuery, member: Member) -> None:
        assert query.level is not None
        level = self._levels[query.level]
        if query.compiled.weak:
            query.weak[member.number] = plan = Plan(self._event_stage(), weak=True)
            level.weak.append(plan)
        query.add_to(level.plan_of(query, member.number).stage, member)

    def _changed(self) -> None:
        self._changes += 1
        self._readers = None

    def _identity(self, number: int) -> tuple[object, ...]:
        """What orders events of one time: document, node, attribute, the nodes of variables."""
        node = self.nodes.node(number)
        element, attribute = self.nodes.place(node.code)
        bound = tuple(self.nodes.place(code)[0] for _, code in node.bound)
        return self._document(number >> PLACES).id, element, attribute or "", bound

    # Events

    @property
    def readers(self) -> EventReaders:
        """How events are read of documents, as queries are now."""
        if self._readers is None:
            self._readers = self._read()
        return self._readers

    def wait(self, events: Iterable[TypedEvent]) -> None:
        """Takes events, which wait for the end of the step."""
        for holder, kind, event in events:
            holder.waiting.append((kind, event))

    def catch_up(self, watermark: int | None, flushed: int) -> Sequence[PatternRows]:
        """The matches of patterns that are known of the events that wait, all of which came
        before: in a renewed state these are the ones of before, and those of patterns that are
        new.  Documents with numbers below `flushed` came before the input had ended once."""
        return [level.patterns.catch_up(watermark, flushed) for level in self._levels]

    def _read(self) -> EventReaders:
        readers = EventReaders(self.nodes)
        of_patterns: list[set[EventType]] = [set() for _ in self._levels]
        of_plans: dict[Plan, set[EventType]] = {}
        for level in self._levels:
            level.patterns.feeding = level.plan.feeding = False
        for pattern in self._patterns.values():
            if pattern.level is not None:
                of_patterns[pattern.level] |= pattern.all_types
                self._levels[pattern.level].patterns.feeding |= pattern.feeding
        placed = [one for one in self._events if one.level is not None]
        for query in placed:
            for plan in self._plans_of(query):
                plan.feeding |= bool(query.feeds)
                of_plans.setdefault(plan, set()).update(query.types)
            if query.compiled.document:
                readers.identified |= {one.stream for one in query.types}
        for types, level in zip(of_patterns, self._levels, strict=True):
            readers.of_patterns(level.patterns, types)
        # What a level asks of the outputs of those below is asked there, too.
        for number, level in reversed([*enumerate(self._levels)]):
            for query in placed:
                if query.level == number and query.feeds:
                    readers.of_outputs(level.plan_of(query, query.number), query)
            for plan in level.plans:
                readers.of_plan(plan, of_plans.get(plan, ()))
        return readers

    def _plans_of(self, query: EventQuery) -> Collection[Plan]:
        assert query.level is not None
        return query.weak.values() if query.compiled.weak else (self._levels[query.level].plan,)

    # A second stage

    @property
    def version(self) -> int:
        """Grows whenever patterns, or how long their events are reached, may have changed."""
        return self._changes

    @property
    def timed(self) -> bool:
        """Whether there are patterns, which go by steps."""
        return bool(self._patterns or self._events)

    def advance(self, watermark: int | None, *, ended: bool = False) -> Sequence[Any]:
        """The matches of the next level, until there is none."""
        if self._turn == len(self._levels):
            self._turn = 0
            return ()
        if self._readers is None:
            self._readers = self._read()
        level = self._levels[self._turn]
        self._turn += 1
        return level.step(watermark, ended=ended)

    def reach(self, spine: int) -> int:
        """For how long (microseconds) after its time a witness of a spine can be reached."""
        of_spine = self.types.of_spine(spine)
        return max(map(self._reach, of_spine), default=0)

    def reach_of_stream(self, stream: str) -> int:
        """The same of the documents of a stream, as such."""
        whole = (one for one in self.types if one.whole and one.stream == stream)
        return max(map(self._reach, whole), default=0)

    def _reach(self, one: EventType) -> int:
        return max([level.patterns.stage.reach(one.number) for level in self._levels], default=0)

    def forget(
        self, watermark: int | None, documents: Sequence[int], *, exact: bool = False
    ) -> None:
        """Drops documents."""
        self.nodes.forget(documents)
