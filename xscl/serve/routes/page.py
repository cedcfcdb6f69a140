"""The page: the files of `xscl/serve/page/`, as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Response
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


class _Files(StaticFiles):
    def file_response(self, *given: Any, **more: Any) -> Response:
        """A file, which a browser keeps, and asks each time whether it is another."""
        answer = super().file_response(*given, **more)
        answer.headers.update(_AGAIN)
        return answer


router.mount("/page", _Files(directory=_FOLDER))
