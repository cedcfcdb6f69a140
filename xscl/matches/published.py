"""Iterators over published streams: each gets every match that is published while it is open.

Matches come from the thread that publishes documents and are buffered, in order, until a thread or
a task of any event loop reads them.  A waiter holds no match: it is only asked to look again, so
that a cancelled waiter, or one whose loop has ended, loses none.  The buffer is bounded.  When it
is full, the publishing thread waits, unless the reader is the same thread, which would wait for
itself.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from xscl.matches.match import Match

__all__ = ["MatchStream", "Streams"]

_BUFFERED = 1000
_PATIENCE = 0.05
"""After so many seconds a thread that waits for a reader checks whether there still is one."""


class MatchStream:
    """The matches of one published stream from now on, as an iterator: `for` waits for them in a
    thread, `async for` in a task.

    It ends when it is closed and the matches that it had are read; `with` and `async with` close
    it.  `len()` is the number of buffered matches.  Where there are 1,000, the publishing thread
    waits until one is read, or the stream is closed or dropped.  So close or drop a stream that you
    no longer read, and read several streams in a thread each.  The publishing thread does not wait
    for a reader (the thread that opened it, or read last) that is itself, has ended, or waits in
    `commit` or `close` of the engine: then the buffer has no bound.  Threads and tasks may share an
    iterator: each match then goes to one of them.  Waiting for a match in the thread that
    publishes, or by `for` in an event loop's, would wait for itself.
    """

    def __init__(
        self, name: str, awaited: set[MatchStream], waiting: Collection[threading.Thread]
    ) -> None:
        self.name = name
        self._awaited = awaited
        self._waiting = waiting
        self._matches: deque[Match] = deque()
        self._turns: set[asyncio.Future[None]] = set()
        self._closed = False
        self._reader = threading.current_thread()
        self.changed = threading.Condition()

    def __repr__(self) -> str:
        return f"<MatchStream {self.name!r}>"

    def __len__(self) -> int:
        return len(self._matches)

    def __bool__(self) -> bool:
        # A stream without buffered matches is still a stream.
        return True

    @property
    def closed(self) -> bool:
        """Whether it is closed: no more matches come, buffered ones can still be read."""
        return self._closed

    def take(self, match: Match) -> bool:
        """Adds a match, from any thread; False if the thread must wait for the reader, which
        `changed` notifies.  A closed stream takes no more matches, and makes no thread wait."""
        with self.changed:
            if self._closed:
                return True
            if len(self._matches) >= _BUFFERED and self._is_read_elsewhere():
                return False
            self._matches.append(match)
            self._wake()
            return True

    def close(self) -> None:
        """Ends the stream, from any thread; a second call has no effect."""
        with self.changed:
            self._closed = True
            self._wake()

    def __iter__(self) -> MatchStream:
        return self

    def __next__(self) -> Match:
        with self.changed:
            self._reader = threading.current_thread()
            while not self._matches:
                if self._closed:
                    raise StopIteration
                self.changed.wait()
            return self._next()

    def __aiter__(self) -> MatchStream:
        return self

    async def __anext__(self) -> Match:
        while True:
            with self.changed:
                self._reader = threading.current_thread()
                if self._matches:
                    return self._next()
                if self._closed:
                    raise StopAsyncIteration
                import asyncio

                turn = asyncio.get_running_loop().create_future()
                self._turns.add(turn)
                self._awaited.add(self)
            try:
                await turn
            finally:
                with self.changed:
                    self._turns.discard(turn)
                    if not self._turns:
                        self._awaited.discard(self)

    def __enter__(self) -> MatchStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> MatchStream:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _is_read_elsewhere(self) -> bool:
        if self._reader is threading.current_thread() or self._reader in self._waiting:
            return False
        return self._reader.is_alive()

    def _next(self) -> Match:
        if len(self._matches) == _BUFFERED:
            self.changed.notify_all()
        return self._matches.popleft()

    def _wake(self) -> None:
        """Asks all waiters to look again.

        All, since a chosen one might be cancelled or interrupted, or its loop stopped.
        """
        self.changed.notify_all()
        for turn in self._turns:
            # A closed loop has no tasks left to wake.
            with suppress(RuntimeError):
                turn.get_loop().call_soon_threadsafe(_begin, turn)
        self._turns.clear()
        self._awaited.discard(self)


class Streams:
    """The open iterators of an engine, by the name of their stream.

    It refers to them weakly, so that one is gone with its last reader.  It refers strongly to those
    that a task awaits, since an event loop, too, has only weak references to its waiting tasks.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[weakref.ref[MatchStream]]] = {}
        self._awaited: set[MatchStream] = set()
        self._lock = threading.RLock()
        self.waiting: set[threading.Thread] = set()
        """The threads that wait until matches are handed over, and read none meanwhile."""

    @property
    def are_open(self) -> bool:
        """Whether any iterator is open."""
        if not self._open:
            # True for most engines; the publishing thread need not take the lock for that.
            return False
        with self._lock:
            return any(self._living(name) for name in list(self._open))

    def open(self, name: str) -> MatchStream:
        """A new iterator over the stream of a name."""
        stream = MatchStream(name, self._awaited, self.waiting)
        with self._lock:
            for other in list(self._open):
                self._living(other)
            self._open.setdefault(name, []).append(weakref.ref(stream))
        return stream

    def publish(self, name: str, match: Match) -> None:
        """Adds a match to each open iterator over the stream of a name, when there is space."""
        with self._lock:
            streams = [weakref.ref(stream) for stream in self._living(name)]
        for ref in streams:
            while (stream := ref()) is not None and not stream.take(match):
                # A waiter does not hold the stream: its last reader may drop it, which wakes
                # nothing.
                changed = stream.changed
                del stream
                with changed:
                    changed.wait(_PATIENCE)

    def close(self) -> None:
        """Closes all iterators."""
        with self._lock:
            streams = [stream for name in list(self._open) for stream in self._living(name)]
            self._open.clear()
        for stream in streams:
            stream.close()

    def _living(self, name: str) -> list[MatchStream]:
        """The iterators of a name that still exist and are open; the others are removed."""
        found = [(ref, ref()) for ref in self._open.get(name, ())]
        living = [(ref, stream) for ref, stream in found if stream is not None]
        living = [(ref, stream) for ref, stream in living if not stream.closed]
        if living:
            self._open[name] = [ref for ref, _ in living]
        else:
            self._open.pop(name, None)
        return [stream for _, stream in living]


def _begin(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
