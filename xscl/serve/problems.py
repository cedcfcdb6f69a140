"""Errors as answers: JSON of one form, whatever went wrong, and the status that goes with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from xscl.errors import (
    DocumentError,
    MatchError,
    QueryError,
    QueryStopped,
    StateError,
    XSCLError,
)
from xscl.serve.engine_thread import Busy

__all__ = ["Problem", "Refused", "answer_errors", "problem_of", "refusing"]


_SOON = {"Retry-After": "1"}
_STANDS = re.compile(r"found (?P<found>.+?), expected (?P<expected>.+)", re.DOTALL)
"""The sentence of a syntax error."""


class Problem(BaseModel):
    """What is wrong; members that do not apply are absent."""

    message: str = Field(description="What is wrong, and what to do.")
    query: str | None = Field(default=None, description="The name of the query that is wrong.")
    line: int | None = Field(default=None, description="The line in the text, from 1.")
    column: int | None = Field(default=None, description="The column in the line, from 1.")
    found: str | None = Field(default=None, description="What is there.")
    expected: str | None = Field(default=None, description="What could be there.")
    stream: str | None = Field(
        default=None, description="The stream of the document that is wrong."
    )
    document: str | None = Field(default=None, description="The id of the document that is wrong.")


def refusing(problems: Iterable[XSCLError]) -> list[XSCLError]:
    """The problems for which something was not done: not that what was done has stopped a query, or
    found a match that cannot be written."""
    return [one for one in problems if not isinstance(one, QueryStopped | MatchError)]


class Refused(Exception):
    """A request that is answered with an error: its status, its problems and further headers."""

    def __init__(
        self, status: int, *problems: Problem | str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(status)
        self.status = status
        self.problems = [Problem(message=one) if isinstance(one, str) else one for one in problems]
        self.headers = headers or {}


def problem_of(error: XSCLError) -> Problem:
    """An error of a query or document as it is answered."""
    if isinstance(error, QueryError):
        stands = _STANDS.fullmatch(error.problem)
        return Problem(
            message=error.problem,
            query=error.query,
            line=error.line,
            column=error.column,
            found=stands and stands["found"],
            expected=stands and stands["expected"],
        )
    if isinstance(error, DocumentError):
        return Problem(message=error.problem, stream=error.stream, document=error.document)
    if isinstance(error, MatchError | QueryStopped):
        return Problem(message=str(error), query=error.query)
    return Problem(message=str(error))


def answer_errors(app: FastAPI) -> None:
    """Gives all errors of an application their answers."""

    @app.exception_handler(Refused)
    async def refused(request: Request, refused: Refused) -> Response:
        return _answer(refused.status, refused.problems, refused.headers)

    @app.exception_handler(Busy)
    async def busy(request: Request, busy: Busy) -> Response:
        return _answer(503, [Problem(message=str(busy))], _SOON)

    @app.exception_handler(HTTPException)
    async def by_status(request: Request, error: HTTPException) -> Response:
        headers = error.headers
        if error.status_code == 405:
            # The router names the methods of the first route of a path alone.
            headers = {"Allow": ", ".join(_methods(request))}
        return _answer(error.status_code, [Problem(message=str(error.detail))], headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        problems = [
            Problem(message=f"{'.'.join(map(str, one['loc']))}: {one['msg']}")
            for one in error.errors()
        ]
        return _answer(400, problems)

    @app.exception_handler(XSCLError)
    async def of_a_user(request: Request, error: XSCLError) -> Response:
        if isinstance(error, StateError):
            return _answer(503, [problem_of(error)], _SOON)
        return _answer(400, [problem_of(error)])

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> Response:
        return _answer(500, [Problem(message=f"a fault of the server's: {type(error).__name__}")])


def _methods(request: Request) -> list[str]:
    """The methods of all routes of a path."""
    return [
        method
        for method in ("DELETE", "GET", "HEAD", "POST", "PUT")
        if any(
            route.matches({**request.scope, "method": method})[0] == Match.FULL
            for route in request.app.routes
        )
    ]


def _answer(status: int, problems: Sequence[Problem], headers: object = None) -> Response:
    said = [one.model_dump(exclude_none=True) for one in problems]
    content = {"error": said[0]} if len(said) == 1 else {"errors": said}
    # In ASCII, as what is reported may be no text.
    body = json.dumps(content).encode()
    given = headers if isinstance(headers, dict) else None
    return Response(body, status, given, "application/json")
