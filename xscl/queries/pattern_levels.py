"""Patterns as a second stage, level by level: a step's events in, matches out.

A pattern is evaluated once a step, when all that feeds it is there (in waves, a derived event could
come after the match that it should have prevented).  So patterns go by their level in the graph
of streams, each level with a pattern stage of its own; time passes through the levels in order, and
what one publishes are events of those above it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from join_stage import Accepted, Batch, ChannelTuple, Wanted
from pattern_stage import Found, Group, PatternStage
from pattern_stage.found import Outcome, grouped
from xscl.documents.attributes import Node, Values, of_members, of_nodes
from xscl.documents.composites import Composite, Computed, OperatorRow
from xscl.documents.document import Document
from xscl.documents.events import PLACES, Event, EventNode, EventNodes, EventType, TypedEvent
from xscl.documents.trees import content_of, parsed
from xscl.patterns.compile import CompiledPattern
from xscl.queries.event_types import EventTypes

__all__ = ["PatternLevels", "PatternRows", "Told"]

OfValue = Callable[[object, int, str], Values]
OfNode = Callable[[Node, Mapping[str, Node], int, str], Values]
_Whole = tuple[int, int, OfValue, OfNode]
"""A level, a type, and how values are read of JSON and of a tree."""

Told = list[Any]
"""What NON OVERLAPPING remembers of a query: a partition, and the time of a match."""

Identity = Callable[[int], tuple[object, ...]]


class PatternRows:
    """The matches that a level of patterns has found, by query; `feeding` says whether any of its
    queries publishes, so that they must be looked at."""

    def __init__(self, stage: PatternStage, *, feeding: bool) -> None:
        self._stage = stage
        self.feeding = feeding
        self._rows: dict[int, list[tuple[Found]]] | None = None

    def by_query(self) -> Iterable[tuple[int, Sequence[tuple[Found]]]]:
        """Queries by number, with their matches."""
        return self._found().items()

    def counts(self) -> Mapping[int, int]:
        """The number of matches of each query; where nobody looks at any, nobody goes through
        them."""
        if self._rows is None and not self.feeding:
            return self._stage.counts()
        return {number: len(found) for number, found in self._found().items()}

    def groups(self) -> Sequence[Group]:
        """The matches in groups of those of a query that end alike."""
        if self._rows is None and not self.feeding:
            return self._stage.groups()
        found = [one for some in self._found().values() for (one,) in some]
        return grouped(Outcome((one.number,), [one.events], None, one.time) for one in found)

    def _found(self) -> dict[int, list[tuple[Found]]]:
        if self._rows is None:
            self._rows = {}
            for one in self._stage.found():
                self._rows.setdefault(one.number, []).append((one,))
        return self._rows


class PatternReading:
    """How the matches of a pattern are read, given the nodes of events."""

    distinct = True

    def __init__(self, pattern: CompiledPattern, node: Callable[[int], EventNode]) -> None:
        self._names = tuple([component.name for component in pattern.pattern.components])
        self._node = node

    def read(
        self, rows: Iterable[tuple[Found]], composites: Mapping[int, Composite]
    ) -> Iterable[OperatorRow]:
        """The rows that matches are: their documents in order of time, and the output nodes."""
        return (self.row(found) for (found,) in rows)

    def row(self, found: Found) -> OperatorRow:
        """The row of a match."""
        node = self._node
        events = [(component, event[1]) for component, event in found.events]
        nodes = [node(number) for _, number in events]
        return OperatorRow(
            tuple([number >> PLACES for _, number in events]),
            tuple([one.code for one in nodes]),
            (),
            Computed(
                variables=tuple([self._names[component] for component, _ in events]),
                bound=tuple([one.bound for one in nodes]),
                start=found.start,
                time=found.time,
            ),
        )


@dataclass(slots=True)
class _Query:
    """A pattern as its level has it."""

    compiled: CompiledPattern
    types: tuple[tuple[EventType, ...], ...]
    since: int
    feeding: bool
    level: int | None = None

    @property
    def all_types(self) -> set[EventType]:
        return {one for some in self.types for one in some}


@dataclass(slots=True)
class _Level:
    """A level: its stage, and the events that wait for the end of the step."""

    stage: PatternStage
    waiting: list[tuple[int, Event]] = field(default_factory=list)
    feeding: bool = False
    mark: int | None = None
    dropped: int = 0

    def take(self) -> None:
        """Takes what waits, but for what lies in the past, as results do that a query has of
        documents held."""
        waiting, self.waiting, mark = self.waiting, [], self.mark
        if mark is not None:
            coming = [one for one in waiting if one[1][0] >= mark]
            self.dropped += len(waiting) - len(coming)
            waiting = coming
        self.stage.take(waiting)

    def advance(self, watermark: int | None) -> None:
        """Lets the stage see the time."""
        self.mark = watermark
        self.stage.advance(watermark)


class PatternLevels:
    """The patterns of one engine; to evaluation it is a second stage.

    `document` is a document held, by its number; `without` are techniques that are switched off.
    """

    def __init__(
        self,
        types: EventTypes,
        nodes: EventNodes,
        document: Callable[[int], Document],
        without: Collection[str] = (),
    ) -> None:
        self.types = types
        self.nodes = nodes
        self.stale = False
        """Whether a level must see the documents held anew."""
        self._document = document
        self._without = frozenset(without)
        self._queries: dict[int, _Query] = {}
        self._levels: list[_Level] = []
        self._unplaced: dict[int, _Query] = {}
        self._turn = 0
        self._changes = 0
        # How events of documents are read: of whole ones by stream, of others by type.
        self._whole: dict[str, list[_Whole]] | None = None
        self._parts: dict[int, list[tuple[int, OfNode]]] = {}

    # Patterns

    def __len__(self) -> int:
        return len(self._queries)

    def add(
        self, number: int, compiled: CompiledPattern, since: int, *, feeding: bool
    ) -> PatternReading:
        """Takes in a pattern that sees the documents from number `since` on, and may be `feeding`
        a stream; `place` sets its level."""
        types = tuple(tuple(map(self.types.take, blocks)) for blocks in compiled.blocks)
        query = _Query(compiled, types, since, feeding)
        self._queries[number] = self._unplaced[number] = query
        return PatternReading(compiled, self.nodes.node)

    def remove(self, number: int) -> None:
        """Takes out a pattern."""
        query = self._queries.pop(number)
        self._unplaced.pop(number, None)
        if query.level is not None:
            self._levels[query.level].stage.remove(number)
        for types in query.types:
            for one in types:
                self.types.release(one)
        self._changed()

    def place(self, level_of: Callable[[Iterable[str]], int], *, anew: bool) -> None:
        """Puts the patterns onto their levels, given that of a pattern over some streams: those
        that have none or, where the graph of streams is another one, `anew`."""
        queries = self._queries if anew else self._unplaced
        self._unplaced = {}
        for number, query in queries.items():
            level = level_of({one.stream for one in query.all_types})
            if query.level == level:
                continue
            while len(self._levels) <= level:
                self._levels.append(_Level(self._stage()))
            if query.level is not None:
                self.stale = True
            else:
                self._add(number, query, level)
            query.level = level
        self._changed()

    def __iter__(self) -> Iterator[int]:
        return iter(self._queries)

    def windows(self) -> set[int]:
        """The windows of all patterns that end, in microseconds."""
        some = {one.compiled.pattern.within for one in self._queries.values()}
        return {within for within in some if within is not None}

    def stats(self) -> dict[str, int]:
        """What is held, and how many events were dropped, for `Engine.stats`."""
        totals = Counter(dict.fromkeys(PatternStage().stats(), 0))
        for level in self._levels:
            totals.update(level.stage.stats())
            totals["dropped"] += level.dropped
        return dict(totals)

    def told(self) -> dict[int, list[Told]]:
        """What patterns must remember over a restart, as plain data."""
        told: dict[int, list[Told]] = {}
        for level in self._levels:
            for number, *rest in level.stage.told:
                told.setdefault(number, []).append(rest)
        return told

    def tell(self, told: Mapping[int, list[Told]]) -> None:
        """Lets patterns remember."""
        for number, some in told.items():
            level = self._queries[number].level
            assert level is not None
            self._levels[level].stage.told = [(number, *rest) for rest in some]

    def renew(self, *, forget: bool = False) -> None:
        """Begins anew, to be fed with the documents held (`wait`, `catch_up`), or to `forget`."""
        told = [[] if forget else level.stage.told for level in self._levels]
        self._levels = [_Level(self._stage()) for _ in told]
        for number, query in self._queries.items():
            assert query.level is not None
            self._add(number, query, query.level)
        for level, before in zip(self._levels, told, strict=True):
            level.stage.told = before
        self.stale = False
        self._changed()

    @property
    def parts(self) -> set[str]:
        """The streams whose documents have events in them."""
        return {one.stream for one in self.types if not one.whole}

    def numbers(self) -> set[int]:
        """The numbers of the join stage whose rows are events."""
        return {number for one in self.types for number in one.numbers}

    def of_any(self, queries: Collection[int]) -> bool:
        """Whether any of some queries is a pattern."""
        return not self._queries.keys().isdisjoint(queries)

    def _stage(self) -> PatternStage:
        return PatternStage(self._without, self._identity)

    def _add(self, number: int, query: _Query, level: int) -> None:
        self._levels[level].stage.add(
            number,
            query.compiled.pattern,
            tuple(tuple(one.number for one in types) for types in query.types),
            query.compiled.constants,
            since=query.since << PLACES,
            weak=query.compiled.weak,
        )

    def _changed(self) -> None:
        self._changes += 1
        self._whole = None

    def _identity(self, number: int) -> tuple[object, ...]:
        """What orders events of one time: document, node, attribute, the nodes of variables."""
        node = self.nodes.node(number)
        element, attribute = self.nodes.place(node.code)
        bound = tuple(self.nodes.place(code)[0] for _, code in node.bound)
        return self._document(number >> PLACES).id, element, attribute or "", bound

    # Events

    @property
    def whole(self) -> Collection[str]:
        """The streams whose documents are events as such."""
        return self._read() if self._whole is None else self._whole

    def of_whole(self, document: Document) -> Sequence[TypedEvent]:
        """The events that a document is, as such."""
        assert self._whole is not None
        readers = self._whole[document.stream]
        time, number, id = document.time, document.number << PLACES, document.id
        if document.json:
            value = document.body if type(document.body) is dict else content_of(document)
            return [
                (level, kind, (time, number, *of_value(value, time, id)))
                for level, kind, of_value, _ in readers
            ]
        root = parsed(document), None
        return [
            (level, kind, (time, number, *of_node(root, {}, time, id)))
            for level, kind, _, of_node in readers
        ]

    def of_rows(
        self, kind: EventType, rows: Iterable[OperatorRow], held: Mapping[int, Document]
    ) -> Iterator[TypedEvent]:
        """The events that rows of a type are."""
        if self._whole is None:
            self._read()
        for row in rows:
            (number,) = row.documents
            document = held[number]
            node = kind.node(row)
            output, bound = self.nodes.found(document, node)
            event = self.nodes.number(number, node)
            for level, read in self._parts[kind.number]:
                values = read(output, bound, document.time, document.id)
                yield level, kind.number, (document.time, event, *values)

    def wait(self, events: Iterable[TypedEvent]) -> None:
        """Takes events, which wait for the end of the step."""
        for level, kind, event in events:
            self._levels[level].waiting.append((kind, event))

    def catch_up(self, watermark: int | None, flushed: int) -> Sequence[PatternRows]:
        """The matches that are known of the events that wait, all of which came before: in a
        renewed state these are the ones of before, and those of patterns that are new.  Documents
        with numbers below `flushed` came before the input had ended once."""
        rows = []
        for level in self._levels:
            waiting, level.waiting = level.waiting, []
            before = [one for one in waiting if one[1][1] >> PLACES < flushed]
            if before:
                level.stage.take(before)
                level.stage.flush()
            level.stage.take([one for one in waiting if one[1][1] >> PLACES >= flushed])
            level.advance(watermark)
            found = PatternRows(level.stage, feeding=True)
            # What nobody asks for is not found again.
            found.by_query()
            rows.append(found)
        return rows

    def _read(self) -> Mapping[str, list[_Whole]]:
        """How events are read, as queries are now."""
        whole: dict[str, list[_Whole]] = {}
        parts: dict[int, list[tuple[int, OfNode]]] = {}
        on_level: list[set[EventType]] = [set() for _ in self._levels]
        for level in self._levels:
            level.feeding = False
        for query in self._queries.values():
            if query.level is not None:
                on_level[query.level] |= query.all_types
                self._levels[query.level].feeding |= query.feeding
        for number, level in enumerate(self._levels):
            for one in sorted(on_level[number], key=lambda one: one.number):
                slots = level.stage.slots(one.number)
                if one.whole:
                    readers = whole.setdefault(one.stream, [])
                    readers.append((number, one.number, of_members(slots), of_nodes(slots)))
                else:
                    parts.setdefault(one.number, []).append((number, of_nodes(slots)))
        self._whole, self._parts = whole, parts
        return whole

    # A second stage

    @property
    def version(self) -> int:
        """Grows whenever patterns, or how long their events are reached, may have changed."""
        return self._changes

    def accept(self, accepts: Sequence[Accepted]) -> None:
        """Leaf paths are no matter of patterns."""

    def change(
        self,
        gone: Sequence[int],
        moved: Sequence[tuple[int, int | None]],
        unvalued: Sequence[int],
    ) -> None:
        """Leaf paths are no matter of patterns."""

    def begin(self, batch: Batch) -> None:
        """Witnesses are no matter of patterns: their events come by `wait`."""

    def review(self, batch: Batch, queries: Collection[int]) -> None:
        """As `begin`."""

    def restore(self, batch: Batch, queries: Collection[int] = ()) -> None:
        """As `begin`."""

    def rejoin(self, queries: Collection[int]) -> None:
        """As `begin`."""

    @property
    def tuples(self) -> Sequence[ChannelTuple]:
        """None: a match of a pattern is of one query."""
        return ()

    def outputs(self, wanted: Wanted) -> Iterator[PatternRows]:
        """None before the end of the step."""
        return iter(())

    def counts(self) -> Mapping[int, int]:
        """None before the end of the step."""
        return {}

    @property
    def timed(self) -> bool:
        """Whether there are patterns, which go by steps."""
        return bool(self._queries)

    def advance(self, watermark: int | None, *, ended: bool = False) -> Sequence[PatternRows]:
        """The matches of the next level, until there is none."""
        if self._turn == len(self._levels):
            self._turn = 0
            return ()
        if self._whole is None:
            self._read()
        level = self._levels[self._turn]
        self._turn += 1
        level.take()
        if ended:
            level.stage.flush()
        else:
            level.advance(watermark)
        return (PatternRows(level.stage, feeding=level.feeding),)

    def reach(self, spine: int) -> int:
        """For how long (microseconds) after its time a witness of a spine can be reached."""
        of_spine = self.types.of_spine(spine)
        return max(map(self._reach, of_spine), default=0)

    def reach_of_stream(self, stream: str) -> int:
        """The same of the documents of a stream, as such."""
        whole = (one for one in self.types if one.whole and one.stream == stream)
        return max(map(self._reach, whole), default=0)

    def _reach(self, one: EventType) -> int:
        return max([level.stage.reach(one.number) for level in self._levels], default=0)

    def forget(
        self, watermark: int | None, documents: Sequence[int], *, exact: bool = False
    ) -> None:
        """Drops documents."""
        self.nodes.forget(documents)

    def unheld_strings(self, *, exact: bool = False) -> Mapping[int, str]:
        """None: it is handed none that it looks at."""
        return {}

    def strings_held(self, strings: Collection[int]) -> Set[int]:
        """None."""
        return frozenset()

    def drop_strings(self, strings: Sequence[int]) -> None:
        """It has none."""
