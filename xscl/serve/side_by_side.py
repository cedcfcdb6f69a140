"""A match and its documents -> these side by side, what joined them marked in both.

Each document's text comes in pieces, of which those with a `mark` are the values of the joined
value of that number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from pydantic import BaseModel, Field

from xscl.documents.document import Document, document_of, is_small
from xscl.documents.marked import Place, marked_text
from xscl.documents.trees import content_of, parsed
from xscl.engine import Engine
from xscl.errors import DocumentError, XSCLError
from xscl.language.syntax import EventPattern, Events, Query
from xscl.sinks.entries import in_json, in_xml, named
from xscl.why import JoinedNodes, conditions_of, joined_nodes

__all__ = ["DocumentInfo", "Gone", "MarkedDocument", "SideBySide", "as_held", "info_of"]

_VALUES = 5
_LONGEST = 200
_NAMED = 500


class Piece(BaseModel):
    """A piece of a document's text; `mark` is the number of the joined value that it is."""

    text: str
    mark: int | None = None


class DocumentInfo(BaseModel):
    """A document that is held: what it is called, and where it leads."""

    id: str
    stream: str
    timestamp: float = Field(description="Its time, in seconds since 1970.")
    kind: str = Field(description="`xml` or `json`.")
    title: str | None = None
    link: str | None = Field(None, description="An address that it names, http or https.")


class MarkedDocument(DocumentInfo):
    """A document of a match as pieces, which make its text; it is laid out anew, and `whole` unless
    it is only the beginning of a large one."""

    pieces: list[Piece]
    whole: bool


class JoinedValue(BaseModel):
    """What joined the documents: an equality as it is written, and some of the values that it
    holds for."""

    mark: int
    text: str
    values: list[str]


class SideBySide(BaseModel):
    """The documents of a match, in the order of the query's blocks, what joined them, and the
    result as text that is laid out."""

    documents: list[MarkedDocument]
    joined: list[JoinedValue]
    result: str


class Gone(Exception):
    """A document of a match is held no more."""


def as_held(match: Mapping[str, Any], engine: Engine) -> SideBySide:
    """A match side by side with its documents, as an engine holds them; raises Gone."""
    envelopes = []
    for document, stream in zip(match["documents"], match["streams"], strict=True):
        found = (one for one in engine.held(document) if one["stream"] == stream)
        if (envelope := next(found, None)) is None:
            raise Gone(f"document {document!r} of stream {stream!r} is held no more")
        envelopes.append(envelope)
    some = (one for one in engine.subscriptions if one.name == match["query"])
    of = next(some, None)
    return _side_by_side(match, None if of is None else of.dissection.query, envelopes)


def _side_by_side(
    match: Mapping[str, Any], query: Query | None, envelopes: Sequence[Mapping[str, object]]
) -> SideBySide:
    """The documents of a query's match, given as its JSON says it; nothing is marked without the
    query, as where it was cancelled, nor of a pattern, which may relate any number of them."""
    documents = [_document(envelope) for envelope in envelopes]
    if query is None or isinstance(query.source, EventPattern | Events):
        joined = []
    else:
        joined = _joined(query, documents, match)
    marks: list[dict[Place, int]] = [{} for _ in documents]
    told: dict[int, JoinedValue] = {}
    for one in joined:
        # Nodes that several equalities join, as of three documents, are one value.
        known = {
            number
            for own, nodes in zip(marks, one.nodes, strict=True)
            for node in nodes
            if (number := own.get(node)) and told[number].values == _shown(one)
        }
        number = min(known, default=len(told) + 1)
        for own, nodes in zip(marks, one.nodes, strict=True):
            for node in nodes:
                own.setdefault(node, number)
        before = f"{told[number].text}, " if number in told else ""
        told[number] = JoinedValue(mark=number, text=before + one.text, values=_shown(one))
    return SideBySide(
        documents=[
            _marked(document, envelope, own)
            for document, envelope, own in zip(documents, envelopes, marks, strict=True)
        ],
        joined=list(told.values()),
        result=_laid_out(match["result"]),
    )


def info_of(envelope: Mapping[str, object]) -> DocumentInfo:
    """What a document that is held is called."""
    return DocumentInfo.model_validate(_info(_document(envelope), envelope))


def _document(envelope: Mapping[str, object]) -> Document:
    return document_of(envelope, 0, 0)


def _laid_out(result: object) -> str:
    """A result, XML as text or a JSON value, as people read it."""
    is_json = not isinstance(result, str)
    body = json.dumps(result).encode() if is_json else result
    try:
        pieces = marked_text(Document(0, "", "", 0, body, is_json), {}).pieces
        return "".join(text for text, _ in pieces)
    except XSCLError:
        # Deeper than a document may be, though each copy in it is not.
        return str(result)


def _joined(
    query: Query, documents: Sequence[Document], match: Mapping[str, Any]
) -> list[JoinedNodes]:
    try:
        return joined_nodes(conditions_of(query), documents, match["nodes"], match["bindings"])
    except XSCLError:
        # More than can be kept apart: the documents can be seen all the same.
        return []


def _marked(
    document: Document, envelope: Mapping[str, object], marks: Mapping[Place, int]
) -> MarkedDocument:
    text = marked_text(document, marks)
    pieces = [Piece(text=words, mark=mark) for words, mark in text.pieces]
    info = _info(document, envelope)
    return MarkedDocument.model_validate({**info, "pieces": pieces, "whole": text.whole})


def _info(document: Document, envelope: Mapping[str, object]) -> dict[str, object]:
    title, link = _title_and_link(document)
    return {
        "id": document.id,
        "stream": document.stream,
        "timestamp": envelope["timestamp"],
        "kind": "json" if document.json else "xml",
        "title": title or None,
        "link": link,
    }


def _title_and_link(document: Document) -> tuple[str, str | None]:
    if not is_small(document):
        return "", None
    named_values: Iterable[tuple[str, str]]
    try:
        if document.json:
            named_values = in_json("", content_of(document))
        else:
            named_values = in_xml(parsed(document))
        return named(islice(named_values, _NAMED))
    except DocumentError:
        return "", None


def _shown(joined: JoinedNodes) -> list[str]:
    return [_short(value) for value in joined.values[:_VALUES]]


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
