"""Documents over HTTP: published one by one, or by the thousand."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from xscl.counts import counted
from xscl.errors import XSCLError
from xscl.serve.bodies import KINDS, envelopes_of, read_body, time_of
from xscl.serve.engine_thread import Busy, Taken
from xscl.serve.found.journal import Entry
from xscl.serve.openapi import statuses
from xscl.serve.problems import Problem, Refused, problem_of, refusing
from xscl.serve.published import NEWEST, feed_of
from xscl.serve.service import Service, TheService
from xscl.times import rfc3339, span

__all__ = ["router"]

router = APIRouter(tags=["documents"])

_PORTION = 500
"""Documents that are published at a time, so that nobody waits for all of a large body."""

_LARGE = 100_000
"""Bytes of a body that is read aside, as it takes longer than others should wait."""

_ATOM, _JSON_FEED = "application/atom+xml", "application/feed+json"

Stream = Annotated[str, Path(description="The name of a stream.")]
Timestamp = Annotated[
    str | None,
    Query(description="Its time: seconds since 1970, or as in RFC 3339; else that of its arrival."),
]
Known = Annotated[
    str, Header(description="The `ETag` of an earlier answer: 304 if it still holds.")
]


class Outcome(BaseModel):
    """The results of the documents of a request."""

    taken: int = Field(description="Documents that were ingested.")
    matches: int = Field(description="Matches that they completed.")
    retracted: int = Field(description="Matches that they took back.")
    duplicates: int = Field(description="Documents that are retained already, by stream and id.")
    late: int = Field(description="Documents that came too late.")
    problems: list[Problem] = Field(
        description="Documents that cannot be read, matches that cannot be written, and why "
        "documents came too late."
    )


def _body(*kinds: str) -> dict[str, object]:
    text = {"schema": {"type": "string"}}
    content: dict[str, object] = {
        kind: {"schema": {}} if kind == "application/json" else text for kind in kinds
    }
    return {"requestBody": {"required": True, "content": content}}


def _feeds(kind: str) -> dict[int | str, dict[str, Any]]:
    content = {kind: {"schema": {"type": "string"}}}
    feed = {"description": "The feed.", "content": content}
    return {200: feed, 304: {"description": "It is as before."}, **statuses(404)}


@router.post(
    "/streams/{name:name}",
    openapi_extra=_body(*KINDS),
    responses=statuses(415),
    response_model_exclude_none=True,
)
async def post_documents(
    request: Request,
    service: TheService,
    name: Stream,
    id: Annotated[str | None, Query(description="The id of the document.")] = None,
    timestamp: Timestamp = None,
) -> Outcome:
    """Publishes a document, or with `application/x-ndjson` an envelope a line."""
    return await _publish(request, service, name, id, timestamp)


@router.put(
    "/streams/{name:name}/documents/{id:name}",
    openapi_extra=_body(*KINDS[:2]),
    responses=statuses(415),
    response_model_exclude_none=True,
)
async def put_document(
    request: Request,
    service: TheService,
    name: Stream,
    id: Annotated[str, Path(description="The id of the document.")],
    timestamp: Timestamp = None,
) -> Outcome:
    """Publishes a document; once more while it is retained, it is a duplicate."""
    return await _publish(request, service, name, id, timestamp)


@router.get("/streams/{name:name}/feed.atom", responses=_feeds(_ATOM), response_class=Response)
async def get_atom(service: TheService, name: Stream, if_none_match: Known = "") -> Response:
    """What queries have published to a stream of late, as an Atom feed."""
    return await _feed(service, name, "atom", _ATOM, if_none_match)


@router.get("/streams/{name:name}/feed.json", responses=_feeds(_JSON_FEED), response_class=Response)
async def get_json_feed(service: TheService, name: Stream, if_none_match: Known = "") -> Response:
    """What queries have published to a stream of late, as a JSON Feed."""
    return await _feed(service, name, "jsonfeed", _JSON_FEED, if_none_match)


async def _feed(service: Service, stream: str, form: str, media_type: str, known: str) -> Response:
    def queries() -> frozenset[str]:
        some = service.engine.engine.subscriptions
        return frozenset(one.name for one in some if one.wiring.stream == stream)

    publishing = await service.engine.do(queries)
    if not publishing:
        raise Refused(404, f"no query publishes to {stream!r}")

    def is_published(entry: Entry) -> bool:
        # One of such a name may have published elsewhere before.
        return bool(json.loads(entry.line)["stream"] == stream)

    search = service.journal.search
    latest = (await run_in_threadpool(search, publishing, is_published, NEWEST))[::-1]
    numbers = json.dumps([one.number for one in latest]).encode()
    headers = {
        "ETag": f'"{service.journal.life}-{blake2b(numbers, digest_size=8).hexdigest()}"',
        "Cache-Control": "no-cache",
    }
    if headers["ETag"] in known:
        return Response(None, 304, headers)
    text = await run_in_threadpool(feed_of, latest, stream, form)
    return Response(text, 200, headers, f"{media_type}; charset=utf-8")


async def _publish(
    request: Request, service: Service, stream: str, id: str | None, timestamp: str | None
) -> Outcome:
    body = await read_body(request, service.limits)
    given = request, body, stream, id, time_of(timestamp)
    if len(body) < _LARGE:
        envelopes, problems = envelopes_of(*given)
    else:
        envelopes, problems = await run_in_threadpool(envelopes_of, *given)
    lines = len(envelopes) + len(problems)
    done = Taken(problems=[*problems])
    for start in range(0, len(envelopes), _PORTION):
        some = envelopes[start : start + _PORTION]
        try:
            done.add(await service.engine.publish(some, goes_on=start > 0))
        except Busy as busy:
            if not start:
                raise
            left_out = f"{busy}: what follows the first {start:,} documents is left out"
            done.problems.append(XSCLError(left_out))
            break
    if lines == 1 == len(done.problems) and not done.taken and refusing(done.problems):
        raise Refused(400, *map(problem_of, done.problems))
    said = list(map(problem_of, done.problems))
    if done.late:
        why = await run_in_threadpool(_why_late, service, done.late, lines)
        said.append(Problem(message=why))
    if done.unknown:
        problem = f"{counted(done.unknown, 'retraction')} of no document that is there"
        said.append(Problem(message=problem))
    return Outcome(
        taken=done.taken,
        matches=done.matches,
        retracted=done.retracted,
        duplicates=done.duplicates,
        late=done.late,
        problems=said,
    )


def _why_late(service: Service, late: int, lines: int) -> str:
    """Why documents of a request were late, and what to do."""
    engine, lateness = service.engine.engine, service.lateness
    mark = engine.watermark
    before = "the watermark" if mark is None else f"the watermark, {rfc3339(mark)}"
    said = f"{late:,} of {counted(lines, 'document')} came too late: earlier than {before}"
    if lateness is None:
        return f"{said}, which an `advance` has set: publish what is earlier before that"
    clock = " or the clock" if engine.waits else ""
    allowed = span(round(lateness * 1_000_000))
    return (
        f"{said}, which is {allowed} (--lateness) behind the latest document{clock}. To take older "
        "documents, restart with a greater --lateness; to publish an archive, with --lateness INF "
        'and at its end a line {"advance": TIME}, for which matches of patterns are pending'
    )
