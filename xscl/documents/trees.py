"""The trees of documents and their nodes, as results need them.

The state has texts: a tree is parsed again when the result of a match is read, and cached, since
matches of one document tend to be read together.  Nodes of an XML document whose tree is too large
for the cache, or that is never in memory whole, are read from the events, a part at a time.
Results tend to need them in order.  So the position of the reading is cached: a node further on
costs the way there, an earlier node a reading from the beginning.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree

from xscl.documents.bodies import LARGE, Body, pieces_of, size_of
from xscl.documents.document import Document, is_streamed
from xscl.documents.kept_texts import KeptTexts
from xscl.errors import DocumentError
from xscl.xpath_stage import (
    MalformedDocument,
    PrunedDocument,
    json_tree,
    json_value,
    json_values,
    parse,
)

__all__ = ["Nodes", "Trees", "content_of", "in_pieces", "nodes_of", "parsed"]

_SHARE = 64 * 1024 * 1024
"""Bytes of trees where memory has no bound."""

_ELEMENT = 420
"""Estimated bytes of an element with its number and its Python object, without its text."""

_READINGS = 4
_PARTS = 64
"""The number of documents that are read in parts, and of parts that are cached for each."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The elements of a document, or of a part of it, by node number from `first` on, the numbers
    of the elements, the original values of a JSON document, and their estimated bytes."""

    elements: tuple[etree._Element, ...]
    numbers: dict[etree._Element, int]
    values: tuple[object, ...] | None = None
    first: int = 0
    size: int = 0

    @classmethod
    def of(
        cls, root: etree._Element, values: tuple[object, ...] | None = None, first: int = 0
    ) -> Nodes:
        """The nodes of a tree whose root has a number."""
        elements = tuple(root.iter("*"))
        numbers = {element: number for number, element in enumerate(elements, first)}
        size = _ELEMENT * len(elements) + sum(map(len, root.itertext()))
        return cls(elements, numbers, values, first, size)

    def __contains__(self, number: int) -> bool:
        return 0 <= number - self.first < len(self.elements)

    def element(self, number: int) -> etree._Element:
        """The element of a number."""
        return self.elements[number - self.first]


class Trees:
    """The most recently read trees of one engine's documents, about `share` bytes of them.

    The last tree of a JSON document, which has no parts, stays whatever its size.
    """

    def __init__(self, share: int | None = None) -> None:
        self.share = _SHARE if share is None else share
        self.size = 0
        self._nodes: OrderedDict[tuple[int, int], Nodes] = OrderedDict()
        self._readings: OrderedDict[int, _Reading] = OrderedDict()
        self.texts = KeptTexts(self.share)
        self._lock = threading.Lock()

    def nodes(self, document: Document, number: int) -> Nodes:
        """The nodes of a document, or of a part of it that has the element of a number."""
        with self._lock:
            whole = self._recall(document.number, 0)
            if whole is not None and number < len(whole.elements):
                return whole
            if self._in_parts(document):
                return self._part(document, number)
        # Threads parse at the same time: parsing needs no lock.
        nodes = _whole(document)
        with self._lock:
            self._remember((document.number, 0), nodes)
        return nodes

    def clear(self) -> None:
        """Drops all that is cached."""
        with self._lock:
            self._nodes.clear()
            self._readings.clear()
            self.size = 0

    def _in_parts(self, document: Document) -> bool:
        """Whether a document is read in parts: its tree may be larger than the share."""
        if document.json or document.number in self._readings or is_streamed(document):
            return not document.json
        body = document.body
        assert isinstance(body, str | bytes | Body)
        # A tag has three characters.
        if size_of(body) // 3 * _ELEMENT <= self.share:
            return False
        content = body.read() if isinstance(body, Body) else body
        if isinstance(content, str):
            elements = content.count("<") - content.count("</")
        else:
            elements = content.count(b"<") - content.count(b"</")
        return elements * _ELEMENT > self.share

    def _part(self, document: Document, number: int) -> Nodes:
        reading = self._readings.pop(document.number, None) or _Reading(document)
        self._readings[document.number] = reading
        if len(self._readings) > _READINGS:
            self._readings.popitem(last=False)
        for first in reversed(reading.parts):
            if first <= number:
                part = self._recall(document.number, first)
                if part is not None and number < first + len(part.elements):
                    return part
        part = reading.part(number)
        self._remember((document.number, number), part)
        return part

    def _recall(self, document: int, first: int) -> Nodes | None:
        found = self._nodes.get((document, first))
        if found is not None:
            self._nodes.move_to_end((document, first))
        return found

    def _remember(self, key: tuple[int, int], nodes: Nodes) -> None:
        before = self._nodes.pop(key, None)
        self.size += nodes.size - (0 if before is None else before.size)
        self._nodes[key] = nodes
        lasting = nodes.values is not None
        while self.size > self.share and len(self._nodes) > lasting:
            _, gone = self._nodes.popitem(last=False)
            self.size -= gone.size


class _Reading:
    """The position of the reading of a document, and the nodes at which the last parts began."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.parts: deque[int] = deque(maxlen=_PARTS)
        self._begin()

    def part(self, number: int) -> Nodes:
        """The element of a number with all below it."""
        if number < self._next:
            self._begin()
        part = self._read(number)
        self.parts.append(number)
        return part

    def _begin(self) -> None:
        self._source: PrunedDocument
        self._source, _ = in_pieces(self._document)
        self._events: Iterator[tuple[str, etree._Element]] = iter(self._source)
        self._next = 0

    def _read(self, number: int) -> Nodes:
        for event, element in self._events:
            if event == "start":
                if self._next == number:
                    self._source.keep(element)
                else:
                    self._next += 1
            elif element is self._source.kept:
                # Earlier elements are cut off and freed.
                copied = deepcopy(element)
                copied.tail = None
                part = Nodes.of(copied, first=number)
                self._next += len(part.elements)
                return part
        raise IndexError(number)


def nodes_of(document: Document, number: int) -> Nodes:
    """The nodes of a document, or of a part of it that has the element of a number.

    Nodes should be requested in their order.
    """
    return _whole(document) if document.trees is None else document.trees.nodes(document, number)


def in_pieces(document: Document) -> tuple[PrunedDocument, float]:
    """The events of a large document, and its size as a multiple of the usual one."""
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


def _whole(document: Document) -> Nodes:
    values = tuple(json_values(content_of(document))) if document.json else None
    return Nodes.of(_root(document), values)


def content_of(document: Document) -> object:
    """The text or bytes of an XML document, the value of a JSON one; raises MalformedDocument."""
    body = document.body
    if isinstance(body, Body):
        body = body.read()
    return json_value(body) if document.json and isinstance(body, bytes) else body


def _root(document: Document) -> etree._Element:
    content = content_of(document)
    if document.json:
        return json_tree(content)
    assert isinstance(content, str | bytes)
    return parse(content)
