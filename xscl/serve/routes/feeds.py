"""The feeds that are polled: how they are, one more, one that is asked now."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from xscl.serve import feeds
from xscl.serve.openapi import statuses
from xscl.serve.problems import Refused
from xscl.serve.service import Service, TheService
from xscl.times import rfc3339

__all__ = ["router"]

router = APIRouter(tags=["numbers"])


class Feed(BaseModel):
    """A feed that is polled; times as in RFC 3339."""

    address: str
    url: str = Field(description="Where it is fetched from now.")
    title: str
    streams: list[str] = Field(description="The streams that get its items.")
    items: int = Field(description="The items that it has shown, as far as they are remembered.")
    last_fetch: str | None
    last_success: str | None
    next_fetch: str | None = Field(description="When it is due; null for never again.")
    failures: int = Field(description="Those since the last success.")
    error: str | None = Field(description="Why it could not be read the last time.")
    gone: bool = Field(description="Whether its server said that it is gone for good.")


class NewFeed(BaseModel):
    """A feed that is to be polled."""

    model_config = ConfigDict(extra="forbid")

    stream: str = Field(max_length=1_000, description="The stream that gets its items.")
    address: str = Field(max_length=10_000, description="Its address, http or https.")


class AskedFeed(BaseModel):
    """A feed that is to be fetched now."""

    model_config = ConfigDict(extra="forbid")

    address: str = Field(max_length=10_000, description="Its address, as the list has it.")


class Feeds(BaseModel):
    """The feeds that are polled."""

    feeds: list[Feed]


@router.get("/feeds")
def get_feeds(service: TheService) -> Feeds:
    """The feeds that are polled, and how they are."""
    polled = service.feeds
    return Feeds(feeds=[] if polled is None else [_feed(one) for one in polled.health()])


_KNOWN: dict[int | str, dict[str, Any]] = {
    200: {"model": Feed, "description": "It was polled for that stream already."}
}


@router.post("/feeds", status_code=201, responses={**_KNOWN, **statuses(409, 429)})
def post_feed(service: TheService, wanted: NewFeed, response: Response) -> Feed:
    """Polls one more feed, until the server ends; the same once more changes nothing."""
    try:
        health, new = _polled(service).add(wanted.stream, wanted.address)
    except feeds.Full as full:
        raise Refused(429, str(full)) from full
    response.status_code = 201 if new else 200
    return _feed(health)


@router.post("/feeds/ask", status_code=202, responses=statuses(404, 409))
def ask_feed(service: TheService, asked: AskedFeed) -> Feed:
    """Fetches a feed as soon as its host may be asked, whatever it was to wait for."""
    health = _polled(service).ask(asked.address)
    if health is None:
        raise Refused(404, f"no feed {asked.address!r} is polled")
    return _feed(health)


def _polled(service: Service) -> feeds.Feeds:
    if service.feeds is None:
        raise Refused(409, "this server polls no feeds")
    return service.feeds


def _feed(health: feeds.Health) -> Feed:
    state = health.state
    return Feed(
        address=state.address,
        url=state.url,
        title=state.title,
        streams=list(health.streams),
        items=health.items,
        last_fetch=_time(state.last_fetch),
        last_success=_time(state.last_success),
        next_fetch=None if state.gone else _time(state.next_fetch),
        failures=state.failures,
        error=state.error,
        gone=state.gone,
    )


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else rfc3339(seconds)
