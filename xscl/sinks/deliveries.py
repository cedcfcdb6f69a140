"""Matches handed to something outside, one by one: several at a time, failures reported.

Handing over may take as long as the other side likes, so it goes on in threads; only so many
matches wait for it, then the engine does.  A match may be handed over twice (after a crash), never
with another id.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Protocol

__all__ = ["Deliveries", "Delivery", "NotDelivered"]

Done = Callable[[], object]

_WAITING = 1000


class NotDelivered(Exception):
    """A match that the other side did not take, and why."""


class Delivery(Protocol):
    """Hands one match over, as JSON; raises NotDelivered.  Called from several threads.

    Once `hurry` is set, the process is about to end, and nothing is to be tried again.
    """

    def __call__(self, match: str, body: bytes, hurry: threading.Event) -> None: ...


class Deliveries:
    """Matches on their way, `at_once` at a time.

    `on_failure` gets, from any thread, the id of each match that was not delivered, and the reason.
    """

    def __init__(
        self, deliver: Delivery, on_failure: Callable[[str, str], object], *, at_once: int = 4
    ) -> None:
        self._deliver = deliver
        self._on_failure = on_failure
        self._queue: queue.Queue[tuple[str, bytes, Done] | None] = queue.Queue(_WAITING)
        self._hurry = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, name=f"xscl-deliveries-{number}", daemon=True)
            for number in range(at_once)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, match: str, body: str, done: Done) -> None:
        """Hands a match, by its id and JSON form, over as soon as it is its turn; waits while too
        many do.  `done` is called, from any thread, once it is handed over or refused, but not if
        there was no time left to try again."""
        self._queue.put((match, body.encode(), done))

    def hurry(self) -> None:
        """Lets no match be tried more than once from now on; a signal handler may call it."""
        self._hurry.set()

    def close(self) -> None:
        """Waits until all matches are handed over, or have been given up."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (entry := self._queue.get()) is not None:
            match, body, done = entry
            try:
                self._deliver(match, body, self._hurry)
            except NotDelivered as error:
                self._on_failure(match, str(error))
                if self._hurry.is_set():
                    continue
            done()
