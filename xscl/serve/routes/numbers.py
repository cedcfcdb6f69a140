"""The numbers of the server and its engine."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from xscl.serve.service import TheService
from xscl.times import rfc3339

__all__ = ["router"]

router = APIRouter(tags=["numbers"])


class Health(BaseModel):
    """A sign of life."""

    status: str


class ServerNumbers(BaseModel):
    """The numbers of the server itself."""

    since: str = Field(description="When it was started.")
    matches: int = Field(description="Matches that were found since.")
    unwritten: int = Field(description="Those of them that could not be written.")
    kept: int = Field(description="Matches that are kept.")
    readers: int = Field(description="Those who read events.")
    waiting: int = Field(description="Requests that wait for the engine.")


@router.get("/health")
async def get_health(service: TheService) -> Health:
    """Whether the engine answers."""
    await service.engine.do(lambda: None)
    return Health(status="ok")


@router.get("/stats")
async def get_stats(service: TheService) -> dict[str, Any]:
    """The sizes of all that the engine holds, as of a moment ago, and under `server` the numbers of
    the server."""
    journal = service.journal
    numbers = ServerNumbers(
        since=rfc3339(service.started),
        matches=service.found,
        unwritten=service.engine.unwritten,
        kept=journal.newest - journal.oldest + 1,
        readers=service.news.readers,
        waiting=service.engine.waiting,
    )
    return {**await service.stats(), "server": numbers.model_dump()}


@router.get("/metrics", response_class=PlainTextResponse)
async def get_metrics(service: TheService) -> Response:
    """The numbers in the form that Prometheus reads."""
    text = await run_in_threadpool(service.metrics.text, await service.stats())
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
