"""Dissections of queries -> the answer that explains them, in the form that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from fastapi import Response
from fastapi.responses import JSONResponse, PlainTextResponse

from xscl.dissection.parts import Dissection
from xscl.explain import EventPlans, as_json, as_mermaid, as_svg, as_text, explain_file

__all__ = ["FORMS", "Form", "explained"]

Form = Literal["json", "text", "mermaid", "svg"]

_TEXT = {"schema": {"type": "string"}}

FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The explanation, in the form that was asked for.",
        "content": {
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
            "text/plain": _TEXT,
            "image/svg+xml": _TEXT,
        },
    }
}
"""What routes that explain answer, for the description of the routes."""

_PICTURE = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
"""A picture has its colours in it, and can do nothing else."""


def explained(
    dissections: Sequence[Dissection], form: Form, others: Sequence[Dissection] = ()
) -> Response:
    """Explains queries, one of them alongside `others`."""
    match form:
        case "json":
            plans = EventPlans(others or dissections)
            return JSONResponse([as_json(one, plans) for one in dissections])
        case "mermaid":
            return PlainTextResponse(as_mermaid(dissections))
        case "svg":
            return Response(as_svg(dissections), headers=_PICTURE, media_type="image/svg+xml")
        case _ if others:
            texts = [as_text(one, others) for one in dissections]
            return PlainTextResponse("\n\n".join(texts) + "\n")
        case _:
            return PlainTextResponse(explain_file(dissections) + "\n")
