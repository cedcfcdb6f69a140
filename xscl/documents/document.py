"""An envelope becomes a document: what is decided by its envelope only, and how it is stored.

An envelope is a mapping as in a line of an events file: `stream`, `id`, `timestamp`, and the body
under `xml` or `json`.  Reading one changes nothing; a file that it names is copied when the
document is needed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from msgspec import Struct
from msgspec.structs import replace

from xscl.documents.bodies import Bodies, Body, is_large, size_of
from xscl.errors import DocumentError
from xscl.stream_names import is_internal, public_name
from xscl.times import from_timestamp
from xscl.xpath_stage import MalformedDocument, foreign_character

if TYPE_CHECKING:
    from xscl.documents.trees import Trees

__all__ = [
    "Document",
    "advance_of",
    "as_stored",
    "document_of",
    "from_file",
    "is_arc_change",
    "is_control",
    "is_small",
    "is_streamed",
    "new_id",
    "unwrapped",
    "without_body",
]

_SMALL = 100_000


class Document(Struct, frozen=True):
    """A document of a stream; `time` in microseconds.

    `body` is as it was published: text or bytes of XML, the Path of its file or, where `json`, a
    JSON value.  A retained document has text, bytes or an engine's Body; a JSON value as bytes.
    `trees` are those of the engine that retains it.  A document with an interval has its `start`.
    A document that is retained for its id only, since nothing but columns is read of it, has no
    body.
    """

    number: int
    stream: str
    id: str
    time: int
    body: object
    json: bool
    trees: Trees | None = None
    start: int | None = None

    @property
    def source(self) -> str:
        """The stream by its public name; for a sub-query's result, the sub-query."""
        return public_name(self.stream)


def new_id() -> str:
    """The id of a document that has none."""
    return os.urandom(16).hex()


def document_of(
    envelope: Mapping[str, object], number: int, arrival: int, trees: Trees | None = None
) -> Document:
    """The document of an envelope that arrives at a time (microseconds), which is its time if it
    has no timestamp; raises DocumentError for an envelope that has no document."""
    stream = envelope.get("stream", "S")
    name = envelope.get("id")
    if not isinstance(stream, str) or not stream or is_internal(stream):
        problem = f"`stream` is {stream!r}; expected the name of a stream"
        raise DocumentError(problem, stream=str(stream), document=str(name))
    if not isinstance(name, str):
        if name is not None:
            raise DocumentError("`id` must be a string", stream=stream, document=str(name))
        name = new_id()
    if not (stream.isprintable() and name.isprintable()):
        _check_characters(stream, name)
    body, is_json = envelope.get("xml"), False
    if type(body) is not str:
        if body is None and "json" in envelope:
            body, is_json = envelope["json"], True
            if type(body) is str:
                body = unwrapped(body)
        elif not isinstance(body, str | bytes | Path):
            problem = "it has neither `xml`, the text of an XML document, nor `json`, a JSON value"
            raise DocumentError(problem, stream=stream, document=name)
    time = arrival
    if (given := envelope.get("timestamp")) is not None:
        try:
            time = from_timestamp(given)
        except ValueError as error:
            raise DocumentError(str(error), stream=stream, document=name) from None
    start = None
    if (given := envelope.get("start")) is not None:
        start = _start(given, time, stream, name)
    return Document(number, stream, name, time, body, is_json, trees, start)


def unwrapped(text: str) -> str | bytes:
    """A JSON value that is a text: one that is itself the text of an object is that object, since
    whoever wrote it has encoded twice, and no query could read its members."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return text.encode()


def _start(given: object, time: int, stream: str, name: str) -> int | None:
    """The start of a document's interval, None if it has no interval."""
    try:
        start = from_timestamp(given)
    except ValueError as error:
        raise DocumentError(f"`start`: {error}", stream=stream, document=name) from None
    if start > time:
        problem = f"`start` is {given!r}, after its timestamp; expected one that is not"
        raise DocumentError(problem, stream=stream, document=name)
    return None if start == time else start


def advance_of(envelope: Mapping[str, object]) -> int | None:
    """The time (microseconds) of a control line, which promises that nothing earlier will come;
    None for an envelope.  Raises DocumentError."""
    if "advance" not in envelope or envelope.get("xml") is not None or "json" in envelope:
        return None
    try:
        return from_timestamp(envelope["advance"])
    except ValueError as error:
        problem = f"`advance`: {error}"
        raise DocumentError(problem, stream="?", document=str(envelope.get("id"))) from None


def retraction_of(envelope: Mapping[str, object]) -> tuple[str, str] | None:
    """The stream and the id of a line that takes a document back; None for an envelope.  Raises
    DocumentError."""
    if "retract" not in envelope or envelope.get("xml") is not None or "json" in envelope:
        return None
    id, stream = envelope["retract"], envelope.get("stream", "S")
    if not isinstance(id, str):
        raise DocumentError("`retract` must be an id", stream=str(stream), document=str(id))
    if not isinstance(stream, str) or not stream or is_internal(stream):
        problem = f"`stream` is {stream!r}; expected the name of a stream"
        raise DocumentError(problem, stream=str(stream), document=id)
    return stream, id


def is_arc_change(envelope: Mapping[str, object]) -> bool:
    """Whether a line changes the arcs of an automaton."""
    return "automaton" in envelope and envelope.get("xml") is None and "json" not in envelope


def is_control(envelope: Mapping[str, object]) -> bool:
    """Whether a line is no document: it says something of time, of a document or of an automaton.
    Raises DocumentError."""
    if is_arc_change(envelope):
        return True
    return advance_of(envelope) is not None or retraction_of(envelope) is not None


def _check_characters(stream: str, name: str) -> None:
    for member, text in (("stream", stream), ("id", name)):
        if (alien := foreign_character(text)) is not None:
            problem = f"`{member}` holds {alien}"
            raise DocumentError(problem, stream=ascii(stream), document=ascii(name))


def from_file(document: Document, bodies: Bodies) -> Document:
    """A document with a copy of the file in place of the Path that its body is; raises
    DocumentError if it cannot be read."""
    if document.json or not isinstance(document.body, Path):
        return document
    try:
        return replace(document, body=bodies.copy(document.body))
    except OSError as error:
        problem = error.strerror or str(error)
        raise DocumentError(problem, stream=document.stream, document=document.id) from error


def as_stored(document: Document, bodies: Bodies, trees: Trees) -> Document:
    """A document as it is stored, independent of later changes of a published JSON value.

    Raises DocumentError for a JSON value that cannot be written and for a large text with half a
    surrogate pair.
    """
    body = document.body
    if (
        bodies.share is None
        and (type(body) is bytes or (type(body) is str and not document.json))
        and len(body) < _SMALL
    ):
        # As most are.
        return document if document.trees is trees else replace(document, trees=trees)
    try:
        if document.json and not isinstance(body, bytes | Body):
            body = _written(body)
        assert isinstance(body, str | bytes | Body)
        stored = bodies.stored(body)
    except (MalformedDocument, TypeError, ValueError, RecursionError) as error:
        problem = str(error) if isinstance(error, MalformedDocument) else f"it is no JSON: {error}"
        raise DocumentError(problem, stream=document.stream, document=document.id) from error
    if stored is document.body and document.trees is trees:
        return document
    return replace(document, body=stored, trees=trees)


def without_body(document: Document) -> Document:
    """A document that is retained for its id only."""
    number, start = document.number, document.start
    return Document(number, document.stream, document.id, document.time, None, True, None, start)


def _written(value: object) -> bytes:
    """A JSON value as text; other mappings than dicts are objects, too."""
    try:
        # Copied, as orjson leaves its bytes in a buffer of 4 KiB and more: documents are retained.
        return bytes(memoryview(orjson.dumps(value, default=dict)))
    except orjson.JSONEncodeError:
        # It refuses numbers of more than 64 bits, halves of surrogate pairs, and very deep values.
        return json.dumps(value, default=dict).encode()


def is_streamed(document: Document) -> bool:
    """Whether a document is parsed in pieces and never in memory whole; a JSON value always is."""
    body = document.body
    if document.json or (type(body) is str and len(body) < _SMALL):
        return False
    return isinstance(body, str | bytes | Body) and is_large(body)


def is_small(document: Document) -> bool:
    """Whether a document can be judged again in little time."""
    body = document.body
    return not isinstance(body, str | bytes | Body) or size_of(body) < _SMALL
