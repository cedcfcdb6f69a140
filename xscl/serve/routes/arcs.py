"""The arcs of an automaton over HTTP: listed, inserted, deleted and replaced while it runs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from xscl.errors import StateError
from xscl.serve.openapi import statuses
from xscl.serve.problems import Refused, problem_of, refusing
from xscl.serve.service import Service, TheService

__all__ = ["router"]

router = APIRouter(tags=["queries"])

Name = Annotated[str, Path(description="The name of an automaton.")]
Time = float | str


class ArcChange(BaseModel):
    """One of `insert`, `delete` and `replace`, as in a line among the events."""

    model_config = ConfigDict(extra="forbid")

    insert: dict[str, JsonValue] | None = Field(
        default=None, description="An arc, as in the description of an automaton."
    )
    delete: str | None = Field(default=None, description="The name of an arc that ends.")
    replace: str | None = Field(default=None, description="The name of an arc that is replaced.")
    with_: dict[str, JsonValue] | None = Field(
        default=None, alias="with", description="The arc in its place."
    )
    at: Time | None = Field(
        default=None,
        description="From when on: seconds since 1970, or as in RFC 3339, after the watermark; "
        "otherwise after the watermark and all documents that have come.",
    )
    until: Time | None = Field(default=None, description="Before when the arc ends.")


class Arcs(BaseModel):
    """The arcs of an automaton with their lives, `at` and `until` in seconds; with those that have
    ended, as long as a run can be over events of that time."""

    arcs: list[dict[str, JsonValue]]
    matches: int = Field(default=0, description="Matches that the change completed.")


@router.get("/queries/{name:name}/arcs", responses=statuses(404))
async def get_arcs(service: TheService, name: Name) -> Arcs:
    """The arcs of an automaton."""
    return await service.engine.do(lambda: Arcs(arcs=_arcs(service, name)))


@router.post("/queries/{name:name}/arcs", responses=statuses(404))
async def post_arcs(service: TheService, name: Name, change: ArcChange) -> Arcs:
    """Inserts, deletes or replaces an arc; a change that is refused changes nothing."""
    given: dict[str, Any] = change.model_dump(by_alias=True, exclude_none=True)

    def work() -> Arcs:
        _arcs(service, name)
        taken = service.engine.take_in([{"automaton": name, **given}])
        if problems := refusing(taken.problems):
            raise Refused(400, *map(problem_of, problems))
        return Arcs(arcs=_arcs(service, name), matches=taken.matches)

    return await service.engine.do(work)


def _arcs(service: Service, name: str) -> list[dict[str, Any]]:
    try:
        return [arc.to_dict() for arc in service.engine.engine.arcs(name)]
    except StateError as error:
        raise Refused(404, str(error)) from error
