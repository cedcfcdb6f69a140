"""Clients that share no code with the server go through every route of its description: one in
another language, and curl."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.xscl.serve.asking import Asking, serving

CLIENT = Path(__file__).with_name("client.mjs")


def ran(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="wants Node.js")
def test_a_client_in_another_language() -> None:
    with serving() as server:
        ran("node", str(CLIENT), f"http://127.0.0.1:{server.port}")


JSON = ("-H", "Content-Type: application/json", "-d")
XML = ("-H", "Content-Type: application/xml", "-d")
UP = """AUTOMATON {"events": {"e": "V"}, "final": ["q1"],
  "arcs": [{"from": "q0", "to": "q1", "event": "e"}]}"""
ASKED = (
    """
POST /queries 201 {"name": "n", "text": "S//a->x JOIN {x = y, 1 day} S//b->y PUBLISH P"}
PUT /queries/m 201 {"text": "S//a->x"}
PUT /queries/m 200 {"text": "S//a->x"}
GET /queries 200
GET /queries/n 200
GET /queries/n/explain?format=svg 200
GET /explain?text=S//a 200
POST /explain 200 {"text": "S//a"}
POST /check 200 {"text": "S//a["}
POST /streams/S?id=1&timestamp=1 200 <a>1</a>
PUT /streams/S/documents/2?timestamp=2 200 <b>1</b>
POST /dry-run 200 {"text": "S//a"}
GET /queries/n/why?document=1&document=2 200
GET /documents 200
GET /matches?query=n 200
GET /matches/none 404
GET /streams/P/feed.atom 200
GET /streams/P/feed.json 200
GET /feeds 200
POST /feeds 409 {"stream": "S", "address": "https://a.example/feed"}
POST /feeds/ask 409 {"address": "https://a.example/feed"}
GET /examples 200
GET /stats 200
GET /metrics 200
GET /health 200
POST /session 404 {"token": "none is asked for"}
DELETE /session 204
PUT /queries/up 201 UP
GET /queries/up/arcs 200
POST /queries/up/arcs 200 {"delete": "a0", "at": 9}
DELETE /queries/n 204
""".strip()
    .replace("UP", json.dumps({"text": UP}))
    .splitlines()
)


def curl(server: Asking, method: str, path: str, body: str = "") -> tuple[int, str]:
    """The status of an answer, and its body."""
    given = () if not body else (*(XML if body.startswith("<") else JSON), body)
    url = f"http://127.0.0.1:{server.port}{path}"
    reported = ran("curl", "-gsS", "-X", method, "-w", "\n%{http_code}", *given, url)
    text, _, status = reported.rpartition("\n")
    return int(status), text


@pytest.mark.skipif(shutil.which("curl") is None, reason="wants curl")
def test_curl() -> None:
    with serving() as server:
        _, described = curl(server, "GET", "/openapi.json")
        left = {
            (method.upper(), path)
            for path, methods in json.loads(described)["paths"].items()
            for method in methods
        }
        for line in ASKED:
            method, path, expected, *body = line.split(" ", 3)
            status, reported = curl(server, method, path, *body)
            assert status == int(expected), (line, reported)
            where = path.partition("?")[0]
            left -= {
                (method, route)
                for one, route in left
                if one == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route), where)
            }
        assert not left
