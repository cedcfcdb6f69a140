"""What every request must be, and every answer says, whatever the route.

A request names one of our hosts (else another's name may have been made to lead here), comes from
our own page or from no page at all, brings the token where there is one, and has a body within
bounds.  An answer lets a browser run nothing but our own files.
"""

from __future__ import annotations

import hmac
import re
from asyncio import timeout
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from ipaddress import ip_address
from time import monotonic

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["COOKIE", "LOOPBACK", "Gate", "Safety", "is_loopback", "is_open"]

COOKIE = "xscl-session"

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names by which a loopback is reached."""

_OPEN = {("GET", "/"), ("HEAD", "/"), ("POST", "/session"), ("GET", "/health")}
"""What is answered without a token: the page, which asks for it, what takes it, a sign of life."""

_LARGEST_TEXT = 4 * 1024 * 1024
"""Bytes of a body that is no document."""

_LARGEST_OPEN = 4 * 1024
_OPEN_TOGETHER = 64 * _LARGEST_OPEN
"""The same where no token is asked for, and of all such bodies together: the sender takes
nothing from those who have the token."""

_PATIENCE = 30
"""Seconds for which a body may stand still, and within which an open one must have come."""

_SLOWEST = 1024
"""Bytes in a second, on the whole, at which a body may come after that."""

_HOST = re.compile(
    r"(?:\[(?P<address>[0-9a-f]*:[0-9a-f:.]*)\]|(?P<name>[^][:@/?#%\s]+))(?::[0-9]{0,5})?",
    re.IGNORECASE,
)
"""A Host header: an address of IPv6 in brackets, without a zone, or a name; and perhaps a port."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Whether a name of a host leads to this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_open(method: str, path: str) -> bool:
    """Whether a request needs no token."""
    return (method, path) in _OPEN or (method in ("GET", "HEAD") and path.startswith("/page/"))


@dataclass(frozen=True, slots=True)
class Gate:
    """Who is let in: those who name one of some hosts (with `any_address`, any address that is a
    number, which nobody can make lead elsewhere), and bring the token where there is one."""

    hosts: Collection[str]
    any_address: bool = False
    token: str | None = None

    @property
    def session(self) -> str:
        """The value of the cookie of those who have brought the token."""
        assert self.token is not None
        return hmac.new(self.token.encode(), b"xscl session", sha256).hexdigest()

    def is_token(self, given: str) -> bool:
        """Whether that is the token."""
        return self.token is not None and _same(given, self.token)

    def refuses(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the reason with which a request is refused, None for one that is not."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, f"this server is not {host!r}; --allow-host lets it answer to that name"
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return 403, f"a page of {origin!r} may not ask this server"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "a page of another site may not ask this server"
        if (
            self.token is None
            or is_open(scope["method"], scope["path"])
            or self._has_token(headers)
        ):
            return None
        return 401, "the token is missing: send `Authorization: Bearer TOKEN`"

    def _is_ours(self, host: str) -> bool:
        name = _name_of(host)
        if name in self.hosts:
            return True
        try:
            return self.any_address and bool(ip_address(name))
        except ValueError:
            return False

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.is_token(given.strip())
        # The standard library drops all cookies for one of another program that it dislikes.
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        return cookie is not None and _same(cookie, self.session)


class Safety:
    """An application behind a gate, with bodies of at most so many bytes; those of all requests
    together, until they are answered, have at most four times as many.  What is open to all has a
    small budget of its own."""

    def __init__(self, app: ASGIApp, gate: Gate, max_body: int) -> None:
        self._app = app
        self._gate = gate
        self._max_body = max_body
        self._held = self._held_open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            raise ValueError(f"no protocol of ours: {scope['type']}")

        async def safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        if (refusal := self._gate.refuses(scope)) is not None:
            status, reason = refusal
            headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
            refused = JSONResponse({"error": {"message": reason}}, status, headers)
            await refused(scope, receive, safe)
            return
        open_to_all = is_open(scope["method"], scope["path"])
        most = _LARGEST_OPEN if open_to_all else self._most(scope)
        length = Headers(scope=scope).get("content-length")
        body = _Body(receive, most, length, slowest=0 if open_to_all else _SLOWEST)
        take = self._receive_open if open_to_all else self._receive
        try:
            await self._app(scope, partial(take, body), safe)
        finally:
            if open_to_all:
                self._held_open -= body.read
            else:
                self._held -= body.read

    def _most(self, scope: Scope) -> int:
        """The most bytes of a body: other than documents, none is large."""
        documents = scope["path"].startswith("/streams/")
        return self._max_body if documents else min(self._max_body, _LARGEST_TEXT)

    async def _receive(self, body: _Body) -> Message:
        before = body.read
        try:
            return await body.receive()
        finally:
            self._held += body.read - before
            if self._held > 4 * self._max_body:
                raise _too_much()

    async def _receive_open(self, body: _Body) -> Message:
        before = body.read
        try:
            return await body.receive()
        finally:
            self._held_open += body.read - before
            if self._held_open > _OPEN_TOGETHER:
                raise _too_much()


class _Body:
    """The body of a request, of which so many bytes are read at most; none if its length is said to
    be more.  It may stand still for a while, and has to come at some bytes a second, the `slowest`,
    where it takes longer than that; with 0 it must not."""

    def __init__(self, receive: Receive, most: int, length: str | None, *, slowest: int) -> None:
        self._receive = receive
        self._most = most
        self._length = int(length or 0)
        self._slowest = slowest
        self._began = monotonic()
        self._whole = False
        self.read = 0

    async def receive(self) -> Message:
        """The next part."""
        if self._whole:
            # The only failure is that the client has gone.
            return await self._receive()
        self._check(self._length)
        ends = self._began + _PATIENCE
        if self._slowest:
            ends += self.read / self._slowest
        try:
            async with timeout(min(_PATIENCE, ends - monotonic())):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(
                408, f"the body did not continue for {_PATIENCE} seconds, or came too slowly"
            ) from None
        self._whole = not message.get("more_body", False)
        self.read += len(message.get("body", b""))
        self._check(self.read)
        return message

    def _check(self, length: int) -> None:
        if length > self._most:
            raise HTTPException(
                413,
                f"the body has more than {self._most:,} bytes: send less at a time, or see "
                "--max-body",
            )


def _too_much() -> HTTPException:
    return HTTPException(503, "others send much at the moment: try again", {"Retry-After": "1"})


def _name_of(host: str) -> str:
    """The name in a Host header, without its port and the dot that may end it; empty for what is
    none, such as a name behind an address in brackets (RFC 9110, section 7.2)."""
    found = _HOST.fullmatch(host)
    return "" if found is None else (found["address"] or found["name"]).lower().removesuffix(".")


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), right.encode())
