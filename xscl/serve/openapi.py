"""The description of the routes, OpenAPI 3.1: with all answers that there are, errors too."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from xscl.serve.safety import COOKIE, Gate, is_open

__all__ = ["MEANINGS", "describe", "statuses"]

_ABOUT = """\
Standing queries that join documents with each other by value as they stream by.
All errors have one form: a member `error`, or `errors` for several.
"""

MEANINGS = {
    400: "A query, a document or a parameter is wrong.",
    401: "The token is missing or wrong.",
    403: "The request comes from a page of another site.",
    404: "Nothing of that name exists.",
    408: "The body did not arrive in time.",
    409: "It exists already.",
    410: "What the request names is no longer retained.",
    413: "The body is too large.",
    415: "The content type or encoding is not supported.",
    421: "The request is for another host.",
    429: "A limit on their number is reached.",
    503: "The server is overloaded or stopping: try again after `Retry-After` seconds.",
}
"""What the statuses of errors mean."""


def statuses(*some: int) -> dict[int | str, dict[str, Any]]:
    """The description of errors that a route answers with, in addition to those of all routes."""
    return {status: _answer(status) for status in some}


def describe(app: FastAPI, gate: Gate) -> None:
    """Lets an application describe itself."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=_ABOUT, routes=app.routes
            )
            _complete(made, gate)
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _complete(made: dict[str, Any], gate: Gate) -> None:
    """Adds the answers of all routes, and the token; leaves out what no route answers."""
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            every = [400, 403, 421, 503]
            if "requestBody" in operation:
                every += [408, 413]
            if gate.token is not None and not is_open(method.upper(), path):
                every.append(401)
                operation["security"] = [{"bearer": []}, {"cookie": []}]
            answers = operation["responses"]
            answers.pop("422", None)
            for status in every:
                answers.setdefault(str(status), _answer(status))
            operation["responses"] = dict(sorted(answers.items()))
    schemas = made["components"]["schemas"]
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    if gate.token is not None:
        made["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE},
        }


def _answer(status: int) -> dict[str, Any]:
    problem = {"$ref": "#/components/schemas/Problem"}
    one = {"type": "object", "required": ["error"], "properties": {"error": problem}}
    errors = {"type": "array", "items": problem}
    several = {"type": "object", "required": ["errors"], "properties": {"errors": errors}}
    schema = {"anyOf": [one, several]} if status == 400 else one
    content = {"application/json": {"schema": schema}}
    return {"description": MEANINGS[status], "content": content}
