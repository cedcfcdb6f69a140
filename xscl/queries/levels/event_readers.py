"""How events are read of documents: by stream of whole ones, by type of nodes in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from xscl.documents.attributes import Node, text_of_node
from xscl.documents.bodies import Body, size_of
from xscl.documents.columns import Columns, values_in
from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document
from xscl.documents.events import (
    PLACES,
    WHOLE,
    Event,
    EventNode,
    EventNodes,
    EventType,
    TypedEvents,
)
from xscl.documents.trees import content_of, parsed
from xscl.queries.levels.consistency import Controller, PlanController
from xscl.xpath_stage import AlikeTexts, CutText

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.outputs import Root
    from xscl.queries.levels.event_query import EventQuery

__all__ = ["AsEvent", "EventReaders"]

_LONGEST = 100_000
"""Longer documents are read from their trees, which all types share."""

_TOGETHER = 1_000
"""The values of so many JSON documents are in memory together."""

_NUMBER = attrgetter("number")

_Read = tuple[Controller, int]
"""Who reads events, and their type."""

_OfOutputs = tuple[PlanController, int, Callable[[Event], tuple[Any, ...]]]

_Find = Callable[[EventNode], tuple[Node, Mapping[str, Node]]]
"""Finds the output node and those of the variables."""

AsEvent = tuple[PlanController, int, tuple[Any, ...]]
"""Who takes an event, its type, and its values."""


class EventReaders:
    """The readers of some levels, as their queries are.

    `identified` are the streams of which some event query's outputs still are the documents, and
    `documented` those that event queries publish to whose documents' ids or times are read.
    """

    def __init__(self, nodes: EventNodes) -> None:
        self._nodes = nodes
        self.identified: set[str] = set()
        self.documented: set[str] = set()
        self._of_whole: dict[str, list[_Read]] = {}
        self._of_parts: dict[int, list[_Read]] = {}
        self._columns: dict[object, tuple[list[_Read], Columns]] = {}
        self._outputs: dict[tuple[Root, str], list[_OfOutputs]] = {}
        self._alike: defaultdict[str, AlikeTexts] = defaultdict(AlikeTexts)

    def add(self, holder: Controller, types: Iterable[EventType]) -> None:
        """From now on the stage of a controller reads events of some types."""
        for one in sorted(types, key=_NUMBER):
            if one.whole:
                self._of_whole.setdefault(one.stream, []).append((holder, one.number))
            else:
                self._of_parts.setdefault(one.number, []).append((holder, one.number))

    def of_outputs(self, holder: PlanController, query: EventQuery) -> None:
        """Adds what reads the outputs of an event query as events of the levels above, whose types
        are read already."""
        for stream in query.feeds:
            if self._asks_documents(stream):
                self.documented.add(stream)
            else:
                self._readers_of(holder.stage.root(query.number), stream)

    def _asks_documents(self, stream: str) -> bool:
        """Whether an event query reads the ids or the times of a stream's documents."""
        return any(
            slot is not None and slot.attribute.own is not None
            for plan, kind in self._of_whole.get(stream, ())
            if isinstance(plan, PlanController)
            for slot in plan.stage.slots(kind)
        )

    def as_events(self, root: Root, event: Event, stream: str) -> list[AsEvent]:
        """An output as whoever reads a stream has it as an event."""
        return [(plan, kind, read(event)) for plan, kind, read in self._readers_of(root, stream)]

    def _readers_of(self, root: Root, stream: str) -> list[_OfOutputs]:
        found = self._outputs.get((root, stream))
        if found is None:
            found = self._outputs[root, stream] = [
                (plan, kind, root.values(plan.stage.slots(kind)))
                for plan, kind in self._of_whole.get(stream, ())
                if isinstance(plan, PlanController)
            ]
        return found

    @property
    def streams(self) -> Set[str]:
        """The streams whose documents are events as such."""
        return self._of_whole.keys()

    def whole(self, stream: str) -> bool:
        """Whether documents of a stream are events as such."""
        return stream in self._of_whole

    def _reading(
        self, of: Mapping[Any, Sequence[_Read]], at: object, *, columns: bool
    ) -> tuple[list[_Read], Columns]:
        """Who reads documents of a stream, or nodes of a type, and what reads these for them all;
        without `columns`, for patterns alone."""
        found = self._columns.get((at, columns))
        if found is None:
            some = [
                one for one in of.get(at, ()) if columns or not isinstance(one[0], PlanController)
            ]
            slots = [holder.stage.slots(kind) for holder, kind in some]
            found = self._columns[at, columns] = some, Columns(slots)
        return found

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
        some, reader = self._reading(self._of_whole, stream, columns=columns)
        yield from _of_values(some, reader, values, numbers, ids, times, starts or times)

    def of_documents(
        self, stream: str, documents: Sequence[Document], *, columns: bool = True
    ) -> Iterator[TypedEvents]:
        """The same of the documents."""
        some, reader = self._reading(self._of_whole, stream, columns=columns)
        yield from _of_json(some, reader, documents)

    def of_whole(self, document: Document, *, columns: bool = True) -> Iterator[TypedEvents]:
        """The events that a document is, as such; those of event queries unless these have them
        already."""
        if document.json:
            yield from self.of_documents(document.stream, (document,), columns=columns)
            return
        some, reader = self._reading(self._of_whole, document.stream, columns=columns)
        if some:
            nodes = _Nodes(document, self._cut(document), lambda _: ((parsed(document), None), {}))
            read = nodes.event(reader, WHOLE, document.number << PLACES)
            for (holder, kind), one in zip(some, read, strict=True):
                yield holder, kind, [one]

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
        some, reader = self._reading(self._of_parts, kind.number, columns=columns)
        whole: list[Document] = []
        nodes: _Nodes | None = None
        for row in rows:
            (number,) = row.documents
            document = held[number]
            node = kind.node(row)
            if not some:
                # Who has it already names it by its nodes, which have numbers again.
                self._nodes.number(number, node)
                continue
            if document.json and node is WHOLE and _is_short(document):
                whole.append(document)
                if len(whole) == _TOGETHER:
                    yield from _of_json(some, reader, whole)
                    whole.clear()
                continue
            if nodes is None or nodes.document is not document:
                find = partial(self._nodes.found, document)
                nodes = _Nodes(document, self._cut(document), find)
            read = nodes.event(reader, node, self._nodes.number(number, node))
            for (holder, number_of_type), one in zip(some, read, strict=True):
                yield holder, number_of_type, [one]
        if whole:
            yield from _of_json(some, reader, whole)

    def _cut(self, document: Document) -> CutText | None:
        """A document in parts, None for one that must be parsed."""
        if document.json or not _is_short(document):
            return None
        body = document.body.read() if isinstance(document.body, Body) else document.body
        assert isinstance(body, str | bytes)
        return self._alike[document.stream].cut(body)


class _Nodes:
    """The nodes of one document as events: read from its parts where these are known, else from the
    tree in which `find` finds them."""

    def __init__(self, document: Document, cut: CutText | None, find: _Find) -> None:
        self.document = document
        self._cut = cut
        self._find = find

    def event(self, reader: Columns, node: EventNode, number: int) -> list[Event]:
        """The event of some nodes, with its number, for each stage of a reader."""
        document, cut = self.document, self._cut
        end = document.time
        event = end if document.start is None else document.start, end, number, document.id
        key = reader, node.code, node.bound
        known = None if cut is None else cut.places(key)
        if known is not None:
            places, parts = known

            def text_of(some: slice) -> str:
                return "".join(parts[some])

            return reader.of_reached(places, text_of, text_of, *event)
        output, bound = self._find(node)
        nodes = reader.nodes(output, bound)
        if cut is not None:
            cut.note(key, output, nodes)
        return reader.of_reached(nodes, text_of_node, self._value_of, *event)

    def _value_of(self, node: Node) -> object:
        return self._values(node)

    @cached_property
    def _values(self) -> Callable[[Node], object]:
        # Most readers ask for no value as it is.
        return values_in(self.document)


def _is_short(document: Document) -> bool:
    """Whether reading a document again for each type costs less than keeping its tree."""
    body = document.body
    return type(body) is dict or (
        isinstance(body, str | bytes | Body) and size_of(body) <= _LONGEST
    )


def _of_json(
    some: Sequence[_Read], reader: Columns, documents: Sequence[Document]
) -> Iterator[TypedEvents]:
    """The events that JSON documents are as such, for some who read these, of stored documents."""
    return _of_values(
        some,
        reader,
        [one.body if type(one.body) is dict else content_of(one) for one in documents],
        [one.number for one in documents],
        [one.id for one in documents],
        [one.time for one in documents],
        [one.time if one.start is None else one.start for one in documents],
    )


def _of_values(
    some: Sequence[_Read],
    reader: Columns,
    values: Sequence[object],
    numbers: Iterable[int],
    ids: Sequence[str],
    times: Sequence[int],
    starts: Sequence[int],
) -> Iterator[TypedEvents]:
    """The events that JSON documents are as such, for some who read these, of columns."""
    events = [number << PLACES for number in numbers]
    read = reader.of_values(values, starts, times, events, ids) if some else ()
    for (holder, kind), of_holder in zip(some, read, strict=True):
        yield holder, kind, of_holder
