"""A match and its documents -> these side by side, what joined them marked in both.

Each document's text comes in pieces, of which those with a `mark` are the values of the joined
value of that number, or the words that alike texts share.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from pydantic import BaseModel, Field

from xscl.documents.document import Document, document_of, is_small
from xscl.documents.marked import Mark, Place, marked_text
from xscl.documents.trees import content_of, parsed
from xscl.engine import Engine
from xscl.errors import DocumentError, XSCLError
from xscl.language.syntax import Query
from xscl.serve.summarised import summary_of
from xscl.sinks.summaries import Part, part
from xscl.why import Conditions, JoinedNodes, conditions_of, joined_nodes
from xscl.xpath_stage.texts.shared_tokens import stretches

__all__ = ["DocumentInfo", "Gone", "MarkedDocument", "SideBySide", "as_held", "info_of"]

_NONE: Mapping[tuple[str, str], Mapping[str, object]] = {}
_VALUES = 5
_LONGEST = 200


class Piece(BaseModel):
    """A piece of a document's text; `mark` is the number of the joined value that it is."""

    text: str
    mark: int | None = None


class DocumentInfo(BaseModel):
    """A document that is retained: what it is called, and where it leads."""

    id: str
    stream: str
    timestamp: float = Field(description="Its time, in seconds since 1970.")
    kind: str = Field(description="`xml` or `json`.")
    title: str | None = Field(None, description="Its title, else its first values.")
    link: str | None = Field(None, description="An address that it names, http or https.")


class MarkedDocument(DocumentInfo):
    """A document of a match as pieces, which make its text; it is laid out again, and `whole`
    unless it is only the beginning of a large one."""

    pieces: list[Piece]
    whole: bool


class JoinedValue(BaseModel):
    """What joined the documents: an equality as it is written, and some of the values that it
    holds for; or a likeness, and some of the words that both sides share."""

    mark: int
    text: str
    values: list[str]


class SideBySide(BaseModel):
    """The documents of a match, in the order of the query's blocks, what joined them, and the
    result as text that is laid out."""

    summary: Any = Field(description="What people call the match, as in `GET /matches`.")
    documents: list[MarkedDocument]
    joined: list[JoinedValue]
    result: str


class Gone(Exception):
    """A document of a match is no longer retained."""


def as_held(
    match: Mapping[str, Any],
    engine: Engine,
    given: Mapping[tuple[str, str], Mapping[str, object]] = _NONE,
) -> SideBySide:
    """A match side by side with its documents, `given` by stream and id or else as an engine holds
    them; raises Gone."""
    envelopes = list[Mapping[str, object]]()
    for document, stream in zip(match["documents"], match["streams"], strict=True):
        found = (one for one in engine.held(document) if one["stream"] == stream)
        envelope = given.get((stream, document)) or next(found, None)
        if envelope is None:
            raise Gone(f"document {document!r} of stream {stream!r} is no longer retained")
        envelopes.append(envelope)
    some = (one for one in engine.subscriptions if one.name == match["query"])
    of = next(some, None)
    query = None if of is None else of.dissection.query
    called = msgspec.to_builtins(summary_of(match, engine))
    return _side_by_side(match, query, envelopes, called)


def _side_by_side(
    match: Mapping[str, Any],
    query: Query | None,
    envelopes: Sequence[Mapping[str, object]],
    summary: object,
) -> SideBySide:
    """The documents of a query's match, given as its JSON says it; nothing is marked without the
    query, as where it was cancelled, nor of a pattern, which may relate any number of them."""
    documents = [_document(envelope) for envelope in envelopes]
    joined = [] if query is None or query.language.timed else _joined(query, documents, match)
    marks: list[dict[Place, int]] = [{} for _ in documents]
    alike: list[dict[Place, list[_Shared]]] = [{} for _ in documents]
    values: dict[int, JoinedValue] = {}
    for one in joined:
        if one.measure is not None:
            mark = len(values) + 1
            for shares, shared in zip(alike, one.shared, strict=True):
                for node, tokens in shared.items():
                    shares.setdefault(node, []).append((mark, one.measure, tokens))
            values[mark] = JoinedValue(mark=mark, text=one.text, values=_shown(one))
            continue
        # Nodes that several equalities join, as of three documents, are one value.
        known = {
            number
            for own, nodes in zip(marks, one.nodes, strict=True)
            for node in nodes
            if (number := own.get(node)) and values[number].values == _shown(one)
        }
        number = min(known, default=len(values) + 1)
        for own, nodes in zip(marks, one.nodes, strict=True):
            for node in nodes:
                own.setdefault(node, number)
        before = f"{values[number].text}, " if number in values else ""
        values[number] = JoinedValue(mark=number, text=before + one.text, values=_shown(one))
    return SideBySide(
        summary=summary,
        documents=[
            _marked(document, envelope, _in_parts(shares) | own)
            for document, envelope, shares, own in zip(
                documents, envelopes, alike, marks, strict=True
            )
        ],
        joined=list(values.values()),
        result=_laid_out(match["result"]),
    )


_Shared = tuple[int, str, frozenset[str]]
"""A mark, and the tokens by a measure that have it."""


def _in_parts(shares: Mapping[Place, Sequence[_Shared]]) -> dict[Place, Mark]:
    """The marks of nodes that share tokens with others: parts of what is in them."""
    return {node: partial(_parts, some) for node, some in shares.items()}


def _parts(shared: Sequence[_Shared], text: str) -> list[tuple[int, int, int]]:
    """The parts of a text that are of some tokens; of what has several marks the first one."""
    marked = dict[int, int]()
    for number, measure, tokens in shared:
        for start, end in stretches(measure, text, tokens):
            for at in range(start, end):
                marked.setdefault(at, number)
    parts = list[tuple[int, int, int]]()
    for at, number in sorted(marked.items()):
        if parts and parts[-1][1:] == (at, number):
            parts[-1] = parts[-1][0], at + 1, number
        else:
            parts.append((at, at + 1, number))
    return parts


def info_of(envelope: Mapping[str, object]) -> DocumentInfo:
    """What a document that is retained is called."""
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
        conditions = conditions_of(query)
        if not _may_be_of(conditions, match):
            return []
        return joined_nodes(conditions, documents, match["nodes"], match["bindings"])
    except XSCLError:
        # More than can be kept apart: the documents can be seen all the same.
        return []


def _may_be_of(conditions: Conditions, match: Mapping[str, Any]) -> bool:
    """Whether a match may be of a query, by its blocks and variables: the one that found it may
    have had the same name, and another text."""
    streams, patterns = match["streams"], conditions.patterns
    variables = {item.variable for pattern in patterns for item in pattern.items}
    return (
        len(streams) == len(patterns)
        and all(one.stream in (None, of) for one, of in zip(patterns, streams, strict=True))
        and variables.issuperset(match["bindings"])
    )


def _marked(
    document: Document, envelope: Mapping[str, object], marks: Mapping[Place, Mark]
) -> MarkedDocument:
    text = marked_text(document, marks)
    pieces = [Piece(text=words, mark=mark) for words, mark in text.pieces]
    info = _info(document, envelope)
    return MarkedDocument.model_validate({**info, "pieces": pieces, "whole": text.whole})


def _info(document: Document, envelope: Mapping[str, object]) -> dict[str, object]:
    called = _called(document)
    values = " · ".join(f"{name} {value}" for name, value in called.values)
    return {
        "id": document.id,
        "stream": document.stream,
        "timestamp": envelope["timestamp"],
        "kind": "json" if document.json else "xml",
        "title": called.title or values or None,
        "link": called.link,
    }


def _called(document: Document) -> Part:
    if not is_small(document):
        return Part()
    try:
        return part(content_of(document) if document.json else parsed(document))
    except DocumentError:
        return Part()


def _shown(joined: JoinedNodes) -> list[str]:
    return [_short(value) for value in joined.values[:_VALUES]]


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
