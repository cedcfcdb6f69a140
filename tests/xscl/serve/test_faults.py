"""A fault of ours that closes the engine: the server serves again from its state file, which is as
it was before.  As no such fault is known, one is planted: the step of a document `fault` fails."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from unittest import mock

from tests.commands import Started, started
from tests.hostile.strangers import Request
from tests.hostile.test_strangers import answered
from tests.xscl.serve.asking import PATIENCE
from xscl.documents.arrivals import Arrivals
from xscl.evaluation.evaluation import Evaluation

QUERIES = """-- name: pending
EVENT SEQ(S a, !S b) WHERE [k] WITHIN 1 s;
-- name: each
S/json->x"""


@contextmanager
def planted() -> Iterator[None]:
    publish = Evaluation.publish

    def fails(self: Evaluation, arrivals: Arrivals, *, ended: bool = False) -> Any:
        if any(one.id == "fault" for one in arrivals.evaluated):
            raise RuntimeError("planted")
        return publish(self, arrivals, ended=ended)

    with mock.patch.object(Evaluation, "publish", fails):
        yield


def port_of(command: Started, life: int) -> int:
    """The port of a server once it serves for the so-manieth time."""
    until = time.monotonic() + PATIENCE
    while True:
        said = command.streams[2].read_text() if command.streams[2].exists() else ""
        found = re.findall(r"serving at http://\S+:(\d+)/", said)
        if len(found) >= life:
            return int(found[life - 1])
        assert time.monotonic() < until
        assert not command.ended(0.02), said


def put(port: int, id: str, timestamp: int) -> int:
    body = json.dumps({"k": id}).encode()
    path = f"/streams/S/documents/{id}?timestamp={timestamp}"
    kind = {"Content-Type": "application/json"}
    try:
        return answered(port, Request("PUT", path, body, kind))[0]
    except (OSError, HTTPException):
        return 0


def test_a_fault_costs_its_own_request_alone(tmp_path: Path) -> None:
    (tmp_path / "q.xscl").write_text(QUERIES)
    options = ["q.xscl", "--state", "s.duckdb", "--lateness", "INF", "--port", "0"]
    with started("serve", *options, at=tmp_path, around=planted) as command:
        port = port_of(command, 1)
        assert put(port, "a", 1) == 200
        assert put(port, "fault", 2) in (500, 503, 0)
        assert port_of(command, 2) == port
        assert answered(port, Request("GET", "/health"))[0] == 200
        assert put(port, "b", 3) == 200
        line = b'{"advance": 100}\n'
        kind = {"Content-Type": "application/x-ndjson"}
        assert answered(port, Request("POST", "/streams/S", line, kind))[0] == 200
        found = json.loads(answered(port, Request("GET", "/matches"))[1])["matches"]
        assert [(one["query"], one["documents"]) for one in found] == [
            ("each", ["a"]),
            ("each", ["b"]),
            ("pending", ["a"]),
            ("pending", ["b"]),
        ]
        # One that comes again and again ends it in the end, and it says so.
        for life in range(3, 8):
            assert put(port, "fault", 200) != 200
            if life < 7:
                port_of(command, life)
        done = command.done()
    assert done.returncode == 1
    assert done.stderr.count("planted") >= 6, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    # Without a state file it cannot continue.
    with started("serve", "q.xscl", "--port", "0", at=tmp_path, around=planted) as command:
        put(port_of(command, 1), "fault", 2)
        assert command.done().returncode == 1
