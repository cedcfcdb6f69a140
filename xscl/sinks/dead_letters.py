"""Documents that could not be used, as JSON Lines: what each was, where it failed, and why; and
matches that could not be handed over.

Such a file is for mending and sending again.  What stood in a document's place comes from the
causes of its error: the parsers keep the bytes that they refused.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import TextIO

from xscl.errors import DocumentError
from xscl.sources.envelopes import LineEnvelope
from xscl.xpath_stage import MalformedDocument

__all__ = ["write_dead_letter", "write_undelivered"]

_LONGEST = 64 * 1024


def write_dead_letter(error: DocumentError, to: TextIO) -> None:
    """Writes a line for a document that could not be used, and flushes.

    The members are `stream`, `document`, `reason` and, as far as they are known, `line` and
    `column` (from 1) or `offset` (bytes, from 0), and what stood there: `raw` as text or, where
    the bytes are no UTF-8, `base64`; of at most 64 KiB, with the whole length as `bytes` where
    that is more.  Of a document that had an envelope, these are its `timestamp` as it was given,
    and of one from a line of a file that `source`.
    """
    letter: dict[str, object] = {
        "stream": error.stream,
        "document": error.document,
        "reason": error.problem,
    }
    for cause in _causes(error):
        if isinstance(cause, MalformedDocument):
            letter |= cause.position
            if cause.raw is not None:
                letter |= _raw(cause.raw)
            break
    letter |= _of_envelope(error.envelope, whole=not {"raw", "base64"} & letter.keys())
    # A name from a document may hold half a surrogate pair, which only an escape can write.
    to.write(json.dumps(letter, default=str) + "\n")
    to.flush()


def write_undelivered(sink: str, match: str, reason: str, to: TextIO) -> None:
    """Writes a line for a match, in its JSON form, that a sink has not taken, and flushes; the
    members are `sink`, `reason` and `match`."""
    to.write(json.dumps({"sink": sink, "reason": reason, "match": json.loads(match)}) + "\n")
    to.flush()


def _of_envelope(envelope: Mapping[str, object] | None, *, whole: bool) -> dict[str, object]:
    """What an envelope adds: what the document needs to be sent again; `whole`, its text."""
    if envelope is None:
        return {}
    added: dict[str, object] = {}
    if envelope.get("timestamp") is not None:
        added["timestamp"] = envelope["timestamp"]
    if isinstance(envelope, LineEnvelope):
        name, line = envelope.source
        added["source"] = f"{name}, line {line}"
    if whole:
        added |= _raw(json.dumps(dict(envelope), default=str))
    return added


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _raw(raw: str | bytes) -> dict[str, object]:
    """The beginning of what was read."""
    body = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    start = body[:_LONGEST]
    shown: dict[str, object] = {}
    try:
        shown["raw"] = start.decode()
    except UnicodeDecodeError as error:
        cut = len(body) > _LONGEST and error.reason == "unexpected end of data"
        if cut:
            shown["raw"] = start[: error.start].decode()
        else:
            shown["base64"] = b64encode(start).decode()
    if len(body) > _LONGEST:
        shown["bytes"] = len(body)
    return shown
