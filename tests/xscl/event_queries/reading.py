"""Texts of event queries, compiled one after the other as an engine would."""

from __future__ import annotations

from typing import NamedTuple

from xscl.errors import QueryError
from xscl.event_queries.compile import CompiledEvents, compile_events
from xscl.event_queries.published import Published
from xscl.language import parse
from xscl.language.syntax import Events, Query

__all__ = ["Compiled", "compiled", "errors_of"]


class Compiled(NamedTuple):
    """A query; None where it is none of events."""

    query: Query
    events: CompiledEvents | None


def compiled(text: str) -> tuple[list[Compiled], list[QueryError]]:
    """The good queries of a text, and the errors of the others."""
    queries, errors = parse(text)
    published = Published()
    good = []
    for query in queries:
        events = None
        try:
            if isinstance(query.source, Events):
                events = compile_events(query, published)
        except QueryError as error:
            errors.append(error)
            continue
        except ExceptionGroup as group:
            errors += [one for one in group.exceptions if isinstance(one, QueryError)]
            continue
        published.add(query, None if events is None else events.step)
        good.append(Compiled(query, events))
    return good, errors


def errors_of(text: str) -> list[str]:
    """The problems of a text's queries, without their places."""
    return [error.problem for error in compiled(text)[1]]
