"""A server in this process, on a socket, and who asks it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlencode

import xscl
from xscl.errors import DocumentError, QueryStopped
from xscl.pattern_stage.bounds import MOST
from xscl.serve.safety import LOOPBACK, Gate
from xscl.serve.server import Server, listening
from xscl.serve.service import Limits, Service
from xscl.serve.trying import dry_run

__all__ = ["PATIENCE", "Asking", "serving"]

PATIENCE = 300
"""Seconds that anything may take on a busy machine."""


@dataclass(frozen=True)
class Asking:
    """Asks a server at a port; `engine` is that of the server, `stop` ends it."""

    port: int
    engine: xscl.Engine
    stop: Callable[[], object]

    def raw(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[HTTPResponse, bytes]:
        """The answer to a request, and its body."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            return answer, answer.read()

    def get(self, path: str, status: int = 200, **asked: object) -> Any:
        """The JSON of a resource."""
        query = urlencode(asked, doseq=True)
        answer, body = self.raw("GET", f"{path}?{query}" if query else path)
        assert answer.status == status, body
        return json.loads(body)

    def post(self, path: str, status: int = 200, **members: object) -> Any:
        """The JSON that answers some members of JSON."""
        body = json.dumps(members).encode()
        answer, reported = self.raw("POST", path, body, Content_Type="application/json")
        assert answer.status == status, reported
        return json.loads(reported)

    def publish(self, id: str, xml: str, timestamp: float, stream: str = "S") -> Any:
        """What came of an XML document."""
        query = urlencode({"id": id, "timestamp": timestamp})
        path = f"/streams/{stream}?{query}"
        answer, reported = self.raw("POST", path, xml.encode(), Content_Type="application/xml")
        assert answer.status == 200, reported
        return json.loads(reported)


@contextmanager
def serving(
    *texts: str,
    state: Path | None = None,
    limits: Limits | None = None,
    gate: Gate = Gate(LOOPBACK),  # noqa: B008 - it is frozen
    lateness: float | None = None,
    clock: Callable[[], float] = time.time,
    revisable: Collection[str] | None = None,
    most_matches: int = MOST,
) -> Iterator[Asking]:
    """A server with some queries, until the end."""
    skipped: list[DocumentError | QueryStopped] = []
    with xscl.Engine(
        state,
        on_skip=skipped.append,
        on_stop=skipped.append,
        revisable=revisable,
        most_matches=most_matches,
    ) as engine:
        for text in texts:
            engine.load(text)
        started = threading.Event()
        service = Service(engine, skipped, limits, follows=lateness is None, clock=clock)
        service.lateness = lateness
        server = Server(service, gate, started.set)
        # However slow the machine is, a dry run ends by what it finds.
        patient = mock.patch.object(dry_run, "_SECONDS", 3_600.0)
        with closing(listening("127.0.0.1", 0)) as listener, patient:
            thread = threading.Thread(target=server.run, args=([listener],))
            thread.start()
            try:
                assert started.wait(PATIENCE)
                yield Asking(listener.getsockname()[1], engine, server.stop)
            finally:
                server.stop()
                thread.join()
