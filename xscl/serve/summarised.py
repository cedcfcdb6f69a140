"""Lines of matches, each with what people call it as one more member, `summary`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from xscl.engine import Engine
from xscl.serve.found.journal import Entry
from xscl.sinks.summaries import Summary, summary

__all__ = ["Lines", "summarised", "summary_of"]

Lines = Callable[[Sequence[Entry]], list[bytes]]
"""The lines of some entries."""


def summary_of(match: Mapping[str, Any], engine: Engine) -> Summary:
    """What a match of an engine is called; where its query was cancelled, by its result."""
    return summary(match, selects=_selecting(engine, {match["query"]}).get(match["query"], True))


def summarised(engine: Engine) -> Lines:
    """The lines of matches of an engine, with their summaries."""

    def lines(entries: Sequence[Entry]) -> list[bytes]:
        selecting = _selecting(engine, {one.query for one in entries})
        made = []
        for one in entries:
            if one.retracts:
                made.append(one.line)
                continue
            called = summary(json.loads(one.line), selects=selecting.get(one.query, True))
            # The line as it is: it may hold what only JSON can say.
            made.append(b'%b, "summary": %b}\n' % (one.line[:-2], msgspec.json.encode(called)))
        return made

    return lines


def _selecting(engine: Engine, names: set[str]) -> dict[str, bool]:
    """Whether queries of some names have a SELECT."""
    return {
        one.name: one.dissection.query.select is not None
        for one in engine.subscriptions
        if one.name in names
    }
