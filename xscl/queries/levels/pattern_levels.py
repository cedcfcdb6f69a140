"""Patterns and event queries as a second stage, level by level: a step's events in, matches out.

They are evaluated once a step, when all that feeds them is there (in waves, a derived event could
come after the match that it should have prevented).  So they go by their level in the graph of
streams, each level with stages of its own; time passes through the levels in order, and what one
publishes are events of those above it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from pattern_stage.bounds import MOST
from xscl.documents.document import Document
from xscl.documents.events import PLACES, EventNodes, EventType, TypedEvents
from xscl.queries.levels.event_state import Saved, is_due, recall, save, weak
from xscl.queries.levels.levels import Levels, Member
from xscl.queries.levels.stage_holders import Patterns, Plan
from xscl.queries.levels.witness_free import WitnessFree

if TYPE_CHECKING:
    from pattern_stage.memory import Memory
    from pattern_stage.plan.outputs import Outputs
    from xscl.documents.intake import Intake
    from xscl.queries.levels.event_query import EventQuery
    from xscl.queries.levels.event_readers import EventReaders
    from xscl.queries.levels.event_types import EventTypes
    from xscl.queries.levels.pattern_rows import PatternRows

__all__ = ["PatternLevels", "Saved"]


class PatternLevels(WitnessFree):
    """The patterns and event queries of one engine; to evaluation it is a second stage.

    `document` is a document held, by its number; `without` and `sharable` are as in `Levels`.
    """

    def __init__(
        self,
        types: EventTypes,
        nodes: EventNodes,
        document: Callable[[int], Document],
        without: Collection[str] = (),
        sharable: Collection[Collection[str]] = (),
        most: int = MOST,
    ) -> None:
        self.nodes = nodes
        self.levels = Levels(types, self._identity, without, sharable, most)
        self._document = document
        self._turn = 0
        self._saved_at = -1
        self._readers: EventReaders | None = None
        self._read_at = -1

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
        readers = self._readers
        if readers is None or self._read_at != self.levels.version:
            readers = self._readers = self._read()
            self._read_at = self.levels.version
        return readers

    def wait(self, events: Iterable[TypedEvents]) -> None:
        """Takes events, which wait for the end of the step."""
        for holder, kind, some in events:
            holder.waiting += zip(repeat(kind), some)

    def rebuild(self, intake: Intake, memories: Mapping[int, Memory]) -> None:
        """Makes patterns, once `renew` was called and the events retained wait, what they were
        when these had been taken; `memories` are theirs, by number."""
        for level in self.levels.all:
            level.patterns.rebuild(intake.watermark, intake.flushed, memories)

    def _read(self) -> EventReaders:
        levels, readers = self.levels, self._no_readers()
        of_patterns: list[set[EventType]] = [set() for _ in levels.all]
        of_plans: dict[Plan, set[EventType]] = {}
        for level in levels.all:
            level.patterns.feeding = False
        for pattern in levels.patterns.values():
            if pattern.level is not None:
                of_patterns[pattern.level] |= pattern.all_types
                levels.all[pattern.level].patterns.feeding |= pattern.feeding
        placed = [one for one in levels.events if one.level is not None]
        for query in placed:
            for plan in levels.plans_of(query):
                of_plans.setdefault(plan, set()).update(query.types)
            if query.compiled.document:
                readers.identified |= {one.stream for one in query.types}
        for types, level in zip(of_patterns, levels.all, strict=True):
            readers.of_patterns(level.patterns, types)
        # What a level asks of the outputs of those below is asked there, too.
        for number, level in reversed([*enumerate(levels.all)]):
            for query in placed:
                if query.level == number and query.feeds:
                    readers.of_outputs(level.plan_of(query, query.number), query)
            for plan in level.plans:
                readers.of_plan(plan, of_plans.get(plan, ()))
        return readers

    def _no_readers(self) -> EventReaders:
        from xscl.queries.levels.event_readers import EventReaders

        return EventReaders(self.nodes)

    def look_back_for(
        self,
        number: int,
        events: Callable[[EventReaders], Iterable[TypedEvents]],
        intake: Intake,
    ) -> PatternRows:
        """What a pattern that is new finds in the documents retained, of which `events` are read.
        No other has to do with that; from then on it sees what comes, as all do."""
        pattern = self.levels.patterns[number]
        assert pattern.level is not None
        stage = self.levels.all[pattern.level].patterns.stage
        stage.remove(number)
        apart = Patterns(stage.apart())
        self.levels.add_to(apart.stage, number, pattern)
        readers = self._no_readers()
        readers.of_patterns(apart, pattern.all_types)
        self.wait(events(readers))
        weak = pattern.compiled.weak
        rows = apart.catch_up(intake.watermark, intake.flushed, weak=weak)
        stage.adopt(apart.stage, intake.next_number << PLACES)
        if stage.scattered:
            self.levels.stale = True
            self.levels.version += 1
        return rows

    # What is remembered

    def saved(self) -> Saved:
        """What event queries must remember over a restart, as JSON by what it is of; of what was
        saved at another time it says only what has come since."""
        levels = self.levels
        plans = [*levels.plans()]
        anew = levels.version != self._saved_at or any(is_due(plan) for _, plan, _ in plans)
        self._saved_at = levels.version
        saved: Saved = {}
        for of, plan, _ in plans:
            if anew:
                plan.snapshot = None
                if plan.mark is not None:
                    plan.forget(plan.mark)
            save(of, plan, levels.names, levels.types, saved)
            if anew:
                plan.snapshot, plan.logged = saved[f"state\n{of}"], 0
        return saved

    def recall(self, saved: Saved, flushed: int) -> None:
        """Lets event queries remember, as far as they are there; `flushed` as in `catch_up`."""
        levels = self.levels
        # What readers ask for has its place in events, too.
        _ = self.readers
        numbers = {member.name: member.number for _, member in levels.members()}
        recall(saved, levels.plans(), numbers.get, levels.types, flushed)

    def clear(self) -> None:
        """Makes all stages again, with nothing in them."""
        self._saved_at = -1
        self.levels.renew_patterns()
        self.levels.renew_plans()

    def renew(self, *, flushed: int) -> None:
        """Makes all stages again: patterns to be fed with the documents held (`wait`, `rebuild`),
        event queries as they were."""
        self.levels.renew_patterns()
        self._renew_plans(flushed)

    def _renew_plans(self, flushed: int, more: Saved | None = None) -> None:
        """Makes event queries again as they were, with `more` to remember."""
        self._saved_at = -1
        saved = self.saved() | (more or {})
        self.levels.renew_plans()
        self.recall(saved, flushed)

    def look_back(
        self,
        query: EventQuery,
        member: Member,
        events: Callable[[EventReaders], Iterable[TypedEvents]],
        intake: Intake,
    ) -> Outputs:
        """What a subscription of an event query finds among documents held, of which `events` are
        read; it remembers them from now on."""
        levels, types = self.levels, {one.number for one in query.types}
        plan = Plan(levels.event_stage(), query.compiled.weak)
        query.add_to(plan.stage, member)
        # What others ask of what it publishes is asked here, too.
        self.readers.of_outputs(plan, query)
        readers = self._no_readers()
        readers.of_plan(plan, query.types)
        self.wait(events(readers))
        waiting, plan.waiting = plan.waiting, []
        flushed, time = intake.flushed, intake.watermark
        if plan.weak:
            time = max([event[1] for _, event in waiting], default=None)
        outputs = plan.catch_up(waiting, time, flushed)
        more: Saved = {}
        if not plan.weak:
            # Of what others wait for, it sees what is retained as a whole.
            seen = {event[2] for _, event in waiting}
            for other in levels.plans_in_order():
                of_types = [event for kind, event in other.log if kind in types]
                missed = {event[2]: event[1] for event in of_types if event[2] not in seen}
                plan.stage.miss(member.since << PLACES, missed)
        save(weak(member.name) if plan.weak else "", plan, levels.names, levels.types, more)
        self._renew_plans(flushed, more)
        return outputs

    # A second stage

    @property
    def version(self) -> int:
        """Grows whenever patterns, or how long their events are reached, may have changed."""
        return self.levels.version

    @property
    def timed(self) -> bool:
        """Whether there are patterns or event queries, which go by steps."""
        return bool(self.levels)

    def advance(self, watermark: int | None, *, ended: bool = False) -> Sequence[Any]:
        """The matches of the next level, until there is none."""
        if self._turn == len(self.levels.all):
            self._turn = 0
            return ()
        _ = self.readers
        level = self.levels.all[self._turn]
        self._turn += 1
        return level.step(watermark, ended=ended)

    def reach(self, spine: int) -> int:
        """For how long (microseconds) after its time a witness of a spine can be reached."""
        return self.levels.reach(self.levels.types.of_spine(spine))

    def reach_of_stream(self, stream: str) -> int:
        """The same of the documents of a stream, as such."""
        types = self.levels.types
        return self.levels.reach([one for one in types if one.whole and one.stream == stream])

    def forget(
        self, watermark: int | None, documents: Sequence[int], *, exact: bool = False
    ) -> None:
        """Drops documents."""
        self.nodes.forget(documents)
