"""A real HTTP server on the loopback interface, with an answer for each path, which keeps every
request; and a clock that is moved by waiting."""

from __future__ import annotations

import queue
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

START = 1_780_315_200.0
"""2026-06-01T12:00:00Z, a Monday."""


@dataclass(frozen=True)
class Request:
    """A request as it came, header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, bytes]
    body: bytes = b""
    at: float = 0.0


@dataclass(frozen=True)
class Reply:
    """An answer; `raw` replaces all of it, and `pieces` is sent bit by bit after the head."""

    status: int = 200
    headers: tuple[tuple[str, bytes], ...] = ()
    body: bytes = b""
    raw: bytes | None = None
    pieces: Callable[[], Iterator[bytes]] | None = None

    def bytes(self) -> bytes:
        if self.raw is not None:
            return self.raw
        length = b"" if self.pieces else b"Content-Length: %d\r\n" % len(self.body)
        head = b"HTTP/1.1 %d X\r\n%sConnection: close\r\n" % (self.status, length)
        for name, value in self.headers:
            head += name.encode() + b": " + value + b"\r\n"
        return head + b"\r\n" + self.body


@dataclass
class Server:
    """What it was asked, and how it answers: `site` maps paths to replies, or to functions from
    request to reply."""

    port: int
    site: dict[str, Reply | Callable[[Request], Reply]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    clock: Callable[[], float] = lambda: 0.0

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def asked(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]

    def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        found = self.site.get(request.path, Reply(404))
        return found(request) if callable(found) else found


def _serve(server: Server, connection: socket.socket, secured: ssl.SSLContext | None) -> None:
    if secured is not None:
        try:
            connection = secured.wrap_socket(connection, server_side=True)
        except OSError:
            return  # the other side did not like the certificate
    with connection, connection.makefile("rb") as file:
        line = file.readline().split()
        if len(line) != 3:
            return
        headers: dict[str, bytes] = {}
        while field_line := file.readline().rstrip(b"\r\n"):
            name, _, value = field_line.partition(b":")
            headers[name.decode("latin-1").lower()] = value.strip()
        body = file.read(int(headers.get("content-length", b"0")))
        path = line[1].decode("latin-1")
        request = Request(line[0].decode(), path, headers, body, server.clock())
        reply = server.answer(request)
        try:
            connection.sendall(reply.bytes())
            for piece in reply.pieces() if reply.pieces else ():
                connection.sendall(piece)
        except OSError:
            pass  # the other side has had enough


@contextmanager
def serving(secured: ssl.SSLContext | None = None) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        server = Server(listener.getsockname()[1])

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(
                    target=_serve, args=(server, connection, secured), daemon=True
                ).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)


class VirtualClock:
    """Time that passes only in waiting: immediately to the awaited moment, and not at all while an
    answer is under way.  Ends waits beyond `end`, by `stop`."""

    def __init__(self, start: float = START, end: float = float("inf")) -> None:
        self.time = start
        self.end = end
        self.stop: Callable[[], None] = lambda: None

    def now(self) -> float:
        return self.time

    def receive(
        self, answers: queue.SimpleQueue[T], until: float | None, under_way: int
    ) -> T | None:
        if under_way:
            return answers.get(timeout=300)
        assert until is not None, "nothing to wait for"
        if until > self.end:
            self.time = self.end
            self.stop()
            return answers.get(timeout=300)
        self.time = max(self.time, until)
        return None


def rss(*items: tuple[str, str], channel: str = "", title: str = "News") -> bytes:
    """An RSS feed of items (guid, title)."""
    shown = "".join(
        f"<item><guid>{guid}</guid><title>{title}</title><link>http://a.example/{guid}</link>"
        "</item>"
        for guid, title in items
    )
    return (
        f'<?xml version="1.0"?><rss version="2.0"><channel><title>{title}</title>{channel}{shown}'
        "</channel></rss>"
    ).encode()
