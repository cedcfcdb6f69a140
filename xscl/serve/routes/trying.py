"""Queries before they are subscribed: their errors, what becomes of them, what they would find."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from xscl.engine.held import Envelopes
from xscl.serve.explained import FORMS, Form, explained
from xscl.serve.problems import Problem, Refused, problem_of
from xscl.serve.service import TheService
from xscl.serve.side_by_side import SideBySide
from xscl.serve.trying.checks import check
from xscl.serve.trying.dry_run import Tried, dry_run
from xscl.stream_names import is_internal

__all__ = ["router"]

router = APIRouter(tags=["queries"])

_EXAMPLES = Path(__file__).parents[1] / "examples.toml"


class TriedText(BaseModel):
    """Queries that are tried."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(
        max_length=200_000, description="The text of one or more queries, as in a query file."
    )
    params: dict[str, JsonValue] = Field(
        default={}, description="The values of parameters, of all queries that have them."
    )


class ExplainedText(TriedText):
    """Queries that are explained."""

    format: Form = Field(default="json", description="The form of the explanation.")


class GoodQuery(BaseModel):
    """A query without errors."""

    name: str
    streams: list[str] = Field(description="The streams that it reads.")
    publishes: str | None = Field(
        default=None, description="The stream that it publishes its results to."
    )
    parameters: list[str] = Field(description="What it needs values for.")


class Checks(BaseModel):
    """The queries of a text, and its errors in their order."""

    queries: list[GoodQuery]
    errors: list[Problem]


class Example(BaseModel):
    """A query to start with."""

    title: str
    about: str
    text: str


class DryRun(BaseModel):
    """What a text finds among the documents that are retained."""

    matches: list[dict[str, Any]]
    shown: list[SideBySide] = Field(description="The first matches with their documents.")
    documents: int = Field(
        description="The documents that were looked at, of the newest of the streams that it reads."
    )
    retained: int = Field(description="How many documents of these streams are retained.")
    first: float | None = Field(
        description="The time of the first document that was looked at, in seconds since 1970."
    )
    last: float | None = Field(description="The time of the last one.")
    whole: bool = Field(
        description="Whether these are all that are retained, and all their matches."
    )
    ended: str | None = Field(description="Why it ended before; null where it did not.")
    problems: list[str] = Field(description="What went wrong with single matches or queries.")


@router.post("/check", response_model_exclude_none=True)
async def post_check(tried: TriedText) -> Checks:
    """Checks a text as one types it: nothing is subscribed."""

    def checked() -> Checks:
        found = check(tried.text, tried.params)
        queries = [
            GoodQuery(
                name=one.query.name,
                streams=list(dict.fromkeys(s for s in one.streams if not is_internal(s))),
                publishes=one.feeds,
                parameters=found.parameters.get(one.query.name, []),
            )
            for one in found.queries
        ]
        return Checks(queries=queries, errors=list(map(problem_of, found.errors)))

    return await run_in_threadpool(checked)


@router.post("/dry-run", response_model=DryRun)
async def post_dry_run(service: TheService, tried: TriedText) -> Response:
    """The matches of a text among the newest documents that are retained of its streams, in a
    process of its own: nothing is subscribed, published or kept."""

    def run() -> Tried:
        def retained(streams: Collection[str]) -> Envelopes:
            return service.engine.engine.held(stream=streams)

        return dry_run(service.trials, tried.text, tried.params, retained)

    found = await run_in_threadpool(run)
    if found.errors:
        raise Refused(400, *map(Problem.model_validate, found.errors))
    said = {
        "documents": found.documents,
        "retained": found.retained,
        "first": found.times and found.times[0],
        "last": found.times and found.times[1],
        "whole": found.whole,
        "ended": found.ended,
        "problems": found.problems,
    }
    # Matches are as they were written: they may hold what only JSON can say.
    body = b'{"matches": [%b], "shown": [%b], %b\n' % (
        b",\n".join(line[:-1].encode() for line in found.lines),
        b",\n".join(one.encode() for one in found.shown),
        json.dumps(said)[1:].encode(),
    )
    return Response(body, media_type="application/json")


@router.post("/explain", responses=FORMS)
async def post_explain(tried: ExplainedText) -> Response:
    """What becomes of the queries of a text."""
    return await _explain(tried.text, tried.params, tried.format)


@router.get("/explain", responses=FORMS)
async def get_explain(
    text: Annotated[str, Query(max_length=20_000, description="The text of some queries.")],
    format: Annotated[Form, Query(description="The form of the explanation.")] = "svg",
) -> Response:
    """As `POST /explain`, for a picture in a page."""
    return await _explain(text, {}, format)


@router.get("/examples")
async def get_examples() -> list[Example]:
    """Queries to start with, for people who follow feeds."""
    return _examples()


async def _explain(text: str, params: dict[str, JsonValue], form: Form) -> Response:
    found = await run_in_threadpool(check, text, params)
    if found.errors:
        raise Refused(400, *map(problem_of, found.errors))
    return await run_in_threadpool(explained, found.queries, form)


@cache
def _examples() -> list[Example]:
    with _EXAMPLES.open("rb") as file:
        return [Example.model_validate(one) for one in tomllib.load(file)["example"]]
