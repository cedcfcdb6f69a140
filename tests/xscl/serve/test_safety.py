"""Who is let in, and what every answer says."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import ExitStack
from unittest import mock

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message

from tests.xscl.serve.asking import PATIENCE, serving
from xscl.serve import safety
from xscl.serve.safety import LOOPBACK, Gate, _Body
from xscl.serve.service import Limits

TOKEN = "a token of some length"
HOST = "127.0.0.1:8765"


def refused(gate: Gate, path: str = "/queries", method: str = "GET", **headers: str) -> int | None:
    named = {"host": HOST} | {n.replace("_", "-"): v for n, v in headers.items()}
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in named.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": raw}
    refusal = gate.refuses(scope)
    return None if refusal is None else refusal[0]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", ":8765", "localhost:x",
     "[::1", "[::2]:8765", "10.0.0.1:8765", "localhost@evil.example", "0.0.0.0", "2130706433",
     "[::1]evil.example", "[::1]evil.example:80", "[::1].evil.example", "[::1]@evil.example",
     "[::1]:80.evil.example", "[::1]:80:80", "[::1]]", "[[::1]]", "[]", "::1", "[localhost]",
     "[127.0.0.1]", "[::1%lo]", "[::1%25lo]:80", "localhost..", ".localhost", "localhost:80:80",
     "localhost:\u00b2", "localhost: 80", "localhost:-1", "localhost:999999", "user@localhost",
     "localhost/x", "localhost#", "localhost%00", "localhost,evil.example", "local\u017fhost"],
)  # fmt: skip
def test_hosts_that_are_not_ours(host: str) -> None:
    for gate in (Gate(LOOPBACK), Gate(LOOPBACK | {"xscl.example"}, any_address=True)):
        # Beyond the loopback any address is ours.
        if not gate.any_address or host not in ("[::2]:8765", "10.0.0.1:8765", "0.0.0.0"):
            assert refused(gate, host=host) == 421


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8765", "[::1]", "[::1]:", "localhost.",
     "localhost.:8765"],
)  # fmt: skip
def test_hosts_that_are_ours(host: str) -> None:
    assert refused(Gate(LOOPBACK), host=host) is None


def test_beyond_the_loopback_addresses_are_ours_and_names_are_not() -> None:
    gate = Gate({"xscl.example"}, any_address=True)
    for host in ("10.0.0.1", "[fe80::1]:8765", "xscl.example:80"):
        assert refused(gate, host=host) is None
    assert refused(gate, host="evil.example") == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": f"http://{HOST}"}, None),
        ({"origin": f"https://{HOST}"}, None),
        ({"origin": "http://127.0.0.1:3000"}, 403),
        ({"origin": "http://localhost:8765"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"sec_fetch_site": "same-origin"}, None),
        ({"sec_fetch_site": "none"}, None),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_pages_of_others_may_not_ask(
    headers: dict[str, str], status: int | None, method: str
) -> None:
    assert refused(Gate(LOOPBACK), method=method, **headers) == status


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (f"Bearer {TOKEN}", None),
        (f"bearer  {TOKEN} ", None),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        ("Bearer", 401),
        ("Bearer \u00e4", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
    ],
)
def test_the_token(authorization: str, status: int | None) -> None:
    gate = Gate(LOOPBACK, token=TOKEN)
    assert refused(gate, authorization=authorization) == status
    assert refused(gate, authorization=authorization, host="evil.example") == 421
    # Without one no request needs it.
    assert refused(Gate(LOOPBACK), authorization=authorization) is None


def test_all_but_the_page_asks_for_the_token() -> None:
    with serving(gate=Gate(LOOPBACK, token=TOKEN)) as server:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        answer, _ = server.raw("GET", "/openapi.json")
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        answer, body = server.raw("GET", "/openapi.json", **bearer)
        assert b'"bearer"' in body
        for path in ("/", "/page/style.css", "/health"):
            assert server.raw("GET", path)[0].status == 200, path
        for method, path in (("GET", "/queries"), ("POST", "/queries"), ("GET", "/matches?live=1"),
                             ("POST", "/"), ("GET", "/page"), ("GET", "//page/x"),
                             ("GET", "/nothing"), ("DELETE", "/session")):  # fmt: skip
            answer, _ = server.raw(method, path)
            assert answer.status == 401, path


def test_the_cookie_replaces_the_token() -> None:
    with serving(gate=Gate(LOOPBACK, token=TOKEN)) as server:
        assert server.post("/session", 401, token="another")["error"]["message"]
        body = b'{"token": "%b"}' % TOKEN.encode()
        answer, _ = server.raw("POST", "/session", body, Content_Type="application/json")
        assert answer.status == 204
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert TOKEN not in cookie
        pair = cookie.partition(";")[0]
        for given, status in ((pair, 200), (f"a=b; {pair}", 200), (f"{pair}0", 401), ("x", 401)):
            answer, _ = server.raw("GET", "/queries", Cookie=given)
            assert answer.status == status, given


@pytest.mark.parametrize("path", ["/", "/queries", "/nothing", "/openapi.json"])
def test_what_every_answer_says(path: str) -> None:
    with serving() as server:
        for headers in ({}, {"Host": "evil.example"}):
            answer, _ = server.raw("GET", path, **headers)
            policy = answer.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self';")
            assert "unsafe" not in policy
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "Access-Control-Allow-Origin" not in answer.headers


def test_all_methods_of_a_path_are_named() -> None:
    with serving() as server:
        for path, allowed in (("/queries/a", "DELETE, GET, PUT"), ("/queries", "GET, POST")):
            answer, _ = server.raw("PATCH", path)
            assert (answer.status, answer.headers["Allow"]) == (405, allowed)


def test_a_head_that_is_too_large_is_refused() -> None:
    with (
        serving() as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection,
    ):
        connection.sendall(b"GET /health HTTP/1.1\r\nX: " + b"x" * 20_000)
        answer = connection.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b'"error"' in answer


def test_what_is_open_to_all_has_a_small_budget_of_its_own() -> None:
    """Bodies of strangers that never end do not delay those with the token."""
    bearer = {"Authorization": f"Bearer {TOKEN}", "Content_Type": "application/json"}
    head = "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    large = b'{"k": "%b"}' % (b"x" * 1_000_000)
    limits = Limits(max_body=1_100_000)
    with serving(gate=Gate(LOOPBACK, token=TOKEN), limits=limits) as server, ExitStack() as stack:

        def stranger(length: int, sent: int) -> socket.socket:
            address = "127.0.0.1", server.port
            one = stack.enter_context(socket.create_connection(address, timeout=PATIENCE))
            one.sendall(f"{head}Content-Length: {length}\r\n\r\n{'x' * sent}".encode())
            return one

        # One that says that it is large is refused before it comes.
        assert b" 413 " in stranger(4 * 1024 * 1024, 10_000).makefile("rb").readline()
        some = [stranger(4_096, 4_000) for _ in range(66)]
        # Requests beyond the budget are asked to come again.
        assert b" 503 " in stranger(4_096, 4_000).makefile("rb").readline()
        for _ in range(3):
            answer, body = server.raw("POST", "/streams/S", large, **bearer)
            assert answer.status == 200, body
        for one in some:
            one.close()
        until = time.monotonic() + PATIENCE
        while True:
            answer, body = server.raw(
                "POST", "/session", b'{"token": "%b"}' % TOKEN.encode(), **bearer
            )
            if answer.status == 204:
                break
            assert (answer.status, time.monotonic() < until) == (503, True), body


def test_a_slow_body_is_given_up() -> None:
    async def drip() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def read(slowest: int) -> int:
        body = _Body(drip, 1_000_000, None, slowest=slowest)
        while True:
            try:
                await body.receive()
            except HTTPException as given_up:
                status = given_up.status_code
                return body.read if status == 408 else 0

    with mock.patch.object(safety, "_PATIENCE", 0.5):
        # Nothing stops, and it is slower than allowed.
        assert 0 < asyncio.run(read(0)) <= 51
        assert 0 < asyncio.run(read(1_000)) <= 60


@pytest.mark.parametrize("token", ["\ud800", "\0", "", "x" * 3_000])
def test_a_token_of_any_characters_is_another(token: str) -> None:
    with serving(gate=Gate(LOOPBACK, token=TOKEN)) as server:
        assert server.post("/session", 401, token=token)["error"]["message"]
