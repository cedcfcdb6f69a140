"""How events are read of documents: by stream of whole ones, by type of nodes in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from pattern_stage.algebra import published
from xscl.documents.attributes import Node, Values, of_members, of_nodes
from xscl.documents.columns import (
    NodeColumns,
    ValueColumns,
    columns_of_nodes,
    columns_of_value,
    values_in,
)
from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document
from xscl.documents.events import PLACES, Event, EventNodes, EventType, TypedEvents
from xscl.documents.trees import content_of, parsed
from xscl.queries.levels.stage_holders import Patterns, Plan

if TYPE_CHECKING:
    from pattern_stage.plan.outputs import Root
    from xscl.queries.levels.event_query import EventQuery

__all__ = ["AsEvent", "EventReaders"]

_NUMBER = attrgetter("number")

OfValue = Callable[[object, int, str], Values]
OfEvent = Callable[[Event], tuple[Any, ...]]
OfNode = Callable[[Node, Mapping[str, Node], int, str], Values]


AsEvent = tuple[Plan, int, Any, tuple[Any, ...]]
"""Who takes an event, its type, all its attributes where they are asked for, and its values."""


class EventReaders:
    """The readers of some levels, as their queries are.

    `identified` are the streams of which some event query's outputs still are the documents.
    """

    def __init__(self, nodes: EventNodes) -> None:
        self._nodes = nodes
        self.identified: set[str] = set()
        self._of_whole: dict[str, list[tuple[Patterns, int, OfValue, OfNode]]] = {}
        self._columns: dict[str, list[tuple[Plan, int, ValueColumns, NodeColumns]]] = {}
        self._parts: dict[int, list[tuple[Patterns, OfNode]]] = {}
        self._outputs: dict[tuple[Root, str], list[tuple[Plan, int, OfEvent, bool]]] = {}
        self._columns_of_parts: dict[int, list[tuple[Plan, NodeColumns]]] = {}

    def of_patterns(self, holder: Patterns, types: Iterable[EventType]) -> None:
        """Adds what reads some types for patterns."""
        for one in sorted(types, key=_NUMBER):
            slots = holder.stage.slots(one.number)
            if one.whole:
                readers = self._of_whole.setdefault(one.stream, [])
                readers.append((holder, one.number, of_members(slots), of_nodes(slots)))
            else:
                self._parts.setdefault(one.number, []).append((holder, of_nodes(slots)))

    def of_plan(self, holder: Plan, types: Iterable[EventType]) -> None:
        """Adds what reads some types for event queries."""
        for one in sorted(types, key=_NUMBER):
            number = one.number
            slots, whole = holder.stage.slots(number), holder.stage.whole(number)
            of_node = columns_of_nodes(slots, whole=whole)
            if one.whole:
                of_value = columns_of_value(slots, whole=whole)
                plans = self._columns.setdefault(one.stream, [])
                plans.append((holder, number, of_value, of_node))
            else:
                self._columns_of_parts.setdefault(number, []).append((holder, of_node))

    def of_outputs(self, holder: Plan, query: EventQuery) -> None:
        """Adds what reads the outputs of an event query as events of the levels above, whose types
        are read already."""
        for stream in query.feeds:
            self._readers_of(holder.stage.root(query.number), stream)

    def as_events(self, root: Root, event: Event, stream: str) -> list[AsEvent]:
        """An output as whoever reads a stream has it as an event."""
        return [
            (plan, kind, published(root.attributes(event)) if whole else None, read(event))
            for plan, kind, read, whole in self._readers_of(root, stream)
        ]

    def _readers_of(self, root: Root, stream: str) -> list[tuple[Plan, int, OfEvent, bool]]:
        found = self._outputs.get((root, stream))
        if found is None:
            found = self._outputs[root, stream] = [
                (plan, kind, root.values(plan.stage.slots(kind)), plan.stage.whole(kind))
                for plan, kind, _, _ in self._columns.get(stream, ())
            ]
        return found

    @property
    def streams(self) -> Set[str]:
        """The streams whose documents are events as such."""
        return self._of_whole.keys() | self._columns.keys()

    def whole(self, stream: str) -> bool:
        """Whether documents of a stream are events as such."""
        return stream in self._of_whole or stream in self._columns

    def of_values(
        self,
        stream: str,
        values: Sequence[object],
        numbers: Iterable[int],
        ids: Sequence[str],
        times: Sequence[int],
        starts: Sequence[int] | None = None,
        *,
        columns: bool = True,
    ) -> Iterator[TypedEvents]:
        """The events that JSON documents of a stream are, as such, given their values, numbers,
        ids and times, and where some bear intervals their starts; without `columns` not those of
        event queries."""
        events = [number << PLACES for number in numbers]
        for holder, kind, of_value, _ in self._of_whole.get(stream, ()):
            of = zip(values, events, ids, times, strict=True)
            read = [(time, event, *of_value(value, time, id)) for value, event, id, time in of]
            yield holder, kind, read
        for plan, kind, columns_of, _ in self._columns.get(stream, ()) if columns else ():
            yield plan, kind, columns_of(values, starts or times, times, events)

    def of_documents(
        self, stream: str, documents: Sequence[Document], *, columns: bool = True
    ) -> Iterator[TypedEvents]:
        """The same of the documents."""
        return self.of_values(
            stream,
            [one.body if type(one.body) is dict else content_of(one) for one in documents],
            [one.number for one in documents],
            [one.id for one in documents],
            [one.time for one in documents],
            [one.time if one.start is None else one.start for one in documents],
            columns=columns,
        )

    def of_whole(self, document: Document, *, columns: bool = True) -> Iterator[TypedEvents]:
        """The events that a document is, as such; those of event queries unless these have them
        already."""
        time, number, id = document.time, document.number, document.id
        start = time if document.start is None else document.start
        if document.json:
            yield from self.of_documents(document.stream, (document,), columns=columns)
            return
        root, event = (parsed(document), None), number << PLACES
        for level, kind, _, of_node in self._of_whole.get(document.stream, ()):
            yield level, kind, [(time, event, *of_node(root, {}, time, id))]
        value_of = values_in(document)
        for plan, kind, _, node_columns in (
            self._columns.get(document.stream, ()) if columns else ()
        ):
            yield plan, kind, [node_columns(root, {}, value_of, start, time, event)]

    def of_rows(
        self,
        kind: EventType,
        rows: Iterable[OperatorRow],
        held: Mapping[int, Document],
        *,
        columns: bool = True,
    ) -> Iterator[TypedEvents]:
        """The events that rows of a type are; those of event queries unless these have them
        already."""
        patterns = self._parts.get(kind.number, ())
        plans = self._columns_of_parts.get(kind.number, ()) if columns else ()
        value_of: Any = None
        of: Document | None = None
        for row in rows:
            (number,) = row.documents
            document = held[number]
            node = kind.node(row)
            output, bound = self._nodes.found(document, node)
            event, time = self._nodes.number(number, node), document.time
            for holder, read in patterns:
                values = read(output, bound, time, document.id)
                yield holder, kind.number, [(time, event, *values)]
            if plans and document is not of:
                of, value_of = document, values_in(document)
            start = time if document.start is None else document.start
            for plan, of_node in plans:
                read_of = of_node(output, bound, value_of, start, time, event)
                yield plan, kind.number, [read_of]
