"""A published document: what a match holds of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from xpath_stage import MalformedDocument
from xscl.documents.bodies import Bodies, Body, is_large
from xscl.errors import DocumentError
from xscl.stream_names import public_name

__all__ = ["Document", "kept", "large"]


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
