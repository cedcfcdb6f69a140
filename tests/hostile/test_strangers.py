"""Input of strangers to a server with a state file and pending patterns: it continues, also after a
restart; the matches of good documents are found as without the strangers."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any

import pytest

import xscl
from tests.drawn import SEED, times
from tests.hostile.strangers import Request, bytes_of_no_request, drawn_request
from tests.xscl.serve.asking import PATIENCE
from tests.xscl.serve.process import served

GOOD = {
    "pending": "EVENT SEQ(Good a, !Good b) WHERE [k] WITHIN 1 s",
    "join": "Good/json[./k->x] FOLLOWED BY {x = y, 10 s} Good/json[./k->y]",
    "fold": "SELECT n FROM (SELECT k, 1 AS n FROM Good) FOLD{$1.k = $2.k, , $.n + 1 AS n} Good",
    "markup": "SELECT <r>{x}</r> FROM Good/json->x[k = '1']",
}
OTHERS = {
    "all of S": "S//*->x",
    "absent": "EVENT SEQ(S a, !S b) WHERE [k] WITHIN 1 s",
    "copied": "SELECT * FROM FILTER{k = '1'}(S)",
    "made": "SELECT <r k='{string(x/k)}'>{x}</r> FROM S/json->x PUBLISH P",
    "written": 'SELECT {"x": x} FROM S/json->x PUBLISH Q',
    "read": "P//r->x JOIN {x/@k = y/x/k, 1 s} Q/json->y",
    "open": "SELECT k FROM S NEXT{$1.k = $2.k} S",
}
DOCUMENTS: list[dict[str, Any]] = [
    {"stream": "Good", "id": f"g{n}", "timestamp": 5 * n, "json": {"k": str(n % 2), "n": n}}
    for n in range(8)
]
END = {"advance": 100}


class Asked:
    """Asks `/health` again and again while strangers do what they do."""

    def __init__(self, port: int) -> None:
        self.answers: list[object] = []
        self._port = port
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self._ended.wait(0.02):
            try:
                self.answers.append(answered(self._port, Request("GET", "/health"))[0])
            except OSError as error:
                self.answers.append(error)

    @contextmanager
    def throughout(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._ended.set()
            self._thread.join()


def answered(port: int, request: Request) -> tuple[int, bytes]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request(request.method, request.path, request.body, request.headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


def publish(port: int, envelopes: list[dict[str, Any]]) -> None:
    body = b"".join(json.dumps(one).encode() + b"\n" for one in envelopes)
    kind = {"Content-Type": "application/x-ndjson"}
    status, reported = answered(port, Request("POST", "/streams/Good", body, kind))
    assert (status, json.loads(reported)["problems"]) == (200, [])


def found(port: int) -> dict[str, list[list[str]]]:
    """The documents and results of the matches of each good query."""
    listed: dict[str, list[list[str]]] = {}
    for name in GOOD:
        status, body = answered(port, Request("GET", f"/matches?query={name}&limit=1000"))
        assert status == 200
        listed[name] = said(json.loads(body)["matches"])
    return listed


def said(matches: list[dict[str, Any]]) -> list[list[str]]:
    return sorted([one["id"], *one["documents"], json.dumps(one["result"])] for one in matches)


@pytest.mark.drawn
def test_strangers_end_no_server_and_lose_no_match(tmp_path: Path) -> None:
    random = Random(SEED)
    with xscl.Engine() as engine:
        for name, text in GOOD.items():
            engine.subscribe(text, name)
        matches = [one.to_dict() for one in engine.publish_many([*DOCUMENTS, END])]
        expected = {n: said([one for one in matches if one["query"] == n]) for n in GOOD}
    assert all(expected.values())
    texts = "".join(f"-- name: {name}\n{text};\n" for name, text in {**GOOD, **OTHERS}.items())
    (tmp_path / "q.xscl").write_text(texts)
    options = "q.xscl", "--state", "s.duckdb", "--lateness", "INF"
    portions = [DOCUMENTS[:3], DOCUMENTS[3:6], DOCUMENTS[6:]]
    sent: list[object] = []
    for life in range(2):
        with served(tmp_path, *options) as server:
            health = Asked(server.port)
            with health.throughout():
                publish(server.port, portions[life])
                for _ in range(max(75, times(150))):
                    if random.random() < 0.1:
                        address = "127.0.0.1", server.port
                        raw = bytes_of_no_request(random)
                        sent.append(raw)
                        with socket.create_connection(address) as connection, suppress(OSError):
                            connection.sendall(raw)
                        continue
                    request = drawn_request(random)
                    sent.append(request)
                    status, reported = answered(server.port, request)
                    assert status < 500, (request, reported)
                assert answered(server.port, Request("GET", "/health"))[0] == 200
            assert health.answers
            assert {*health.answers} == {200}, (health.answers, sent[-1])
            # Whatever ends it, what was answered stays.
            server.kill()
            server.command.ended(PATIENCE)
    with served(tmp_path, *options) as server:
        assert answered(server.port, Request("GET", "/health"))[0] == 200
        publish(server.port, [*portions[2], END])
        assert found(server.port) == expected
        stats = json.loads(answered(server.port, Request("GET", "/stats"))[1])
        assert stats["server"]["unwritten"] == 0
        assert stats["skipped"]["malformed"] > 20
