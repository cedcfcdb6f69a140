"""How events are read of documents: by stream of whole ones, by type of nodes in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from xscl.documents.attributes import text_of_node
from xscl.documents.bodies import Body
from xscl.documents.columns import Columns, values_in
from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document, is_streamed
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
from xscl.xpath_stage import AlikeTexts, Cut

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.outputs import Root
    from xscl.queries.levels.event_query import EventQuery

__all__ = ["AsEvent", "EventReaders"]

_NUMBER = attrgetter("number")

_Read = tuple[Controller, int]
"""Who reads events, and their type."""

_OfOutputs = tuple[PlanController, int, Callable[[Event], tuple[Any, ...]]]

AsEvent = tuple[PlanController, int, tuple[Any, ...]]
"""Who takes an event, its type, and its values."""


class EventReaders:
    """The readers of some levels, as their queries are.

    `identified` are the streams of which some event query's outputs still are the documents.
    """

    def __init__(self, nodes: EventNodes) -> None:
        self._nodes = nodes
        self.identified: set[str] = set()
        self._of_whole: dict[str, list[_Read]] = {}
        self._of_parts: dict[int, list[_Read]] = {}
        self._columns: dict[object, tuple[list[_Read], Columns]] = {}
        self._outputs: dict[tuple[Root, str], list[_OfOutputs]] = {}
        self._alike: defaultdict[str, AlikeTexts] = defaultdict(AlikeTexts)
        self._last: Document | None = None
        self._cut: Cut | None = None

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
            self._readers_of(holder.stage.root(query.number), stream)

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
        read = self._of_node(reader, document, WHOLE) if some else ()
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
        for row in rows if some else ():
            (number,) = row.documents
            document = held[number]
            node = kind.node(row)
            if document.json and node is WHOLE:
                whole.append(document)
                continue
            read = self._of_node(reader, document, node)
            for (holder, number_of_type), one in zip(some, read, strict=True):
                yield holder, number_of_type, [one]
        if whole:
            yield from _of_json(some, reader, whole)

    def _of_node(self, reader: Columns, document: Document, node: EventNode) -> list[Event]:
        """The event of some nodes of a document for each who reads it."""
        end = document.time
        start = end if document.start is None else document.start
        event = start, end, self._nodes.number(document.number, node), document.id
        if document.json:
            output, bound = self._nodes.found(document, node)
            return reader.of_node(output, bound, values_in(document), *event)
        alike, who = self._alike[document.stream], (reader, node.code, node.bound)
        cut = self._cut_of(document, alike)
        known = alike.found(cut, who)
        if known is not None:
            places, parts = known

            def text_of(some: slice) -> str:
                return "".join(parts[some])

            return reader.of_found(places, text_of, text_of, *event)
        root = (parsed(document), None) if node is WHOLE else None
        output, bound = self._nodes.found(document, node) if root is None else (root, {})
        nodes = reader.nodes(output, bound)
        alike.note(cut, who, output, nodes)
        return reader.of_found(nodes, text_of_node, text_of_node, *event)

    def _cut_of(self, document: Document, alike: AlikeTexts) -> Cut | None:
        """A document in parts, None for one that must be parsed.  Several types may read the same
        one in a row."""
        if document is not self._last:
            self._last, self._cut, body = document, None, document.body
            if isinstance(body, Body) and not is_streamed(document):
                body = body.read()
            if isinstance(body, str | bytes):
                self._cut = alike.cut(body)
        return self._cut


def _of_json(
    some: Sequence[_Read], reader: Columns, documents: Sequence[Document]
) -> Iterator[TypedEvents]:
    """The events that JSON documents are, as such, for some who read them."""
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
    """The same, given their values, numbers, ids, times and starts."""
    events = [number << PLACES for number in numbers]
    read = reader.of_values(values, starts, times, events, ids) if some else ()
    for (holder, kind), of_holder in zip(some, read, strict=True):
        yield holder, kind, of_holder
