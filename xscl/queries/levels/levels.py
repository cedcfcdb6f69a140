"""Patterns and event queries that come and go, each on its level in the graph of streams, with the
stages of each level.

A level has one stage for all patterns and one for all event queries, but for those that wait for
nothing, which have one each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pattern_stage.bounds import MOST
from xscl.documents.events import PLACES, EventType
from xscl.queries.levels.event_state import weak
from xscl.queries.levels.stage_holders import Level, Patterns, Plan

if TYPE_CHECKING:
    from pattern_stage.memory import Memory
    from pattern_stage.plan.stage import EventStage
    from pattern_stage.processor import PatternStage
    from xscl.patterns.compile import CompiledPattern
    from xscl.queries.levels.event_query import EventQuery
    from xscl.queries.levels.event_types import EventTypes

__all__ = ["Levels", "Member", "PatternQuery"]


@dataclass(slots=True)
class PatternQuery:
    """A pattern as its level has it."""

    compiled: CompiledPattern
    types: tuple[tuple[EventType, ...], ...]
    since: int
    feeding: bool
    level: int | None = None

    @property
    def all_types(self) -> set[EventType]:
        """The types of its events."""
        return {one for some in self.types for one in some}


class Member(NamedTuple):
    """A subscription of an event query: its number and name, its values, and the number of the
    first document that it sees."""

    number: int
    name: str
    values: Sequence[object]
    since: int


class Levels:
    """The patterns and event queries of one engine.

    `identity` orders the events of patterns that are of one time, by number; `without` are
    techniques that are switched off, `sharable` sets of streams, each of which is in one at most.
    `members` are the subscriptions of event queries, `names` theirs, which the catalogue keeps;
    `stale`, the stages must be made anew; `version` grows with each change.
    """

    def __init__(
        self,
        types: EventTypes,
        identity: Callable[[int], tuple[object, ...]],
        without: Collection[str] = (),
        sharable: Collection[Collection[str]] = (),
        most: int = MOST,
    ) -> None:
        self.most = most
        self.types = types
        self._identity = identity
        self.without = frozenset(without)
        self.sharable = tuple(map(frozenset, sharable))
        self.members: Callable[[], Iterable[tuple[EventQuery, Member]]] = tuple
        self.names: Callable[[int], str | None] = lambda number: None
        self.stale = False
        self.version = 0
        self.all: list[Level] = []
        self.patterns: dict[int, PatternQuery] = {}
        self.events: dict[EventQuery, None] = {}
        self._unplaced: dict[int, PatternQuery] = {}
        self._unplaced_events: dict[EventQuery, list[Member]] = {}
        self._alike: dict[int, int] = {}
        """By type of a sharable stream the type that stands for all that share with it."""
        self._first: dict[frozenset[str], int] = {}

    def __bool__(self) -> bool:
        return bool(self.patterns or self.events)

    def add(self, number: int, compiled: CompiledPattern, since: int, *, feeding: bool) -> None:
        """Takes in a pattern that sees the documents from number `since` on, and may be `feeding`
        a stream; `place` sets its level."""
        types = tuple(tuple(map(self.types.take, blocks)) for blocks in compiled.blocks)
        pattern = PatternQuery(compiled, types, since, feeding)
        self.patterns[number] = self._unplaced[number] = pattern

    def remove(self, number: int) -> None:
        """Takes out a pattern."""
        pattern = self.patterns.pop(number)
        self._unplaced.pop(number, None)
        if pattern.level is not None and not self.stale:
            self.all[pattern.level].patterns.stage.remove(number)
        for types in pattern.types:
            for one in types:
                self.types.release(one)
        self.version += 1

    def subscribe(self, query: EventQuery, member: Member) -> None:
        """Takes in a subscription of an event query; of a new one `place` sets the level."""
        if not query.members:
            query.read(tuple(map(self.types.take, query.compiled.blocks)))
            self._share(query.types)
            self.events[query] = None
            self._unplaced_events[query] = []
        query.members += 1
        query.number = member.number
        if query.level is None:
            self._unplaced_events[query].append(member)
        else:
            self._add_member(query, member)
            self.version += 1

    def unsubscribe(self, query: EventQuery, number: int) -> None:
        """Takes out a subscription, and with the last one its event query."""
        query.members -= 1
        if self.stale:
            # It may be on another level than its stage, and all of these are made anew.
            query.weak.pop(number, None)
        elif query.level is not None:
            level = self.all[query.level]
            level.plan_of(query, number).stage.remove(number)
            if query.compiled.weak:
                level.weak.remove(query.weak.pop(number))
        if not query.members:
            del self.events[query]
            self._unplaced_events.pop(query, None)
            for one in query.types:
                self.types.release(one)
            query.level = None
        self.version += 1

    def place(self, level_of: Callable[[Iterable[str]], int], *, anew: bool) -> None:
        """Puts the queries onto their levels, given that of a query over some streams: those
        that have none or, where the graph of streams is another one, `anew`."""
        unplaced, self._unplaced = self._unplaced, {}
        for number, pattern in (self.patterns if anew else unplaced).items():
            level = self._level(level_of({one.stream for one in pattern.all_types}))
            if pattern.level is None:
                self._add(number, pattern, level)
            self.stale |= pattern.level not in (None, level)
            pattern.level = level
        members, self._unplaced_events = self._unplaced_events, {}
        for query in [*(self.events if anew else members)]:
            level = self._level(level_of({one.stream for one in query.types}))
            self.stale |= query.level not in (None, level)
            query.level = level
            for member in members.get(query, ()):
                self._add_member(query, member)
        self.version += 1

    def renew_patterns(self) -> None:
        """Makes the stages of patterns again, which remember nothing but how many events were
        dropped."""
        for level in self.all:
            dropped = _dropped(level.patterns)
            level.patterns = Patterns(self._pattern_stage(), dropped=dropped)
        for number, pattern in self.patterns.items():
            assert pattern.level is not None
            self._add(number, pattern, pattern.level)
        self.stale = False
        self.version += 1

    def renew_plans(self) -> None:
        """The same of event queries."""
        for level in self.all:
            dropped = sum(map(_dropped, level.plans))
            level.plan, level.weak = Plan(self.event_stage(), dropped=dropped), []
        for query, member in self.members():
            self._add_member(query, member)
        self.version += 1

    def plans(self) -> Iterator[tuple[str, Plan, set[EventType]]]:
        """The stages of event queries, each with its name in a state file and the types that it
        reads."""
        for place, level in enumerate(self.all):
            queries = [one for one in self.events if one.level == place]
            read = {kind for one in queries if not one.compiled.weak for kind in one.types}
            yield str(place), level.plan, read
            for query in queries:
                for number, plan in query.weak.items():
                    yield weak(self.names(number) or ""), plan, set(query.types)

    def plans_in_order(self) -> Iterator[Plan]:
        """Those of event queries that wait for time to pass, level by level."""
        return (level.plan for level in self.all)

    def plans_of(self, query: EventQuery) -> Collection[Plan]:
        """The stages that have the subscriptions of an event query."""
        assert query.level is not None
        return query.weak.values() if query.compiled.weak else (self.all[query.level].plan,)

    def event_stage(self) -> EventStage:
        """A new stage for event queries."""
        from pattern_stage.plan.rules import SWITCHES
        from pattern_stage.plan.stage import EventStage

        return EventStage(self.without & SWITCHES, self._alike, self.most)

    def stopped(self) -> dict[int, str]:
        """Queries that have exceeded a bound, and why: they are to be removed."""
        stopped: dict[int, str] = {}
        for level in self.all:
            stopped |= level.patterns.stage.stopped
            for plan in level.plans:
                stopped |= plan.stage.stopped
        return stopped

    # What is known of them

    @property
    def windows(self) -> set[int]:
        """The windows of all patterns that end, in microseconds, and what bounds event queries."""
        some = {one.compiled.pattern.within for one in self.patterns.values()}
        ends = {within for within in some if within is not None}
        return ends | {one for query, of in self.members() for one in query.windows(of)}

    @property
    def parts(self) -> set[str]:
        """The streams whose documents have events in them."""
        return {one.stream for one in self.types if not one.whole}

    @property
    def numbers(self) -> set[int]:
        """The numbers of the join stage whose rows are events."""
        return {number for one in self.types for number in one.numbers}

    def any_pattern(self, queries: Collection[int]) -> bool:
        """Whether any of some queries is a pattern."""
        return not self.patterns.keys().isdisjoint(queries)

    def reach(self, types: Iterable[EventType]) -> int:
        """For how long (microseconds) after its time an event of some types can be reached."""
        stages = [level.patterns.stage for level in self.all]
        return max([stage.reach(one.number) for one in types for stage in stages], default=0)

    @property
    def memories(self) -> dict[int, Memory]:
        """What patterns remember beyond the events retained, by number."""
        of = [level.patterns.stage.memories for level in self.all]
        return {number: one for some in of for number, one in some.items()}

    def stats(self) -> dict[str, int]:
        """What patterns hold, and how many events were dropped, for `Engine.stats`."""
        return _totals(self._pattern_stage().stats(), [level.patterns for level in self.all])

    def event_stats(self) -> dict[str, int]:
        """The same of event queries."""
        return _totals(
            self.event_stage().stats(), [plan for level in self.all for plan in level.plans]
        )

    # Inside

    def _share(self, types: Iterable[EventType]) -> None:
        for one in types:
            for streams in self.sharable if one.whole else ():
                if one.stream in streams:
                    first = self._first.setdefault(streams, one.number)
                    self._alike.setdefault(one.number, first)

    def _level(self, level: int) -> int:
        while len(self.all) <= level:
            self.all.append(self._new_level())
        return level

    def _new_level(self) -> Level:
        return Level(Patterns(self._pattern_stage()), Plan(self.event_stage()))

    def _pattern_stage(self) -> PatternStage:
        from pattern_stage.processor import PatternStage
        from pattern_stage.switches import SWITCHES

        return PatternStage(self.without & SWITCHES, self._identity, self.most)

    def _add(self, number: int, pattern: PatternQuery, level: int) -> None:
        self.add_to(self.all[level].patterns.stage, number, pattern)

    @staticmethod
    def add_to(stage: PatternStage, number: int, pattern: PatternQuery) -> None:
        """Adds a pattern to a stage."""
        stage.add(
            number,
            pattern.compiled.pattern,
            tuple(tuple(one.number for one in types) for types in pattern.types),
            pattern.compiled.constants,
            since=pattern.since << PLACES,
            weak=pattern.compiled.weak,
        )

    def _add_member(self, query: EventQuery, member: Member) -> None:
        assert query.level is not None
        level = self.all[query.level]
        if query.compiled.weak:
            query.weak[member.number] = plan = Plan(self.event_stage(), weak=True)
            level.weak.append(plan)
        query.add_to(level.plan_of(query, member.number).stage, member)


def _totals(none: Mapping[str, int], holders: Iterable[Patterns | Plan]) -> dict[str, int]:
    totals = Counter({**dict.fromkeys(none, 0), "dropped": 0})
    for one in holders:
        totals.update(one.stage.stats())
        totals["dropped"] += one.dropped
    return dict(totals)


def _dropped(one: Patterns | Plan) -> int:
    return one.dropped + one.stage.stats().get("dropped", 0)
