"""The token, in exchange for a cookie: a browser's events cannot send it otherwise."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from xscl.serve.openapi import statuses
from xscl.serve.problems import Refused
from xscl.serve.safety import COOKIE, Gate

__all__ = ["router"]

router = APIRouter(prefix="/session", tags=["session"])


class Credentials(BaseModel):
    """The token of the server."""

    token: str


@router.post("", status_code=204, responses=statuses(401, 404))
async def post_session(request: Request, response: Response, given: Credentials) -> None:
    """Sets the cookie that stands for the token."""
    gate: Gate = request.app.state.gate
    if gate.token is None:
        raise Refused(404, "this server has no token, and asks for none")
    if not gate.is_token(given.token):
        raise Refused(401, "that is not the token", headers={"WWW-Authenticate": "Bearer"})
    secure = request.headers.get("origin", "").startswith("https:")
    response.set_cookie(COOKIE, gate.session, httponly=True, samesite="strict", secure=secure)


@router.delete("", status_code=204)
async def delete_session(response: Response) -> None:
    """Deletes the cookie."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
