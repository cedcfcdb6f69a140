"""The health of the feeds that are polled."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from xscl.serve import feeds
from xscl.serve.service import House
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


class Feeds(BaseModel):
    """The feeds that are polled."""

    feeds: list[Feed]


@router.get("/feeds")
def get_feeds(service: House) -> Feeds:
    """The feeds that are polled, and how they are."""
    polled = service.feeds
    return Feeds(feeds=[] if polled is None else [_feed(one) for one in polled.health()])


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
