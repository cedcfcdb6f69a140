"""Events: documents, or nodes in them, with a time, a number and values.

An event is `(start, end, number, *slots)` (`pattern_stage/layouts.py`); its number is that of its
document and a place in it: one node with the same variables has one number, whatever types it is
of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from xscl.documents.composites import OperatorRow
from xscl.documents.document import Document
from xscl.documents.trees import nodes_of
from xscl.pattern_stage.layouts import Event
from xscl.xpath_stage import ATTRIBUTE

if TYPE_CHECKING:
    from xscl.documents.attributes import Node

__all__ = [
    "PLACES",
    "WHOLE",
    "Event",
    "EventNode",
    "EventNodes",
    "EventType",
    "Holder",
    "PendingEvent",
    "TypedEvents",
]

PLACES = 32
"""Bits of an event's number that are its place in the document."""

PendingEvent = tuple[int, Event]
"""A type, and an event of it."""


class Holder(Protocol):
    """Buffers events until the end of the step: of a level, the stage of patterns or of event
    queries."""

    pending: list[PendingEvent]


TypedEvents = tuple[Holder, int, Sequence[Event]]
"""The holder of events, their type, and the events."""

AttributeName = Callable[[int], str | None]


@dataclass(frozen=True, slots=True)
class EventNode:
    """The nodes of an event: the code of its output node, and of the block's variables."""

    code: int = 0
    bound: tuple[tuple[str, int], ...] = ()


WHOLE = EventNode()
"""The whole document: its root element."""


@dataclass(frozen=True, slots=True, eq=False)
class EventType:
    """The events of a block: `whole` documents, else the rows under some `numbers` of the join
    stage, whose `columns` are the output node and then the variables."""

    number: int
    stream: str
    whole: bool
    numbers: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    variables: tuple[str, ...] = ()

    def node(self, row: OperatorRow) -> EventNode:
        """The nodes of a row."""
        output, *bound = [row.codes[column] for column in self.columns]
        if not (output or bound):
            return WHOLE
        return EventNode(output, tuple(sorted(zip(self.variables, bound, strict=True))))


class EventNodes:
    """The nodes of the events of retained documents, by the events' numbers."""

    def __init__(self, attribute_name: AttributeName) -> None:
        self._attribute_name = attribute_name
        # By place, of documents that have other events than the whole document.
        self._nodes: dict[int, list[EventNode]] = {}
        self._places: dict[int, dict[EventNode, int]] = {}
        self._said_of: tuple[int, int] = (-1, 0)
        self._by_said: dict[str, int] = {}
        """The places of the nodes of the last document that was asked for, by what is said of them;
        of which, and how many it had."""

    def number(self, document: int, node: EventNode) -> int:
        """The number of the event of a document and some nodes."""
        if node == WHOLE:
            return document << PLACES
        nodes = self._nodes.setdefault(document, [WHOLE])
        place = self._places.setdefault(document, {}).setdefault(node, len(nodes))
        if place == len(nodes):
            nodes.append(node)
        return (document << PLACES) + place

    def has(self, number: int) -> bool:
        """Whether the nodes of an event are known, as they are until its document is dropped."""
        document = number >> PLACES
        return number == document << PLACES or document in self._nodes

    def node(self, number: int) -> EventNode:
        """The nodes of an event."""
        document = number >> PLACES
        place = number - (document << PLACES)
        return self._nodes[document][place] if place else WHOLE

    def drop(self, documents: Iterable[int]) -> None:
        """Drops documents."""
        if self._nodes:
            for document in documents:
                self._nodes.pop(document, None)
                self._places.pop(document, None)

    def place(self, code: int) -> tuple[int, str | None]:
        """The number of the element of a code, and the name of its attribute."""
        return code % ATTRIBUTE, self._attribute_name(code)

    def named(self, number: int) -> list[Any]:
        """The identity of an event as JSON that is valid after a restart: the document's number,
        and unless it is the whole document, the elements and attributes of its nodes."""
        document = number >> PLACES
        node = self.node(number)
        return [document] if node is WHOLE else [document, *self._said(node)]

    def numbered(self, name: Sequence[Any]) -> int | None:
        """The number of the event for which `named` returned that; None if its document has no such
        event."""
        document, *nodes = name
        if not nodes:
            return int(document) << PLACES
        there = self._nodes.get(document, ())
        if self._said_of != (document, len(there)):
            self._said_of = document, len(there)
            self._by_said = {str(self._said(one)): at for at, one in enumerate(there) if at}
        place = self._by_said.get(str(nodes))
        return None if place is None else (document << PLACES) + place

    def _said(self, node: EventNode) -> list[Any]:
        bound = [[name, *self.place(code)] for name, code in node.bound]
        return [[*self.place(node.code)], bound]

    def found(self, document: Document, node: EventNode) -> tuple[Node, Mapping[str, Node]]:
        """The nodes of an event in the tree of its document."""

        def node_of(code: int) -> Node:
            number, name = self.place(code)
            return nodes_of(document, number).element(number), name

        return node_of(node.code), {name: node_of(code) for name, code in node.bound}
