"""Nodes of large documents, as results ask for them: read from the events, a part at a time.

The results of one document tend to be read in order, so that where the reading of it has come to
is remembered: what is asked for further on costs the way there, what lies before a reading from
the beginning.  The last parts are remembered, too.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from copy import deepcopy

from lxml import etree

from xpath_stage import PrunedDocument
from xscl.documents.document import Document, Nodes, in_pieces

__all__ = ["let_go", "part_of"]

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
    """Lets go of the parts remembered, and of the documents with them."""
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
