"""Matches handed to something outside, one by one: several at a time, tried again until taken.

A match that the other side does not take waits, longer each time; while the other side takes none,
all wait, and one after another is tried.  Where a state file has the matches, that continues for as
long as the run does, and those that are too many wait there alone; else, and when the run is to
end, a match is given up after some tries.  So one may be handed over twice, never with another id,
and of each the outcome is known.  What is of one match goes one after the other: that it is taken
back after the match, and the match again, where it holds once more, after that.
"""

from __future__ import annotations

import heapq
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

__all__ = ["PACE", "Deliveries", "Delivery", "NotDelivered", "Pace", "Parcel"]

_WAITING = 1000
"""So many matches are in memory at most."""

_NOTICE = 0.5
"""For so many seconds a hurry may go unnoticed."""


class NotDelivered(Exception):
    """A match that the other side did not take, and why.

    `refused` is one that it will not take as it is; else it may be a moment's trouble, of any
    match.  `wait` is for how many seconds it asks to be left alone.
    """

    def __init__(self, problem: str, *, refused: bool = False, wait: float = 0.0) -> None:
        self.refused = refused
        self.wait = wait
        super().__init__(problem)


class Delivery(Protocol):
    """Hands one match over, by its id and as JSON; raises NotDelivered.  Called from several
    threads."""

    def __call__(self, match: str, body: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How many seconds pass from the first try to the second, twice as many to each that follows,
    but not more than `longest`; and after how many tries a match may be given up."""

    first: float = 1.0
    longest: float = 60.0
    tries: int = 8

    def pause(self, tries: int) -> float:
        """The seconds after so many tries, in all two minutes or more before the last one."""
        return min(self.first * 2.0 ** min(tries - 1, 60), self.longest) * random.uniform(1.0, 1.25)


PACE = Pace()


class Parcel(NamedTuple):
    """A match to be handed over, by its id and JSON form; `number` is that of the state file, which
    grows from match to match.

    One of the two is called in the end, from any thread: `done` once it is handed over, `given_up`,
    with the reason, if it is not tried again.
    """

    match: str
    body: str
    done: Callable[[], object]
    given_up: Callable[[str], object]
    number: int = 0


@dataclass(slots=True, order=True)
class _Waiting:
    """A match that waits, from the moment `due` (monotonic seconds) on for its turn."""

    due: float
    number: int
    parcel: Parcel = field(compare=False)
    tries: int = field(default=0, compare=False)
    refused: bool = field(default=False, compare=False)
    problem: str = field(default="", compare=False)


class Deliveries:
    """Matches on their way, `at_once` at a time.

    `on_failure` gets, from any thread, the id of each match that is not taken at the first try,
    and the reason.  Where a state file has the matches, `kept` reads those after a number, so many
    at most, or raises NotDelivered; `last` is then the greatest number that was put or read.
    """

    def __init__(
        self,
        deliver: Delivery,
        on_failure: Callable[[str, str], object],
        *,
        kept: Callable[[int, int], Sequence[Parcel]] | None = None,
        at_once: int = 4,
        pace: Pace | None = None,
    ) -> None:
        self._deliver = deliver
        self._on_failure = on_failure
        self._kept = kept
        self._pace = pace or PACE
        self._changed = threading.Condition()
        self._queue: list[_Waiting] = []
        self._behind: dict[str, deque[Parcel]] = {}
        """By the id of a match that is queued or under way, what comes after it."""
        self._held = 0
        self.last = -1
        # Whether the state file may have matches after the last one.
        self._more = False
        self._number = 0
        self._under_way = 0
        self._failures = 0
        self._problem = "there was no time to try"
        self._failed_at = self._open_at = 0.0
        self._failed_before = 0
        self._closing = self._hurrying = self._sorted_out = False
        self._threads = [
            threading.Thread(target=self._work, name=f"xscl-deliveries-{number}", daemon=True)
            for number in range(at_once)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, parcel: Parcel) -> None:
        """Hands a match over as soon as it is its turn; waits while too many do.  Where they are
        kept and the other side takes none, it does not wait: the match is read when there is room.
        """
        with self._changed:
            while not self._more and len(self._queue) + self._under_way + self._held >= _WAITING:
                if self._hurrying:
                    self._stir()
                if self._kept and (self._failures or self._hurrying):
                    self._more = True
                else:
                    self._changed.wait(_NOTICE)
            if not self._more and (not self._kept or parcel.number > self.last):
                self._push(parcel)

    def put_kept(self) -> None:
        """Hands over all that is kept and was not put."""
        with self._changed:
            self._more = True
            self._changed.notify_all()

    def hurry(self) -> None:
        """Lets no match be tried more than once from now on; a signal handler may call it."""
        # Without the lock: its owner may wait for what the interrupted thread has.
        self._hurrying = True

    def close(self) -> None:
        """Waits until all matches are handed over, or have been given up."""
        with self._changed:
            self._closing = True
            self._stir()
        for thread in self._threads:
            while thread.is_alive():
                thread.join(_NOTICE)
                if self._hurrying:
                    with self._changed:
                        self._stir()

    def _push(self, parcel: Parcel) -> None:
        self.last = parcel.number
        behind = self._behind.get(parcel.match)
        if behind is not None:
            behind.append(parcel)
            self._held += 1
            return
        self._behind[parcel.match] = deque()
        self._line_up(parcel)

    def _line_up(self, parcel: Parcel) -> None:
        heapq.heappush(self._queue, _Waiting(0.0, self._number, parcel))
        self._number += 1
        self._changed.notify_all()

    def _follow(self, match: str) -> None:
        """What is next of a match that was handed over has its turn."""
        behind = self._behind[match]
        if behind:
            self._held -= 1
            self._line_up(behind.popleft())
        else:
            del self._behind[match]

    def _read_more(self) -> None:
        """Queues matches that are kept, where there is room; none any more if all that were
        tried at the end have failed."""
        in_vain = self._hurrying or (self._closing and self._failures)
        room = _WAITING // 2
        if not self._more or in_vain or len(self._queue) + self._held > room or self._kept is None:
            return
        try:
            parcels = self._kept(self.last, room)
        except NotDelivered:
            # They stay where they are, for the next run.
            self._kept = None
            return
        self._more = len(parcels) == room
        for parcel in parcels:
            self._push(parcel)

    def _work(self) -> None:
        while (waiting := self._next()) is not None:
            began = time.monotonic()
            try:
                self._deliver(waiting.parcel.match, waiting.parcel.body.encode())
            except NotDelivered as error:
                self._failed(waiting, error, began)
            except Exception as error:
                # Whatever it is, the match is not delivered; what it says may hold a password.
                problem = f"{type(error).__name__} while it was handed over"
                self._failed(waiting, NotDelivered(problem, refused=True), began)
            else:
                waiting.parcel.done()
                self._succeeded(waiting.parcel.match)

    def _next(self) -> _Waiting | None:
        """The next match to try, when it is its turn; None when there will be none any more."""
        with self._changed:
            while True:
                self._sort_out()
                self._read_more()
                if self._closing and not self._queue and not self._under_way:
                    self._changed.notify_all()
                    return None
                pause = None
                if self._queue and not (self._failures and self._under_way):
                    pause = max(self._queue[0].due, self._open_at) - time.monotonic()
                    if pause <= 0:
                        self._under_way += 1
                        return heapq.heappop(self._queue)
                self._changed.wait(pause)

    def _succeeded(self, match: str) -> None:
        with self._changed:
            self._under_way -= 1
            self._follow(match)
            self._failures, self._open_at = 0, 0.0
            self._changed.notify_all()

    def _failed(self, waiting: _Waiting, error: NotDelivered, began: float) -> None:
        if not waiting.tries:
            self._on_failure(waiting.parcel.match, str(error))
        with self._changed:
            now = time.monotonic()
            self._under_way -= 1
            waiting.tries += 1
            waiting.refused, waiting.problem = error.refused, str(error)
            asked = min(error.wait, self._pace.longest)
            if error.refused:
                waiting.due = now + self._pace.longest
            else:
                waiting.due = now + max(self._pace.pause(waiting.tries), asked)
                # Several that failed together are one failure of the other side.
                if began >= self._failed_at:
                    self._failures += 1
                    self._open_at = now + max(self._pace.pause(self._failures), asked)
                    self._failed_at = now
                self._failed_before, self._problem = self._number, str(error)
            heapq.heappush(self._queue, waiting)
            self._stir()

    def _stir(self) -> None:
        """Lets who waits look again, at what is not to be tried any more, too."""
        self._sorted_out = False
        self._changed.notify_all()

    def _sort_out(self) -> None:
        """Gives up what is not to be tried again."""
        if self._sorted_out:
            return
        self._sorted_out = True
        hopeful: list[_Waiting] = []
        for waiting in self._queue:
            if self._hopeless(waiting):
                behind = self._behind.pop(waiting.parcel.match)
                self._held -= len(behind)
                for parcel in (waiting.parcel, *behind):
                    parcel.given_up(waiting.problem or self._problem)
            else:
                hopeful.append(waiting)
        heapq.heapify(hopeful)
        self._queue = hopeful
        self._changed.notify_all()

    def _hopeless(self, waiting: _Waiting) -> bool:
        if self._hurrying and (waiting.tries or self._failures):
            return True
        if self._kept and not self._closing:
            return False
        # It was there when the other side failed for the last time that it may.
        down = self._failures >= self._pace.tries and waiting.number < self._failed_before
        return waiting.refused or waiting.tries >= self._pace.tries or down
