"""Queries that come and go while documents do: what is done in the engine's thread for a request.

A text is subscribed whole or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xscl.engine import Engine
from xscl.errors import QueryError, XSCLError
from xscl.language.read import parse
from xscl.language.same_query import normal_form
from xscl.language.scan import scan
from xscl.matches.match import Match
from xscl.queries.registration import Request
from xscl.queries.subscription import Subscription

__all__ = ["Subscribed", "is_same", "statement_of", "subscribe"]

_LOOKED_AT = (2_000, 20_000, 200_000)
"""Characters of a text in which the end of a query is looked for."""


class Subscribed(NamedTuple):
    """The queries of a text, of which some are `new`, or errors; and the matches that the new ones
    found in the documents retained."""

    queries: Sequence[Subscription] = ()
    new: Sequence[Subscription] = ()
    errors: Sequence[QueryError] = ()
    matches: Sequence[Match] = ()


def subscribe(
    engine: Engine,
    text: str,
    name: str | None,
    params: Mapping[str, object],
    *,
    history: bool,
    most: int,
) -> Subscribed:
    """Subscribes all queries of a text, so that there are `most` at most, or none.

    Of a text of one query, `name` may be its name, and `params` are the values of its parameters.
    """
    before = {one.name for one in engine.subscriptions}
    added, errors = _subscribe(engine, text, name, params)
    new = [one for one in added if one.name not in before]
    if errors or len(before) + len(new) > most:
        for one in new:
            one.cancel()
        return Subscribed(errors=errors)
    if history and new:
        # What a query finds in documents retained is published, so first all had to be good.
        for one in new:
            one.cancel()
        named = new[0].name if len(added) == 1 else name
        there = [one for one in added if one.name in before]
        new, errors = _subscribe(engine, text, named, params, history=True)
        if any(one.query not in before for one in errors):
            for one in new:
                one.cancel()
            return Subscribed(errors=errors)
        added = [*there, *new]
    return Subscribed(added, new, matches=[match for one in new for match in one.found])


def _subscribe(
    engine: Engine,
    text: str,
    name: str | None,
    params: Mapping[str, object],
    *,
    history: bool = False,
) -> tuple[list[Subscription], list[QueryError]]:
    of_one = name is not None or bool(params)
    if problem := _not_that_many(text, of_one=of_one):
        return [], [QueryError(problem, query=name or "", text=text, at=0)]
    if not of_one:
        return engine.load_good(text, history=history)
    try:
        return [engine.subscribe(text, name, params=params, history=history)], []
    except QueryError as error:
        return [], [error]
    except ExceptionGroup as errors:
        return [], [error for error in errors.exceptions if isinstance(error, QueryError)]
    except XSCLError as error:
        # It must not break off the transaction, and with that the engine.
        return [], [QueryError(str(error), query=name or "", text=text, at=0)]


def _not_that_many(text: str, *, of_one: bool) -> str:
    """What is wrong with the number of queries in a text; empty if nothing is, or all else."""
    queries, errors = parse(text)
    if errors or len(queries) == 1 or (queries and not of_one):
        return ""
    if not queries:
        return "found no query in the text, expected one or more"
    return f"found {len(queries)} queries; a name and params are for a text of one"


def is_same(subscription: Subscription, text: str, params: Mapping[str, object]) -> bool:
    """Whether a text is that of one query which says what a subscription does."""
    queries, errors = parse(text)
    if errors or len(queries) != 1:
        return False
    query, problems = Request(queries[0], subscription.name, params).query
    return not problems and normal_form(query) == normal_form(subscription.query)


def statement_of(subscription: Subscription) -> str:
    """The text of a subscription's query, of that of a file which may have any number of others."""
    query = subscription.query
    for size in _LOOKED_AT:
        text = query.text[query.at : query.at + size]
        statements = scan(text).statements
        if len(statements) > 1 or len(text) < size:
            break
    return text[statements[0].start : statements[0].end].strip()
