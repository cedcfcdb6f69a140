"""Looking closer: what became of a query, why documents match or do not, and a match with its
documents side by side."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from xscl.dissection.parts import Dissection
from xscl.documents.document import Document, document_of
from xscl.engine.held import funnel_of
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.serve.explained import FORMS, Form, explained
from xscl.serve.openapi import statuses
from xscl.serve.problems import Refused
from xscl.serve.service import Service, TheService
from xscl.serve.side_by_side import DocumentInfo, Gone, SideBySide, as_held, info_of
from xscl.stream_names import public_name
from xscl.why import AutomatonFunnel, AutomatonWhy, Funnel, Why, funnel

__all__ = ["router"]

router = APIRouter(tags=["looking closer"])

_LOOKED_AT = 1_000
_FEWEST = 16
_SECONDS = 1.5
"""The bounds of a funnel: documents, those to begin with, and seconds, about."""

Name = Annotated[str, Path(description="The name of a query.")]


class Held(BaseModel):
    """Documents that are retained, the latest first."""

    documents: list[DocumentInfo]


class Shown(SideBySide):
    """A match, as events have it, with its documents."""

    match: dict[str, Any]


@router.get("/queries/{name:name}/explain", responses={**FORMS, **statuses(404)})
async def get_query_explain(
    service: TheService,
    name: Name,
    format: Annotated[Form, Query(description="The form of the explanation.")] = "json",
) -> Response:
    """What became of a query: its tree patterns, joins, minor and template."""

    def dissections() -> tuple[Dissection, list[Dissection]]:
        some = {one.name: one for one in service.engine.engine.subscriptions}
        if name not in some:
            raise Refused(404, f"no query is named {name!r}")
        others = [one.outline for one in some.values()] if format == "text" else []
        return some[name].dissection, others

    one, others = await service.engine.do(dissections)
    return await run_in_threadpool(explained, [one], format, others)


@router.get("/queries/{name:name}/why", responses=statuses(404))
async def get_query_why(
    service: TheService,
    name: Name,
    document: Annotated[
        list[str] | None,
        Query(description="The ids of documents that are retained, one for each block, in order."),
    ] = None,
) -> Response:
    """Why documents match a query or do not; without documents, how many of the newest that it
    reads came through each condition, of as many as can be looked at in a moment."""
    engine = service.engine.engine

    def asked() -> Why | Funnel | AutomatonWhy | AutomatonFunnel:
        dissection = _dissection(service, name)
        if dissection is None:
            raise Refused(404, f"no query is named {name!r}")
        if not document and dissection.query.language.schemas:
            command = "`xscl why` judges those of a match that it is given"
            raise Refused(400, f"an event query keeps no documents to look at; {command}")
        if not document:
            return _funnel(service, dissection)
        for id in document:
            if not engine.holds(id):
                raise Refused(404, f"no document {id!r} is retained")
        return engine.why(name, *document)

    answer = await run_in_threadpool(asked)
    of_runs = isinstance(answer, AutomatonWhy | AutomatonFunnel)
    # The page shows the text of what has no conditions in a row.
    return JSONResponse({**answer.to_dict(), **({"text": str(answer)} if of_runs else {})})


@router.get("/documents", response_model_exclude_none=True)
async def get_documents(
    service: TheService,
    stream: Annotated[str | None, Query(description="Only those of this stream.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="How many at most.")] = 100,
) -> Held:
    """The documents that are retained, the latest first."""

    def listed() -> Held:
        some = islice(service.engine.engine.held(stream=stream), limit)
        return Held(documents=list(map(info_of, some)))

    return await run_in_threadpool(listed)


@router.get("/matches/{id:name}", response_model=Shown, responses=statuses(404, 410))
async def get_match(
    service: TheService, id: Annotated[str, Path(description="The id of a match.")]
) -> Response:
    """A match with its documents side by side, what joined them marked in both."""
    body = await run_in_threadpool(_shown, service, id)
    return Response(body, media_type="application/json")


def _shown(service: Service, id: str) -> bytes:
    entry = service.journal.find(id)
    if entry is None:
        raise Refused(404, f"no match {id!r} is kept")
    match = json.loads(entry.line)
    try:
        shown = as_held(match, service.engine.engine)
    except Gone as gone:
        raise Refused(410, str(gone)) from gone
    # The line as it is: it may hold what only JSON can say.
    rest = shown.model_dump_json(exclude_none=True).encode()
    return b'{"match": %b, %b\n' % (entry.line[:-1], rest[1:])


def _dissection(service: Service, name: str) -> Dissection | None:
    some = service.engine.engine.subscriptions
    return next((one.dissection for one in some if one.name == name), None)


def _funnel(service: Service, dissection: Dissection) -> Funnel | AutomatonFunnel:
    """The funnel of the newest documents, which keeps the engine no longer than it takes to list
    them: of a few, then of twice as many each time for as long as that takes little."""
    read = {public_name(stream) for one in dissection.everything() for stream in one.streams}
    held = service.engine.engine.held(stream=read)
    newest = [document_of(one, number, 0) for number, one in enumerate(islice(held, _LOOKED_AT))]
    if isinstance(dissection.compiled, CompiledAutomaton):
        return funnel_of(dissection, newest)
    most = _FEWEST
    while True:
        began = time.monotonic()
        found = _funnel_of(dissection, newest[:most][::-1])
        # Of twice as many documents there are four times as many pairs.
        if most >= len(newest) or 4 * (time.monotonic() - began) > _SECONDS:
            return found
        most *= 2


def _funnel_of(dissection: Dissection, some: Sequence[Document]) -> Funnel | AutomatonFunnel:
    """The funnel of documents of which the results of a sub-query are those of its public name."""
    if dissection.query.language.timed:
        return funnel_of(dissection, some)
    results = [
        [one for one in some if one.stream == public_name(stream)]
        for stream, _ in dissection.subqueries
    ]
    return funnel(dissection.query, some, results)
