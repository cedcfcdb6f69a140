"""A published document: what a match holds of it, and its nodes when they are asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache

from lxml import etree

from xpath_stage import MalformedDocument, json_tree, json_values, parse
from xscl.dissect import public_name
from xscl.errors import DocumentError

__all__ = ["Document", "Nodes", "kept", "nodes", "parsed"]


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A document of a stream; `time` in microseconds.

    `body` is as it was published: text or bytes of XML or, where `json`, a JSON value; `kept`
    has that as bytes.
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
    """The elements of a document by node number, the numbers of the elements, and of a JSON
    document the original values."""

    elements: tuple[etree._Element, ...]
    numbers: dict[etree._Element, int]
    values: tuple[object, ...] | None


def kept(document: Document) -> Document:
    """A document as it is held: whatever becomes of a published JSON value later."""
    if not document.json or isinstance(document.body, bytes):
        return document
    return replace(document, body=json.dumps(document.body).encode())


def parsed(document: Document) -> etree._Element:
    """The root element of a document; raises DocumentError if it cannot be read."""
    try:
        return _root(document)
    except MalformedDocument as error:
        raise DocumentError(str(error), stream=document.stream, document=document.id) from error


@lru_cache(maxsize=256)
def nodes(document: Document) -> Nodes:
    """The nodes of a document.

    Parsed anew: the state holds texts, not trees.  Matches of one document tend to be read
    together, so the last trees are kept.
    """
    elements = tuple(_root(document).iter("*"))
    numbers = {element: number for number, element in enumerate(elements)}
    values = tuple(json_values(_value(document.body))) if document.json else None
    return Nodes(elements, numbers, values)


def _value(body: object) -> object:
    if not isinstance(body, bytes):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedDocument(f"it is no JSON: {error}") from error


def _root(document: Document) -> etree._Element:
    if document.json:
        return json_tree(_value(document.body))
    assert isinstance(document.body, str | bytes)
    return parse(document.body)
