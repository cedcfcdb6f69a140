"""The numbers of the server and its engine."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from xscl.serve.service import House

__all__ = ["router"]

router = APIRouter(tags=["numbers"])


class Health(BaseModel):
    """A sign of life."""

    status: str


@router.get("/health")
async def get_health(service: House) -> Health:
    """Whether the engine answers."""
    await service.engine.do(lambda: None)
    return Health(status="ok")


@router.get("/stats")
async def get_stats(service: House) -> dict[str, object]:
    """The sizes of all that the engine holds."""
    return await service.engine.do(service.engine.engine.stats)
