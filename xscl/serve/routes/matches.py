"""Matches over HTTP: a page of them, or all as they come as server-sent events."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from xscl.serve.event_stream import EventStream
from xscl.serve.found.journal import Place
from xscl.serve.problems import Refused
from xscl.serve.service import House

__all__ = ["router"]

router = APIRouter(tags=["matches"])


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


class Matches(BaseModel):
    """Some matches, in the order in which they were found."""

    matches: list[FoundMatch]
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
    service: House,
    query: Annotated[list[str] | None, Query(description="Only those of these queries.")] = None,
    after: Annotated[str | None, Query(description="The id of an event: those after it.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="How many at most.")] = 100,
    newest: Annotated[
        int | None,
        Query(ge=0, le=100_000, description="Begins with the newest so many of these queries."),
    ] = None,
    live: Annotated[bool, Query(description="As server-sent events, as they come.")] = False,
    accept: Annotated[str, Header(description="`text/event-stream` is as `live`.")] = "",
    last_event_id: Annotated[str | None, Header(description="As `after`.")] = None,
) -> Response:
    """The matches that are kept, in the order in which they were found; or all as they come."""
    journal, news = service.journal, service.news
    live = live or "text/event-stream" in accept
    text = last_event_id or after
    try:
        place = None if text is None else Place.of(text)
    except ValueError as error:
        raise Refused(400, str(error)) from error
    queries = frozenset(query or ())
    anew = place is not None and not journal.knows(place)
    if place is not None and not anew:
        number = place.number
    elif newest is not None and not anew:
        number = journal.before(queries, newest)
    else:
        # Without a place events begin now, and a list begins with the oldest.
        number = journal.newest if live and place is None else journal.oldest - 1
    if live:
        if news.readers >= service.limits.max_readers:
            most = f"{service.limits.max_readers:,} read events already; --max-readers allows more"
            raise Refused(503, most, headers={"Retry-After": "10"})
        return EventStream(news, number, queries, begins_anew=anew)
    page = await run_in_threadpool(journal.after, number, queries, limit)
    lines = b",\n".join([one.line[:-1] for one in page.entries])
    body = b'{"matches": [%b], "next": "%b", "lost": %b}\n' % (
        lines,
        str(Place(journal.life, page.after)).encode(),
        b"null" if anew else b"%d" % page.lost,
    )
    return Response(body, media_type="application/json")
