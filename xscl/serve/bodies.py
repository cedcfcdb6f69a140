"""The body of a request -> envelopes of documents, within bounds, gzipped or not."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from math import isfinite

from fastapi import Request

from xscl.errors import DocumentError
from xscl.serve.problems import Refused
from xscl.serve.service import Limits
from xscl.sources.envelopes import Place, lines_of

__all__ = ["KINDS", "envelopes_of", "read_body", "time_of"]

Envelope = dict[str, object]

KINDS = ("application/xml", "application/json", "application/x-ndjson")
"""The media types of documents: one as XML, one as JSON, one or more as an envelope a line."""


async def read_body(request: Request, limits: Limits) -> bytes:
    """The body, decompressed."""
    body = await request.body()
    match request.headers.get("content-encoding", "identity").lower():
        case "identity":
            return body
        case "gzip":
            return _unpacked(body, limits.max_body)
        case other:
            raise Refused(415, f"the encoding {other!r} is not known: gzip, or none")


def _unpacked(body: bytes, most: int) -> bytes:
    unpacking = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacking.decompress(body, most + 1)
    except zlib.error as error:
        raise Refused(400, f"the body is no gzip: {error}") from error
    if len(unpacked) > most:
        raise Refused(413, f"the body has more than {most:,} bytes when it is unpacked")
    if not unpacking.eof or unpacking.unused_data:
        raise Refused(400, "the body is no single and whole gzip")
    return unpacked


def envelopes_of(
    request: Request, body: bytes, stream: str, id: str | None, time: float | str | None
) -> tuple[list[Envelope], list[DocumentError]]:
    """The documents of a body, and what cannot be read of it."""
    limits: Limits = request.app.state.service.limits
    kind, _, _ = request.headers.get("content-type", "").partition(";")
    match kind.strip().lower():
        case "application/xml" | "text/xml":
            document: Envelope = {"stream": stream, "xml": body, "id": id, "timestamp": time}
        case "application/json":
            document = {"stream": stream, "json": body, "id": id, "timestamp": time}
        case "application/x-ndjson" if id is None and time is None:
            return _lines(body, stream, limits.max_document)
        case "application/x-ndjson":
            raise Refused(400, "a line has its id and its timestamp in itself")
        case _:
            raise Refused(415, f"the content type is {kind!r}; expected one of {', '.join(KINDS)}")
    if len(body) > limits.max_document:
        raise Refused(413, f"a document has at most {limits.max_document:,} bytes")
    return [document], []


def _lines(body: bytes, stream: str, most: int) -> tuple[list[Envelope], list[DocumentError]]:
    problems: list[DocumentError] = []

    def make(value: object, id: str) -> Envelope:
        if not isinstance(value, dict):
            raise ValueError("expected a JSON object")
        value.setdefault("stream", stream)
        value.setdefault("id", None)
        return value

    lines: Iterator[tuple[Envelope, Place]] = lines_of(
        io.BytesIO(body), "body", problems.append, most, Place(), make
    )
    return [envelope for envelope, _ in lines], problems


def time_of(text: str | None) -> float | str | None:
    """A time of a query string: seconds, or text that says it."""
    try:
        seconds = float(text or "")
    except ValueError:
        return text
    return seconds if isfinite(seconds) else text
