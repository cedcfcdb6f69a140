"""Names in paths: one part each, whatever characters they have.

An address is a name, too: many documents have one as their id.  What is `%2F` in a path belongs to
a name, and only `/` ends one; servers hand on a path in which both are the same.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from starlette.convertors import Convertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Paths"]

_KEPT = re.compile("%(2F|25)", re.IGNORECASE)
"""A slash, and the sign that would make one."""


class _Name(Convertor[str]):
    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return _KEPT.sub(lambda found: unquote(found[0]), value)

    def to_string(self, value: str) -> str:
        return _KEPT.sub(r"%25\1", value).replace("/", "%2F")


register_url_convertor("name", _Name())


class Paths:
    """An application whose routes have names in their paths as `{NAME:name}`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        raw = scope.get("raw_path")
        if raw is not None:
            scope["path"] = unquote(_KEPT.sub(r"%25\1", raw.decode("ascii", "replace")))
        await self._app(scope, receive, send)
