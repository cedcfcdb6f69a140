"""Patterns and event queries as a second stage, level by level: a step's events in, matches out.

They are evaluated once a step, when all that feeds them is there (in waves, a derived event could
come after the match that it should have prevented).  So they go by their level in the graph of
streams, each level with stages of its own; time passes through the levels in order, and what one
publishes are events of those above it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import TYPE_CHECKING

from xscl.documents.document import Document
from xscl.documents.events import PLACES, EventNodes, EventType, TypedEvents
from xscl.pattern_stage.bounds import MOST
from xscl.pattern_stage.layouts import END, NUMBER
from xscl.queries.levels.consistency import PatternController, PlanController
from xscl.queries.levels.event_state import Saved, is_due, recall, save, weak
from xscl.queries.levels.levels import Levels
from xscl.queries.levels.stages import Stages

if TYPE_CHECKING:
    from xscl.documents.intake import Intake
    from xscl.pattern_stage.memory import Memory
    from xscl.pattern_stage.plan.outputs import Outputs
    from xscl.queries.levels.event_query import EventQuery
    from xscl.queries.levels.event_readers import EventReaders
    from xscl.queries.levels.event_types import EventTypes
    from xscl.queries.levels.pattern_rows import PatternRows
    from xscl.queries.subscription import Subscription

__all__ = ["PatternLevels", "Saved"]


class PatternLevels:
    """The patterns and event queries of one engine; to evaluation it is a second stage.

    `document` is a document held, by its number; `without` and `sharable` are as in `Stages`.
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
        self.levels = Levels(types, Stages(self._identity, without, sharable, most))
        self._document = document
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
            holder.pending += zip(repeat(kind), some)

    def rebuild(self, intake: Intake, memories: Mapping[int, Memory]) -> None:
        """Makes patterns, once `renew` was called and the events retained wait, what they were
        when these had been taken; `memories` are theirs, by number."""
        if intake.freed:
            memories = self._without(intake.freed, memories)
        with self.levels.stages.as_before():
            for controller in chain.from_iterable(one.of_patterns for one in self.levels.all):
                controller.rebuild(intake.watermark, intake.flushed, memories)
        for number, pattern in self.levels.patterns.items():
            if pattern in self.levels.hurried:
                placed_on = self.levels.controller(pattern)
                assert placed_on is not None
                placed_on.stage.report_early({number})

    def _without(
        self, freed: Collection[int], memories: Mapping[int, Memory]
    ) -> Mapping[int, Memory]:
        """Memories by which documents that were retracted, and are retained as joins and weak
        patterns go on with them, are none for other patterns."""
        from xscl.pattern_stage.memory import Memory

        found = {number: replace(one, missed=[*one.missed]) for number, one in memories.items()}
        readers: dict[int, list[int]] = {}
        for number, pattern in self.levels.patterns.items():
            for kind in () if pattern.weak else pattern.types:
                readers.setdefault(kind.number, []).append(number)
        for level in self.levels.all:
            for controller in level.of_patterns:
                for type_, event in controller.pending:
                    if event[NUMBER] >> PLACES in freed:
                        for number in readers.get(type_, ()):
                            memory = found.setdefault(number, Memory())
                            memory.missed.append((event[NUMBER], event[END]))
        return found

    def _read(self) -> EventReaders:
        levels, readers = self.levels, self._no_readers()
        of_patterns: dict[PatternController, set[EventType]] = {}
        of_plans = {plan: types for _, plan, types in levels.plans()}
        for level in levels.all:
            for controller in level.of_patterns:
                controller.feeding, of_patterns[controller] = False, set()
        for pattern in levels.patterns.values():
            placed_on = levels.controller(pattern)
            if placed_on is not None:
                of_patterns.setdefault(placed_on, set()).update(pattern.types)
                placed_on.feeding |= pattern.feeding
        placed = [one for one in levels.events if one.level is not None]
        for query in placed:
            if query.compiled.document:
                readers.identified |= {one.stream for one in query.types}
        for controller, types in of_patterns.items():
            readers.add(controller, types)
        # What a level asks of the outputs of those below is asked there, too.
        for number, level in reversed([*enumerate(levels.all)]):
            for query in placed:
                if query.level == number and query.feeds:
                    readers.of_outputs(levels.plan(query, query.number), query)
            for plan in level.plans:
                readers.add(plan, of_plans[plan])
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
        controller = self.levels.controller(pattern)
        assert controller is not None
        stage = controller.stage
        stage.remove(number)
        separate = PatternController(stage.separate(), feeding=True)
        self.levels.add_to(separate.stage, number, pattern)
        readers = self._no_readers()
        readers.add(separate, pattern.types)
        self.wait(events(readers))
        # To a weak pattern it means nothing that the input had ended once.
        flushed = 0 if pattern.weak else intake.flushed
        rows: PatternRows = separate.catch_up(intake.watermark, flushed)
        # What nobody asks for is not found again.
        rows.by_query()
        stage.adopt(separate.stage, intake.next_number << PLACES)
        if stage.scattered:
            self.levels.stale = True
            self.levels.version += 1
        return rows

    def reread(self, number: int, events: Callable[[EventReaders], Iterable[TypedEvents]]) -> None:
        """Gives an automaton the events retained, read as it is now."""
        pattern = self.levels.patterns[number]
        controller = self.levels.controller(pattern)
        assert controller is not None
        readers = self._no_readers()
        readers.add(controller, pattern.types)
        coming = [(kind, one) for _, kind, some in events(readers) for one in some]
        controller.stage.recall(number, coming)

    # What is remembered

    def saved(self, *, parting: bool = False) -> Saved:
        """What event queries must remember over a restart, as JSON by what it is of; of what was
        saved at another time it says only what has come since.  Queries may be `parting` from the
        stages that they share, for their levels, which are set."""
        levels = self.levels
        plans = [*levels.plans()]
        afresh = levels.version != self._saved_at or any(is_due(plan) for _, plan, _ in plans)
        self._saved_at = levels.version
        group = self._parting(always=parting) if afresh else None
        saved: Saved = {}
        for of, plan, _ in plans:
            if afresh:
                plan.snapshot = None
                plan.evict()
            save(of, plan, levels.name, levels.types, self.nodes, saved, group)
            if afresh:
                plan.snapshot, plan.logged = saved[f"state\n{of}"], 0
        return saved

    def _parting(self, *, always: bool) -> Callable[[int], Hashable] | None:
        """What queries that may part from others have in common, by their numbers: their levels,
        and whether their consistency is their own; None where all stay together."""
        members = [*self.levels.members()]
        if always or self.levels.stale or any(one.wiring.asked for _, one in members):
            return {one.order: (query.level, one.wiring.asked) for query, one in members}.get
        return None

    def recall(self, saved: Saved, flushed: int) -> None:
        """Lets event queries remember, as far as they are there; `flushed` as in `catch_up`."""
        levels = self.levels
        # What readers ask for has its place in events, too.
        _ = self.readers
        numbers = {member.name: member.order for _, member in levels.members()}
        with levels.stages.as_before():
            recall(saved, levels.plans(), numbers.get, levels.types, self.nodes, flushed)
        for query, member in levels.members() if levels.hurried else ():
            if query in levels.hurried:
                levels.plan(query, member.order).stage.report_early({member.order: None})

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
        saved = self.saved(parting=True) | (more or {})
        self.levels.renew_plans()
        self.recall(saved, flushed)

    def look_back(
        self,
        query: EventQuery,
        member: Subscription,
        events: Callable[[EventReaders], Iterable[TypedEvents]],
        intake: Intake,
    ) -> Outputs:
        """What a subscription of an event query finds among documents held, of which `events` are
        read; it remembers them from now on."""
        levels, types = self.levels, {one.number for one in query.types}
        plan = PlanController(levels.stage_for(query), query.weak)
        query.add_to(plan.stage, member)
        # What others ask of what it publishes is asked here, too.
        self.readers.of_outputs(plan, query)
        readers = self._no_readers()
        readers.add(plan, query.types)
        self.wait(events(readers))
        # As of what the levels have seen: the next step reports what a new lateness lets be.
        seen_until = [
            one.mark for level in levels.all for one in level.plans if not one.weak and one.mark
        ]
        pending, time = plan.pending, min(seen_until, default=intake.watermark)
        if plan.weak:
            time = max([event[END] for _, event in pending], default=None)
        outputs: Outputs = plan.catch_up(time, intake.flushed)
        more: Saved = {}
        if not plan.weak:
            # Of what others wait for, it sees what is retained as a whole.
            seen = {event[NUMBER] for _, event in pending}
            for level in levels.all:
                logs = [one.log for one in level.plans if not one.weak]
                of_types = [event for kind, event in chain.from_iterable(logs) if kind in types]
                missed = {one[NUMBER]: one[END] for one in of_types if one[NUMBER] not in seen}
                plan.stage.miss(member.since << PLACES, missed)
        of = weak(member.name) if plan.weak else ""
        save(of, plan, levels.name, levels.types, self.nodes, more)
        self._renew_plans(intake.flushed, more)
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

    def advance(
        self, watermark: int | None, *, ended: bool = False
    ) -> Iterator[tuple[Sequence[PatternRows], Sequence[Outputs]]]:
        """The matches of each level, in order."""
        for level in self.levels.all if self.timed else ():
            _ = self.readers
            yield level.step(watermark, ended=ended)
        self.levels.stages.before = None

    def reach(self, spine: int) -> int:
        """For how long (microseconds) after its time a witness of a spine can be reached."""
        return self.levels.reach(self.levels.types.of_spine(spine))

    def reach_of_stream(self, stream: str) -> int:
        """The same of the documents of a stream, as such."""
        types = self.levels.types
        return self.levels.reach([one for one in types if one.whole and one.stream == stream])

    def evict(
        self, watermark: int | None, documents: Sequence[int], *, exact: bool = False
    ) -> None:
        """Drops documents."""
        self.nodes.drop(documents)
