"""Texts of event queries, compiled one after the other as an engine would."""

from __future__ import annotations

from typing import NamedTuple

from xscl import Engine, Subscription
from xscl.errors import QueryError
from xscl.event_queries.compile import CompiledEvents
from xscl.language.syntax import Query

__all__ = ["Compiled", "compiled", "errors_of"]


class Compiled(NamedTuple):
    """A query; None where it is none of events."""

    query: Query
    events: CompiledEvents | None


def compiled(text: str) -> tuple[list[Compiled], list[QueryError]]:
    """The good queries of a text, and the errors of the others."""
    with Engine() as engine:
        good, errors = engine.load_good(text)
        return [_compiled(one) for one in good], errors


def _compiled(one: Subscription) -> Compiled:
    events = one.dissection.compiled
    return Compiled(one.query, events if isinstance(events, CompiledEvents) else None)


def errors_of(text: str) -> list[str]:
    """The problems of a text's queries, without their places."""
    return [error.problem for error in compiled(text)[1]]
