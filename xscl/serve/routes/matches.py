"""Matches over HTTP: a page of them, or all as they come as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from xscl.serve.event_stream import EventStream
from xscl.serve.found.journal import Entry, Page, Place
from xscl.serve.problems import Refused
from xscl.serve.service import TheService

__all__ = ["router"]

router = APIRouter(tags=["matches"])

_DAY = 86_400


class FoundMatch(BaseModel):
    """A match: documents that together satisfy a query."""

    id: str = Field(description="Its id, the same whenever it is found.")
    query: str
    stream: str | None = Field(description="The stream that it is published to.")
    time: float = Field(description="The time of its latest document, in seconds since 1970.")
    documents: list[str] = Field(description="The ids of its documents, one for each block.")
    streams: list[str] = Field(description="Their streams.")
    nodes: list[int] = Field(description="The numbers of their output nodes.")
    variables: list[str] = Field(
        default=[], description="Of a pattern: the variable that each document is bound to."
    )
    start: float | None = Field(
        default=None, description="Of a pattern: the time of its first event."
    )
    bindings: dict[str, int] = Field(description="The numbers of the variables' nodes.")
    values: dict[str, str] = Field(description="The variables' string values.")
    result: Any = Field(description="The result: XML as text, or a JSON value.")
    summary: Any = Field(
        default=None,
        description="With `summary`: what people call it, in `parts`: its result where the query "
        "has a SELECT (`selects`), else each of its items, without `more` that are left out. A "
        "part has a `title`, a `link`, `values` (pairs of a name and a text), a `variable`.",
    )


class TakenBack(BaseModel):
    """That a match of before `after` no longer holds."""

    retract: str = Field(description="The id of the match.")
    query: str
    stream: str | None


class Matches(BaseModel):
    """Some matches, in the order in which they were found; with `after` also which of those before
    are taken back."""

    matches: list[FoundMatch | TakenBack]
    next: str = Field(description="What `after` is to be for those after these.")
    lost: int | None = Field(
        description="Matches after `after` that are kept no more; null where that is unknown."
    )


_FOUND: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Matches,
        "description": "The matches, or with `live` events: the data of each is a match.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get("/matches", responses=_FOUND)
async def get_matches(
    service: TheService,
    query: Annotated[list[str] | None, Query(description="Only those of these queries.")] = None,
    after: Annotated[str | None, Query(description="The id of an event: those after it.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="How many at most.")] = 100,
    newest: Annotated[
        int | None,
        Query(ge=0, le=100_000, description="Begins with the newest so many of these queries."),
    ] = None,
    search: Annotated[
        str,
        Query(
            max_length=1_000,
            description="Only those with all of these words in query, documents, values or "
            "result, in any case: the newest.",
        ),
    ] = "",
    day: Annotated[
        date | None, Query(description="Only those of this day, in UTC: the newest.")
    ] = None,
    live: Annotated[bool, Query(description="As server-sent events, as they come.")] = False,
    summary: Annotated[bool, Query(description="Each with what people call it.")] = False,
    accept: Annotated[str, Header(description="`text/event-stream` is as `live`.")] = "",
    last_event_id: Annotated[str | None, Header(description="As `after`.")] = None,
) -> Response:
    """The matches that are kept, in the order in which they were found; or all as they come."""
    journal, news = service.journal, service.news
    sought = search.split() or day is not None
    live = live or "text/event-stream" in accept
    text = last_event_id or after
    try:
        place = None if text is None else Place.of(text)
    except ValueError as error:
        raise Refused(400, str(error)) from error
    queries = frozenset(query or ())
    restarted = place is not None and not journal.knows(place)
    if place is not None and not restarted:
        number = place.number
    elif newest is not None and not (restarted or sought):
        number = await run_in_threadpool(journal.before, queries, newest)
    else:
        # Without a place events begin now, and a list begins with the oldest.
        number = journal.newest if live and place is None else journal.oldest - 1
    if live and sought:
        raise Refused(400, "`search` and `day` are for lists: pick among events as they come")
    if live:
        if news.readers >= service.limits.max_readers:
            most = f"{service.limits.max_readers:,} read events already; --max-readers allows more"
            raise Refused(503, most, headers={"Retry-After": "10"})
        return EventStream(news, number, queries, summary=summary, restarted=restarted)
    if sought:
        last, at_most = journal.newest, limit if newest is None else min(limit, newest)
        suits = _suits(search, day, number)
        some = await run_in_threadpool(journal.search, queries, suits, at_most)
        page = Page(some, last, 0)
    else:
        goes_on = text is not None
        page = await run_in_threadpool(journal.listed, number, queries, limit, goes_on=goes_on)
    entries = page.entries
    made = [one.line for one in entries]
    if summary:
        made = await run_in_threadpool(service.summarised, entries)
    lines = b",\n".join([line[:-1] for line in made])
    body = b'{"matches": [%b], "next": "%b", "lost": %b}\n' % (
        lines,
        str(Place(journal.life, page.after)).encode(),
        b"null" if restarted else b"%d" % page.lost,
    )
    return Response(body, media_type="application/json")


def _suits(search: str, day: date | None, after: int) -> Callable[[Entry], bool]:
    """Whether a match after a number has all of some words, and is of a day."""
    words = search.casefold().split()
    in_json = [json.dumps(word, ensure_ascii=False)[1:-1] for word in words]
    start = 0.0 if day is None else datetime.combine(day, time(), UTC).timestamp()

    def suits(entry: Entry) -> bool:
        # Most are passed over unread.
        text = entry.line.decode().casefold()
        if entry.number <= after or not all(escaped in text for escaped in in_json):
            return False
        match = json.loads(entry.line)
        if day is not None and not start <= match["time"] < start + _DAY:
            return False
        texts = [match["query"], *match["documents"], *match["values"].values()]
        result = match["result"]
        texts.append(result if isinstance(result, str) else json.dumps(result, ensure_ascii=False))
        said = "\n".join(texts).casefold()
        return all(word in said for word in words)

    return suits
