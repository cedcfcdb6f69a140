"""Who is let in, and what every answer says."""

from __future__ import annotations

import socket

import pytest

from tests.xscl.serve.asking import PATIENCE, serving
from xscl.serve.safety import LOOPBACK, Gate

TOKEN = "a token of some length"
HOST = "127.0.0.1:8765"


def refused(gate: Gate, path: str = "/queries", method: str = "GET", **headers: str) -> int | None:
    named = {"host": HOST} | {n.replace("_", "-"): v for n, v in headers.items()}
    raw = [(name.encode(), value.encode("latin-1")) for name, value in named.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": raw}
    refusal = gate.refuses(scope)
    return None if refusal is None else refusal[0]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", ":8765", "localhost:x",
     "[::1", "[::2]:8765", "10.0.0.1:8765", "localhost@evil.example", "0.0.0.0", "2130706433"],
)  # fmt: skip
def test_hosts_that_are_not_ours(host: str) -> None:
    expected = None if host == "[::1" else 421
    assert refused(Gate(LOOPBACK), host=host) == expected


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8765", "[::1]"])
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
    # Without one nobody asks for it.
    assert refused(Gate(LOOPBACK), authorization=authorization) is None


def test_all_but_the_page_asks_for_the_token() -> None:
    with serving(gate=Gate(LOOPBACK, token=TOKEN)) as server:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        answer, _ = server.raw("GET", "/openapi.json")
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        answer, body = server.raw("GET", "/openapi.json", **bearer)
        assert b'"bearer"' in body
        for method, path in (("GET", "/"), ("GET", "/page/page.css"), ("GET", "/health")):
            answer, _ = server.raw(method, path)
            assert answer.status in (200, 404), path
        for method, path in (("GET", "/queries"), ("POST", "/queries"), ("GET", "/matches?live=1"),
                             ("POST", "/"), ("GET", "/page"), ("GET", "//page/x"),
                             ("GET", "/nothing"), ("DELETE", "/session")):  # fmt: skip
            answer, _ = server.raw(method, path)
            assert answer.status == 401, path


def test_the_cookie_stands_for_the_token() -> None:
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
