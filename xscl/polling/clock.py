"""Time, as polling sees it: what it is, and waiting for an answer until some moment."""

from __future__ import annotations

import queue
import time
from typing import Protocol, TypeVar

__all__ = ["Clock", "SystemClock"]

Answered = TypeVar("Answered")


class Clock(Protocol):
    """Seconds since 1970 (UTC)."""

    def now(self) -> float:
        """The time."""
        ...

    def receive(
        self, answers: queue.SimpleQueue[Answered], until: float | None, under_way: int
    ) -> Answered | None:
        """The next answer, waited for until some moment (None: for ever); None if none came.
        `under_way` fetches will give one, sooner or later."""
        ...


class SystemClock:
    """The time of the machine."""

    def now(self) -> float:
        """The time."""
        return time.time()

    def receive(
        self, answers: queue.SimpleQueue[Answered], until: float | None, under_way: int
    ) -> Answered | None:
        """The next answer, or None at the moment given, or earlier if it is far off."""
        wait = None if until is None else min(max(until - time.time(), 0.0), 60.0)
        try:
            return answers.get(timeout=wait)
        except queue.Empty:
            return None
