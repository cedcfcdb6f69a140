"""The page: the files of `xscl/serve/page/`, as they are."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles

__all__ = ["router"]

_FOLDER = Path(__file__).parents[1] / "page"
_AGAIN = {"Cache-Control": "no-cache"}

router = APIRouter()


@router.get("/", include_in_schema=False)
async def get_index() -> FileResponse:
    """The page."""
    return FileResponse(_FOLDER / "index.html", headers=_AGAIN)


router.mount("/page", StaticFiles(directory=_FOLDER))
