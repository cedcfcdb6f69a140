"""A published document: what a match holds of it, and its nodes when they are asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache

from lxml import etree

from xpath_stage import MalformedDocument, PrunedDocument, json_tree, json_values, parse
from xscl.dissection.dissect import public_name
from xscl.documents.bodies import LARGE, Bodies, Body, is_large, pieces_of, size_of
from xscl.errors import DocumentError

__all__ = ["Document", "Nodes", "in_pieces", "kept", "large", "let_go", "nodes", "parsed"]


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A document of a stream; `time` in microseconds.

    `body` is as it was published: text or bytes of XML or, where `json`, a JSON value; `kept`
    has that as bytes.  Either may lie among an engine's bodies.
    """

    number: int
    stream: str
    id: str
    time: int
    body: object
    json: bool

    @property
    def source(self) -> str:
        """The stream as people are told it: of a sub-query's result, the sub-query."""
        return public_name(self.stream)


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


def kept(document: Document, bodies: Bodies) -> Document:
    """A document as it is held: whatever becomes of a published JSON value later.

    Raises DocumentError for a large text that is none.
    """
    body = document.body
    if document.json and not isinstance(body, bytes | Body):
        body = json.dumps(body).encode()
    assert isinstance(body, str | bytes | Body)
    try:
        held = bodies.hold(body)
    except MalformedDocument as error:
        raise DocumentError(str(error), stream=document.stream, document=document.id) from error
    return document if held is document.body else replace(document, body=held)


def large(document: Document) -> bool:
    """Whether a document is never in memory whole, but parsed in pieces; JSON always is."""
    return isinstance(document.body, str | bytes | Body) and (
        not document.json and is_large(document.body)
    )


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


def let_go() -> None:
    """Lets go of the trees kept, and of the documents with them."""
    _nodes_of_small.cache_clear()
    _nodes_of_others.cache_clear()


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
