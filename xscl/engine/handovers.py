"""What transactions have written in groups, handed over in the order in which it was written, by
one thread at a time.

Whoever comes while another thread is at it leaves what is new to that thread: two at once would
report a retraction before its match, or be in one callback together.  As a callback may wait for a
lock of a thread that publishes, such a thread waits only while much is left, and not for long; one
that commits or closes waits until all is handed over that was written before.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

__all__ = ["PATIENCE", "HandOvers"]

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds for which a thread that publishes waits at a time, so that callbacks slow it down."""

_MOST = 2
"""So many groups may be left without making it wait."""


class HandOvers(Generic[T]):
    """A queue of groups of what `hand_over` gets one by one; `waiting` has the threads that wait
    for it."""

    def __init__(self, hand_over: Callable[[T], None], waiting: set[threading.Thread]) -> None:
        self._hand_over = hand_over
        self._waiting = waiting
        self._left: deque[Sequence[T]] = deque()
        # How many groups were ever put, and how many of them are handed over.
        self._put = self._done = 0
        self._by: threading.Thread | None = None
        self._changed = threading.Condition()

    @property
    def pending(self) -> bool:
        """Whether the calling thread has to hand over, or to wait for another one that does."""
        with self._changed:
            return self._done < self._put and self._by is not threading.current_thread()

    def put(self, group: Sequence[T]) -> None:
        """Adds what was written together."""
        with self._changed:
            self._left.append(group)
            self._put += 1

    def hand_over(self, patience: float | None = None) -> None:
        """Hands over what is there, or waits until another thread has; with a `patience`, only
        while much is left, and so many seconds at most.  In a callback it does nothing: what is
        new comes after the callback.

        Raises what a callback raises that is no `Exception`; what is left is dropped.
        """
        me = threading.current_thread()
        try:
            with self._changed:
                if self._by is me:
                    return
                until = self._put
                self._wait(me, until, patience)
                if self._by is not None or not self._left:
                    return
                self._by = me
            while (group := self._next(until)) is not None:
                for one in group:
                    self._hand_over(one)
                with self._changed:
                    self._done += 1
        except BaseException:
            with self._changed:
                if self._by is me:
                    self._left.clear()
                    self._done = self._put
                    self._end()
            raise

    def _wait(self, me: threading.Thread, until: int, patience: float | None) -> None:
        def goes_on() -> bool:
            if self._by is None or self._done >= until:
                return True
            return patience is not None and len(self._left) <= _MOST

        self._waiting.add(me)
        try:
            self._changed.wait_for(goes_on, patience)
        finally:
            self._waiting.discard(me)

    def _next(self, until: int) -> Sequence[T] | None:
        """The next group; None if there is none, or another thread waits to go on from here."""
        with self._changed:
            # Who waits also sees what was just handed over.
            self._changed.notify_all()
            if self._left and not (self._done >= until and self._waiting):
                return self._left.popleft()
            self._end()
            return None

    def _end(self) -> None:
        self._by = None
        self._changed.notify_all()
