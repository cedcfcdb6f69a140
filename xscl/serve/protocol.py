"""HTTP/1.1 as uvicorn speaks it, within bounds: of connections, of the time that the head of a
request may take; what it refuses by itself is refused as JSON."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["PATIENCE", "protocol"]

PATIENCE = 60
"""Seconds for which who asks may be silent in the midst of it, or take nothing of what is sent,
before the connection ends."""


def protocol(connections: int) -> type[asyncio.Protocol]:
    """The protocol of a server with so many connections at most."""

    class Protocol(_Protocol):
        most = connections

    return Protocol


class _Protocol(H11Protocol):
    most = 0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"{self.most:,} connections are open")
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        cycle, theirs = self.cycle, self.conn.their_state
        # The rest of a body that was answered before it was whole is waited for, too.
        answered = theirs is h11.SEND_BODY and cycle is not None and cycle.response_complete
        if theirs is not h11.IDLE and not answered:
            self._wait_no_more()
        elif self._late is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._refuse(HTTPStatus.BAD_REQUEST, "that is no HTTP request, or its head is too large")

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        body = json.dumps({"error": {"message": reason}}).encode()
        again = "Retry-After: 1\r\n" if status == HTTPStatus.SERVICE_UNAVAILABLE else ""
        head = (
            f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n"
            f"{again}\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _wait(self) -> None:
        self._late = self.loop.call_later(PATIENCE, self.transport.abort)

    def _wait_no_more(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
