"""Many readers of a server's events in a process of their own, and who publishes meanwhile: what
each reader missed or had twice, and how long matches took from the publishing of a document to
each of them.

Documents are items of which each fifth links the fifth before it: two make a match.  Readers that
lose their connection come again with the id of the last event that they have.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import re
import socket
import threading
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["LATENESS", "QUERY", "Account", "Publisher", "reading", "stopped"]

QUERY = """\
-- name: links
S/item->a[id->i] FOLLOWED BY {i = l, 60 s} S/item->b[linked->l]
"""
LATENESS = "3600 s"
"""Documents are a second apart; in one second some hundred are published."""

_APART = 5
_PATIENCE = 300.0
_EVENT = re.compile(rb"^id: (\S+)\ndata: (.+)$", re.MULTILINE)


def _matches(documents: int) -> int:
    """The matches of so many documents."""
    return max(0, (documents - 1) // _APART)


def _item(number: int) -> dict[str, Any]:
    linked = number - _APART if number % _APART == 0 else -1
    xml = f"<item><id>{number}</id><linked>{linked}</linked><title>Item {number}</title></item>"
    return {"id": str(number), "timestamp": number, "xml": xml}


@dataclass(frozen=True, slots=True)
class Account:
    """What readers have had: how many matches in all are missing with one of them or another, and
    how many came to one twice; the seconds that each took from the publishing of its last document;
    how often a reader came again."""

    readers: int
    missing: int
    twice: int
    again: int
    delays: array[float]

    def percentile(self, part: float) -> float:
        """The seconds within which that part of all events came."""
        return sorted(self.delays)[min(len(self.delays) - 1, int(part * len(self.delays)))]


class Publisher:
    """Publishes documents to a server; when, is in memory that readers share."""

    def __init__(self, port: int, documents: int) -> None:
        self.port = port
        self.documents = documents
        self.sent = multiprocessing.get_context("spawn").RawArray("d", documents)

    def publish(self, rate: float, *, connections: int = 8) -> None:
        """Publishes all documents, one a request, so many in a second."""
        began = time.monotonic()

        def some(first: int) -> None:
            with closing(HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)) as connection:
                for number in range(first, self.documents, connections):
                    time.sleep(max(0.0, began + number / rate - time.monotonic()))
                    self._send(connection, [number])

        threads = [threading.Thread(target=some, args=(n,)) for n in range(connections)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    def publish_some(self, first: int, last: int) -> bool:
        """Publishes documents from a number up to another in one request; whether it was
        answered."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)) as connection:
            try:
                self._send(connection, range(first, last))
            except (OSError, HTTPException):
                return False
        return True

    def _send(self, connection: HTTPConnection, numbers: Sequence[int]) -> None:
        now = time.monotonic()
        for number in numbers:
            self.sent[number] = now
        body = "".join(json.dumps(_item(number)) + "\n" for number in numbers)
        headers = {"Content-Type": "application/x-ndjson"}
        connection.request("POST", "/streams/S", body.encode(), headers)
        answer = connection.getresponse()
        reported = answer.read()
        assert answer.status == 200, reported
        outcome = json.loads(reported)
        assert outcome["taken"] + outcome["duplicates"] == len(numbers), reported


@contextlib.contextmanager
def stopped(port: int) -> Iterator[None]:
    """A reader of all matches that never reads, with the smallest possible buffer for them."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        connection.connect(("127.0.0.1", port))
        connection.sendall(b"GET /matches?live=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        yield


class Reading:
    """Readers at work; `account` waits until they have all."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def account(self) -> Account:
        """What they have had."""
        return Account(*self._pipe.recv())


@contextlib.contextmanager
def reading(publisher: Publisher, readers: int) -> Iterator[Reading]:
    """Readers of all matches of what is going to be published."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    arguments = publisher.port, publisher.documents, readers, publisher.sent, theirs
    process = spawn.Process(target=_read_all, args=arguments)
    process.start()
    theirs.close()
    try:
        assert ours.recv() == "ready"
        yield Reading(ours)
    finally:
        process.kill()
        process.join()
        ours.close()


def _read_all(port: int, documents: int, readers: int, sent: Any, pipe: Connection) -> None:
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("GET", "/matches?limit=1")
        place = json.loads(connection.getresponse().read())["next"]
    all_ = [_Reader(port, place, _matches(documents), sent) for _ in range(readers)]
    asyncio.run(_until_all_have_all(all_, pipe))
    pipe.send(
        (
            readers,
            sum(one.expected - len(one.had) for one in all_),
            sum(one.twice for one in all_),
            sum(one.connected - 1 for one in all_),
            array("d", (delay for one in all_ for delay in one.delays)),
        )
    )


async def _until_all_have_all(readers: Sequence[_Reader], pipe: Connection) -> None:
    reading = [asyncio.create_task(one.read()) for one in readers]
    while not all(one.connected for one in readers):
        await asyncio.sleep(0.01)
    pipe.send("ready")
    heard = time.monotonic()
    while any(len(one.had) < one.expected for one in readers):
        await asyncio.sleep(0.05)
        heard = max(heard, *(one.heard for one in readers))
        if time.monotonic() > heard + _PATIENCE:
            break
    # What comes twice may come last.
    await asyncio.sleep(0.3)
    for one in reading:
        one.cancel()
    await asyncio.gather(*reading, return_exceptions=True)


_parsed: dict[bytes, tuple[int, int]] = {}
"""The documents of a match by their numbers, of each event that a reader had."""


class _Reader:
    def __init__(self, port: int, place: str, expected: int, sent: Any) -> None:
        self.port = port
        self.place = place.encode()
        self.expected = expected
        self.sent = sent
        self.connected = 0
        self.had: set[tuple[int, int]] = set()
        self.twice = 0
        self.heard = 0.0
        self.delays = array("d")

    async def read(self) -> None:
        while True:
            with contextlib.suppress(OSError):
                await self._read_once()
            await asyncio.sleep(0.05)

    async def _read_once(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22)
        try:
            writer.write(
                b"GET /matches?query=links HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                b"Accept: text/event-stream\r\nLast-Event-ID: %b\r\n\r\n" % self.place
            )
            retained = b""
            while data := await reader.read(1 << 16):
                if not retained and data.startswith(b"HTTP/1.1 200"):
                    self.connected += 1
                whole, end, retained = (retained + data).rpartition(b"\n\n")
                self._take(whole + end)
        finally:
            writer.close()

    def _take(self, events: bytes) -> None:
        now = time.monotonic()
        for id, data in _EVENT.findall(events):
            self.heard = now
            if id not in _parsed:
                first, second = map(int, json.loads(data)["documents"])
                _parsed[id] = first, second
            pair = _parsed[id]
            self.twice += pair in self.had
            self.had.add(pair)
            self.delays.append(now - max(self.sent[number] for number in pair))
            self.place = id
