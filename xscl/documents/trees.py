"""The tree of a document and its nodes, as results ask for them.

Those of a large document are read from its events, a part at a time.

The results of one document tend to be read in order, so that where the reading of it has come to
is remembered: what is asked for further on costs the way there, what lies before a reading from
the beginning.  The last parts are remembered, too.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from xpath_stage import MalformedDocument, PrunedDocument, json_tree, json_values, parse
from xscl.documents.bodies import LARGE, Body, pieces_of, size_of
from xscl.documents.document import Document
from xscl.errors import DocumentError

__all__ = ["Nodes", "in_pieces", "let_go", "nodes", "parsed", "part_of"]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The elements of a document, or of a part of it, by node number from `first` on, the numbers
    of the elements, and of a JSON document the original values."""

    elements: tuple[etree._Element, ...]
    numbers: dict[etree._Element, int]
    values: tuple[object, ...] | None
    first: int = 0

    @classmethod
    def of(cls, elements: tuple[etree._Element, ...], first: int) -> Nodes:
        """A part of an XML document."""
        numbers = {element: number for number, element in enumerate(elements, first)}
        return cls(elements, numbers, None, first)

    def element(self, number: int) -> etree._Element:
        """The element of a number."""
        return self.elements[number - self.first]


def in_pieces(document: Document) -> tuple[PrunedDocument, float]:
    """The events of a large document, and how many times as large as others it is."""
    body = document.body
    assert isinstance(body, str | bytes | Body)
    text = body.text if isinstance(body, Body) else isinstance(body, str)
    return PrunedDocument(pieces_of(body), text=text), max(1, size_of(body) / LARGE)


def parsed(document: Document) -> etree._Element:
    """The root element of a document; raises DocumentError if it cannot be read."""
    try:
        return _root(document)
    except MalformedDocument as error:
        raise DocumentError(str(error), stream=document.stream, document=document.id) from error


def nodes(document: Document) -> Nodes:
    """The nodes of a document.

    Parsed anew: the state holds texts, not trees.  Matches of one document tend to be read
    together, so the last trees are kept: many small ones or a few others.
    """
    body = document.body
    small = not isinstance(body, str | bytes | Body) or size_of(body) <= _SMALL
    return (_nodes_of_small if small else _nodes_of_others)(document)


def _nodes(document: Document) -> Nodes:
    elements = tuple(_root(document).iter("*"))
    numbers = {element: number for number, element in enumerate(elements)}
    values = tuple(json_values(_value(document.body))) if document.json else None
    return Nodes(elements, numbers, values)


_SMALL = 16 * 1024
_nodes_of_small = lru_cache(maxsize=256)(_nodes)
_nodes_of_others = lru_cache(maxsize=4)(_nodes)


def _value(body: object) -> object:
    if isinstance(body, Body):
        body = body.read()
    if not isinstance(body, bytes):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedDocument(f"it is no JSON: {error}") from error


def _root(document: Document) -> etree._Element:
    if document.json:
        return json_tree(_value(document.body))
    body = document.body
    assert isinstance(body, str | bytes | Body)
    return parse(body.read() if isinstance(body, Body) else body)


_DOCUMENTS = 4
_PARTS = 64
"""Of so many documents and, in each, so many parts are remembered."""


class _Reading:
    """The parts of one document that were read last, and where the reading has come to."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._parts: OrderedDict[int, Nodes] = OrderedDict()
        self._begin()

    def part(self, number: int) -> Nodes:
        """A part that has the element of a number."""
        for first, part in reversed(self._parts.items()):
            if first <= number < first + len(part.elements):
                self._parts.move_to_end(first)
                return part
        if number < self._next:
            self._begin()
        part = self._parts[number] = self._read(number)
        if len(self._parts) > _PARTS:
            self._parts.popitem(last=False)
        return part

    def _begin(self) -> None:
        self._source: PrunedDocument
        self._source, _ = in_pieces(self._document)
        self._events: Iterator[tuple[str, etree._Element]] = iter(self._source)
        self._next = 0

    def _read(self, number: int) -> Nodes:
        """The element of a number with all below it; it has not come yet."""
        for event, element in self._events:
            if event == "start":
                if self._next == number:
                    self._source.keep(element)
                else:
                    self._next += 1
            elif element is self._source.kept:
                # What stays behind is cut off and may go.
                copied = deepcopy(element)
                copied.tail = None
                elements = tuple(copied.iter("*"))
                self._next += len(elements)
                return Nodes.of(elements, number)
        raise IndexError(number)


_readings: OrderedDict[Document, _Reading] = OrderedDict()
_lock = threading.Lock()


def let_go() -> None:
    """Lets go of the trees and parts remembered, and of the documents with them."""
    _nodes_of_small.cache_clear()
    _nodes_of_others.cache_clear()
    with _lock:
        _readings.clear()


def part_of(document: Document, number: int) -> Nodes:
    """A part of a large document that has the element of a number.

    The nearest nodes should be asked for in their order.
    """
    with _lock:
        reading = _readings.pop(document, None) or _Reading(document)
        _readings[document] = reading
        if len(_readings) > _DOCUMENTS:
            _readings.popitem(last=False)
        return reading.part(number)
