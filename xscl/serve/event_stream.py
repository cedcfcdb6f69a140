"""Server-sent events of a journal: a response that continues until its reader or the server ends
it.

An event is encoded once for all readers that are at one place.  A reader that is slow keeps nobody
waiting: its place only lags behind.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from xscl.serve.found.journal import Journal
from xscl.serve.summarised import Lines

__all__ = ["EventStream", "News"]

_HEARTBEAT = 15.0
"""Seconds after which a comment is sent, so that all on the way know that the connection lives."""

_SHARE = 0.00015
"""Seconds of a pause for each reader, before all are sent what has come: a multiple of what that
costs, so that much that comes together is sent together, and time is left for other requests."""

_AT_ONCE = 500
"""Events that are sent at a time."""

_LOST = b'event: lost\ndata: {"lost": %b}\n\n'
"""What is requested and no longer retained: how many, null where that is not known."""

_RETRACTION = b"event: retraction\n"

_CHUNKS = 32
"""Chunks of events that are remembered for the next reader, of those who are at one place."""


class News:
    """Wakes the readers of a journal, in an event loop; `end` ends all of them.  `summarised` makes
    the lines of those who want summaries."""

    def __init__(self, journal: Journal, summarised: Lines) -> None:
        self.journal = journal
        self._summarised = summarised
        self.ended = False
        self.readers = 0
        self.beats = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._come = asyncio.Event()
        self._told = False
        self._woken = 0.0
        self._chunks: dict[tuple[int, int, frozenset[str], bool], tuple[bytes, int]] = {}
        journal.listen(self._tell)

    async def beat(self) -> None:
        """Wakes readers in the loop that is running, from now on."""
        self._loop = asyncio.get_running_loop()
        while not self.ended:
            await asyncio.sleep(_HEARTBEAT)
            self.beats += 1
            self._wake()

    def end(self) -> None:
        """Ends all readers; from any thread, and from a signal handler."""
        self.ended = True
        self._told = False
        self._tell()

    async def wait(self, number: int, beats: int) -> None:
        """Waits until there is more than a number of matches, or of beats, or the end has come."""
        if self.journal.newest <= number and self.beats <= beats and not self.ended:
            await self._come.wait()

    async def chunk(self, number: int, queries: frozenset[str], summary: bool) -> tuple[bytes, int]:
        """The events after a number as bytes, with summaries or without, and the number after
        them."""
        key = number, self.journal.newest, queries, summary
        made = self._chunks.get(key)
        if made is None:
            if self.journal.is_at_hand(number) and not summary:
                made = self._encoded(number, queries, summary)
            else:
                made = await run_in_threadpool(self._encoded, number, queries, summary)
            if len(self._chunks) < _CHUNKS:
                self._chunks[key] = made
        return made

    def _encoded(self, number: int, queries: frozenset[str], summary: bool) -> tuple[bytes, int]:
        page, life = self.journal.after(number, queries, _AT_ONCE), self.journal.life.encode()
        entries = page.entries
        lines = self._summarised(entries) if summary else [one.line for one in entries]
        # A line of JSON ends in a line feed, and has no other.
        events = [
            b"%bid: %b-%d\ndata: %b\n" % (_RETRACTION * one.retracts, life, one.number, line)
            for one, line in zip(entries, lines, strict=True)
        ]
        if page.lost:
            events.insert(0, _LOST % b"%d" % page.lost)
        return b"".join(events), page.after

    def _tell(self) -> None:
        if self._loop is None or self._told:
            return
        self._told = True
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._wake_in_time)

    def _wake_in_time(self) -> None:
        """Wakes readers now, or when it is time again."""
        assert self._loop is not None
        wait = self._woken + _SHARE * self.readers - self._loop.time()
        if wait <= 0 or self.ended:
            self._wake()
        else:
            self._loop.call_later(wait, self._wake)

    def _wake(self) -> None:
        self._told = False
        self._woken = asyncio.get_running_loop().time()
        self._chunks.clear()
        come, self._come = self._come, asyncio.Event()
        come.set()


class EventStream(Response):
    """The events after a number, of some queries, or without any of all, with summaries or without;
    `restarted` for one who asked for those after a place that is none in the journal."""

    media_type = "text/event-stream"

    def __init__(
        self,
        news: News,
        after: int,
        queries: frozenset[str],
        *,
        summary: bool = False,
        restarted: bool,
    ) -> None:
        super().__init__()
        del self.headers["content-length"]
        self.headers["X-Accel-Buffering"] = "no"
        self._news = news
        self._after = after
        self._queries = queries
        self._summary = summary
        # Who waits for more than headers has a comment.
        self._first = _LOST % b"null" if restarted else b": xscl\n\n"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends events until the reader goes or the server ends."""
        self._news.readers += 1
        sending = asyncio.create_task(self._send(send))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait([sending, gone], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._news.readers -= 1
            gone.cancel()
            sending.cancel()
            await asyncio.gather(gone, sending, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        news, after, beats = self._news, self._after, self._news.beats
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        chunk, life = self._first, news.journal.life.encode()
        while not news.ended:
            if chunk:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await news.wait(after, beats)
            chunk, after = await news.chunk(after, self._queries, self._summary)
            if not chunk and news.beats > beats:
                # A sign of life; who asks for some queries learns how far the others have come.
                chunk = b"id: %b-%d\n\n" % (life, after)
            beats = news.beats
        await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
