"""The newest matches that queries have published to a stream -> a feed that any reader reads."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable

from xscl.matches.match import Match, ReportedMatch
from xscl.serve.found.journal import Entry
from xscl.sinks.feed_file import NEWEST
from xscl.sinks.registry import FEED_FORMS
from xscl.xpath_stage import MalformedDocument, parse

__all__ = ["NEWEST", "feed_of"]


def feed_of(entries: Iterable[Entry], stream: str, form: str) -> str:
    """The feed of some matches, in one of the `FEED_FORMS`."""
    write, _ = FEED_FORMS[form]
    text = io.StringIO()
    write(map(_match, entries), text, title=stream)
    return text.getvalue()


def _match(entry: Entry) -> Match:
    """A match that was found before, of its line."""
    read = json.loads(entry.line)
    result = read["result"]
    told = ReportedMatch(
        id=read["id"],
        stream=read["stream"],
        time=read["time"],
        documents=tuple(read["documents"]),
        streams=tuple(read["streams"]),
        nodes=tuple(read["nodes"]),
        bindings=read["bindings"],
        result=result,
        json=not _is_xml(result),
        markup=result if isinstance(result, str) else None,
        values=read["values"],
    )
    return Match(entry.query, told)


def _is_xml(result: object) -> bool:
    try:
        return isinstance(result, str) and parse(result) is not None
    except MalformedDocument:
        return False
