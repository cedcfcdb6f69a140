"""Queries over HTTP: subscribe, list, look at one, cancel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from xscl.language.read import parse
from xscl.queries.pending import Pending
from xscl.queries.subscription import Subscription
from xscl.serve.openapi import statuses
from xscl.serve.problems import Refused, problem_of
from xscl.serve.service import Service, TheService
from xscl.serve.subscribing import is_same, statement_of, subscribe
from xscl.stream_names import is_internal
from xscl.times import rfc3339

__all__ = ["router"]

router = APIRouter(tags=["queries"])

Name = Annotated[str, Path(description="The name of a query.")]


class QueryText(BaseModel):
    """Queries that are to be subscribed."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(
        max_length=1_000_000, description="The text of one or more queries, as in a query file."
    )
    params: dict[str, JsonValue] = Field(
        default={}, description="The values of the text's parameters."
    )
    history: bool = Field(
        default=False, description="Whether documents that are retained count, too."
    )


class NewQuery(QueryText):
    """Queries that are to be subscribed; a text of one may be given a name here."""

    name: str | None = Field(default=None, description="The name of the text's only query.")


class QueryInfo(BaseModel):
    """A query that is subscribed."""

    name: str
    text: str
    streams: list[str] = Field(description="The streams that it reads.")
    publishes: str | None = Field(description="The stream that it publishes its results to.")
    matches: int = Field(description="Its matches since `since`.")
    rate: float = Field(description="Its matches in a second, lately.")
    since: str = Field(description="Since when its matches are counted.")
    pending: int = Field(
        description="Matches of a pattern or event query that come once the watermark has passed "
        "what they need."
    )
    pending_until: str | None = Field(
        description="The time that the watermark has to pass for all of them; null if none is."
    )
    watermark: str | None = Field(
        description="The time before which documents are late; null while none are."
    )


class Queries(BaseModel):
    """Queries, in the order of their subscription."""

    queries: list[QueryInfo]
    total: int = Field(description="How many queries there are, of those that are looked for.")


_NEW: dict[str, Any] = {"model": QueryInfo, "description": "It is subscribed now."}


@router.get("/queries")
async def list_queries(
    service: TheService,
    after: Annotated[int, Query(ge=0, description="How many queries to pass over.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000, description="How many to list at most.")] = 1_000,
    search: Annotated[
        str,
        Query(
            max_length=1_000,
            description="Only those whose name or text has all of these words, in any case.",
        ),
    ] = "",
) -> Queries:
    """Lists the queries, or those that are looked for."""

    def listed() -> Queries:
        some: Sequence[Subscription] = service.engine.engine.subscriptions
        if words := search.casefold().split():
            some = [one for one in some if _has(service, one, words)]
        shown = some[after : after + limit]
        return Queries(queries=_infos(service, shown), total=len(some))

    return await run_in_threadpool(listed)


@router.post("/queries", status_code=201, responses=statuses(429))
async def post_queries(service: TheService, wanted: NewQuery) -> Queries:
    """Subscribes all queries of a text, or none where one is wrong."""
    return await service.engine.do(lambda: _subscribe(service, wanted, wanted.name))


@router.get("/queries/{name:name}", responses=statuses(404))
async def get_query(service: TheService, name: Name) -> QueryInfo:
    """One query."""
    return await run_in_threadpool(lambda: _infos(service, [_named(service, name)])[0])


@router.put("/queries/{name:name}", responses={201: _NEW, **statuses(409, 429)})
async def put_query(
    service: TheService, name: Name, wanted: QueryText, response: Response
) -> QueryInfo:
    """Subscribes a query under a name; the same once more changes nothing."""

    def put() -> tuple[int, QueryInfo]:
        present = _find(service, name)
        if present is None:
            return 201, _subscribe(service, wanted, name).queries[0]
        if errors := parse(wanted.text)[1]:
            raise Refused(400, *map(problem_of, errors))
        if not is_same(present, wanted.text, wanted.params):
            raise Refused(409, f"another query is named {name!r}: cancel it first, or rename this")
        return 200, _infos(service, [present])[0]

    response.status_code, info = await service.engine.do(put)
    return info


@router.delete("/queries/{name:name}", status_code=204, responses=statuses(404))
async def delete_query(service: TheService, name: Name) -> None:
    """Cancels a query."""

    def cancel() -> None:
        query = _named(service, name)
        with service.engine.engine.transaction():
            query.cancel()
            service.follow_windows()
        service.tallies.drop(name)
        service.texts.pop(name, None)

    await service.engine.do(cancel)


def _subscribe(service: Service, wanted: QueryText, name: str | None) -> Queries:
    """Subscribes queries, in the engine's thread; what they find in documents retained is
    reported."""
    most = service.limits.max_queries
    with service.engine.finding() as report:
        found, new, errors, matches = subscribe(
            service.engine.engine,
            wanted.text,
            name,
            wanted.params,
            history=wanted.history,
            most=most,
        )
        service.follow_windows()
        for one in new:
            service.tallies.begin(one.name)
        report(matches)
    if errors:
        raise Refused(400, *map(problem_of, errors))
    if not found:
        raise Refused(429, f"there are {most:,} queries at most: cancel some, or see --max-queries")
    return Queries(queries=_infos(service, found), total=len(found))


def _find(service: Service, name: str) -> Subscription | None:
    some = service.engine.engine.subscriptions
    return next((one for one in some if one.name == name), None)


def _named(service: Service, name: str) -> Subscription:
    if (found := _find(service, name)) is None:
        raise Refused(404, f"no query is named {name!r}")
    return found


def _has(service: Service, one: Subscription, words: Sequence[str]) -> bool:
    """Whether the name or text of a query has some words."""
    name = one.name.casefold()
    missing = [word for word in words if word not in name]
    if not missing:
        return True
    text = _text_of(service, one).casefold()
    return all(word in text for word in missing)


def _text_of(service: Service, one: Subscription) -> str:
    """A query's text, which is looked for in that of its file once."""
    known, text = service.texts.get(one.name, (None, ""))
    if known is not one:
        text = statement_of(one)
        service.texts[one.name] = one, text
    return text


def _infos(service: Service, some: Sequence[Subscription]) -> list[QueryInfo]:
    pending, watermark = service.pending()
    return [_info(service, one, pending.get(one.name), watermark) for one in some]


def _info(
    service: Service, one: Subscription, pending: Pending | None, watermark: float | None
) -> QueryInfo:
    tally = service.tallies.of(one.name)
    return QueryInfo(
        name=one.name,
        text=_text_of(service, one),
        streams=sorted(stream for stream in one.streams if not is_internal(stream)),
        publishes=one.wiring.stream,
        matches=tally.matches,
        rate=round(tally.rate, 3),
        since=rfc3339(tally.since),
        pending=0 if pending is None else pending.matches,
        pending_until=None if pending is None else rfc3339(pending.until),
        watermark=None if watermark is None else rfc3339(watermark),
    )
