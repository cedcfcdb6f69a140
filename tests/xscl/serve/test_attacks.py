"""What a stranger may send over the network, each with its answer; the server continues."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.xscl.serve.asking import PATIENCE, Asking, serving
from xscl.serve.service import Limits

GET = b"GET /queries HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /streams/S HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/xml\r\n"

REQUESTS = {
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 421),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two hosts": (GET + b"Host: evil.example\r\n\r\n", 400),
    "a host in the target": (b"GET http://x.example/ HTTP/1.1\r\nHost: x.example\r\n\r\n", 421),
    "two lengths": (POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n<a/>", 400),
    "a length that is none": (POST + b"Content-Length: -1\r\n\r\n", 400),
    "a length beyond all": (POST + b"Content-Length: 99999999999999999999\r\n\r\n", 413),
    "a large length": (POST + b"Content-Length: 9999999999\r\n\r\n", 413),
    "length and chunks": (
        POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x", 400,
    ),
    "chunks of another kind": (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    "a chunk that is none": (POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
    "a field over lines": (GET + b"X: a\r\n b\r\n\r\n", 200),
    "a blank before the colon": (GET + b"X : a\r\n\r\n", 400),
    "a null in a field": (GET + b"X: a\0b\r\n\r\n", 400),
    "many fields": (GET + b"".join(b"X%d: x\r\n" % n for n in range(200_000)) + b"\r\n", 400),
    "an upgrade": (GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 200),
    "a long target": (b"GET /" + b"x" * 1_000_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    "a proxy's word": (GET + b"X-Forwarded-Host: evil.example\r\nForwarded: for=1\r\n\r\n", 200),
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Asking]:
    with serving("-- name: q\nS//*->x") as asking:
        yield asking


@pytest.mark.parametrize(("sent", "status"), REQUESTS.values(), ids=REQUESTS)
def test_requests_that_are_none(server: Asking, sent: bytes, status: int) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        with suppress(ConnectionError):
            # It may be refused before all of it is sent.
            connection.sendall(sent)
        head = connection.makefile("rb").readline()
    print(head)
    assert head.split()[1:2] == [b"%d" % status]
    assert server.get("/health") == {"status": "ok"}


@pytest.mark.parametrize(
    "path",
    ["/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page/%252e%252e/app.py",
     "/page/%2fetc/passwd", "//etc/passwd", "/page/..\\app.py", "/page/main.js%00.py"],
)  # fmt: skip
def test_other_files_than_those_of_the_page(server: Asking, path: str) -> None:
    answer, body = server.raw("GET", path)
    assert (answer.status, b"error" in body) == (404, True)


def test_a_document_reads_no_file(server: Asking, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    place = secret.as_uri()
    entities = "".join(
        f'<!ENTITY {name} "{f"&{before};" * 50}">' for before, name in itertools.pairwise("bcdefg")
    )
    include = f'<i:include href="{place}" parse="text"/>'
    for number, body in enumerate(
        (
            f'<!DOCTYPE a [<!ENTITY e SYSTEM "{place}">]><a>&e;</a>',
            f'<!DOCTYPE a SYSTEM "{place}"><a/>',
            f'<a xmlns:i="http://www.w3.org/2001/XInclude">{include}</a>',
            f'<!DOCTYPE a [<!ENTITY b "{"x" * 100}">{entities}]><a>&g;</a>',
        )
    ):
        answer, reported = server.raw(
            "PUT", f"/streams/S/documents/x{number}", body.encode(), Content_Type="application/xml"
        )
        assert answer.status in (200, 400)
        assert len(reported) < 1_000
    _, found = server.raw("GET", "/matches?limit=1000")
    assert b"SECRET" not in found
    assert b"x" * 1_000 not in found


def test_too_many_requests_are_pending() -> None:
    """Further callers are asked to come again, and none is lost."""
    with serving(limits=Limits(waiting=4)) as server:
        statuses: list[tuple[int, str | None]] = []

        def ask(number: int) -> None:
            body = f"<a>{number}</a>".encode()
            answer, _ = server.raw("POST", "/streams/S", body, Content_Type="application/xml")
            statuses.append((answer.status, answer.headers["Retry-After"]))

        some = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
        with server.engine.transaction():
            for one in some:
                one.start()
            while not statuses:
                time.sleep(0.01)
        for one in some:
            one.join()
        assert {*statuses} == {(200, None), (503, "1")}
        assert server.get("/stats")["taken"] == statuses.count((200, None))


def test_a_request_whose_beginning_is_taken_is_taken_whole() -> None:
    """However many others wait by then."""
    with serving(limits=Limits(waiting=1)) as server:
        body = "".join(f'{{"json": {{"n": {n}}}}}\n' for n in range(3_000)).encode()
        kind = {"Content_Type": "application/x-ndjson"}
        answers: list[tuple[int, Any]] = []

        def ask() -> None:
            answer, reported = server.raw("POST", "/streams/S", body, **kind)
            answers.append((answer.status, json.loads(reported)))

        def look() -> None:
            while not answers:
                server.raw("GET", "/queries")

        asking = [threading.Thread(target=ask), *[threading.Thread(target=look) for _ in range(4)]]
        for one in asking:
            one.start()
        for one in asking:
            one.join()
        ((status, outcome),) = answers
        if status == 200:
            assert (outcome["taken"], outcome["problems"]) == (3_000, [])
            assert server.get("/stats")["taken"] == 3_000
        else:
            assert (status, server.get("/stats")["taken"]) == (503, 0)
