"""Matches that wait for a callback, as they are kept, and as they are when they are told again."""

from __future__ import annotations

import json
from contextlib import suppress

from xscl.durable.changes import Undelivered
from xscl.matches.match import Match, Told

__all__ = ["CALLBACK", "kept_match", "remembered"]

CALLBACK = "callback"
"""The sink of what waits for a subscription's `on_match`."""


def kept_match(number: int, match: Match) -> Undelivered:
    """A match that waits for its query's callback."""
    body = {**match.to_dict(), "json": match.json}
    markup = None
    if match.json:
        # A JSON constructor has no other form; of other results `Match.xml` is one.
        with suppress(TypeError, ValueError):
            markup = match.markup
    text = json.dumps(body, ensure_ascii=True)
    return Undelivered(number, CALLBACK, match.query, match.id, text, markup)


def remembered(kept: Undelivered) -> Match:
    """The match that was kept: equal to it, with the same result."""
    told = json.loads(kept.body)
    result, as_json = told["result"], told["json"]
    markup = kept.markup if as_json else result
    return Match(
        id=kept.match,
        query=kept.query,
        stream=told["stream"],
        time=told["time"],
        documents=tuple(told["documents"]),
        streams=tuple(told["streams"]),
        nodes=tuple(told["nodes"]),
        bindings=told["bindings"],
        _made_of=Told(result, as_json, markup),
    )
