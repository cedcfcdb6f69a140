"""When documents that were published one by one are written to a state file: together.

Writing a transaction takes milliseconds, however little is in it.  So a document may wait for those
that come after it, for a bounded time; where none comes, a thread of its own writes what waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from xscl.times import duration, to_seconds

__all__ = ["GroupCommit", "seconds_of"]

_MOST = 10_000
"""So many documents wait at most."""

_LONGEST = 3_600.0


def seconds_of(every: float | str) -> float:
    """The seconds for which a document may wait, of a number or text; raises ValueError."""
    length = duration(every if isinstance(every, str) else f"{every:f}")
    if length is None or to_seconds(length) > _LONGEST:
        raise ValueError(f"{every!r} is more than an hour, and a crash loses what waits")
    return to_seconds(length)


class GroupCommit:
    """Changes wait for `every` seconds at most; `late` is called, from a thread of its own, when
    nobody has written them by then.  All else is called by one thread at a time."""

    def __init__(self, every: float, late: Callable[[], None]) -> None:
        self._every = every
        self._late = late
        self._due: float | None = None
        self._timer: threading.Timer | None = None

    @property
    def waits(self) -> bool:
        """Whether there are changes that wait."""
        return self._due is not None

    def may_wait(self, documents: int) -> bool:
        """Whether a change that was just made may wait, with so many documents."""
        now = time.monotonic()
        if self._due is None:
            self._due = now + self._every
        if documents >= _MOST or now >= self._due:
            return False
        if self._timer is None:
            self._begin(self._every)
        return True

    def written(self) -> None:
        """All changes are written."""
        self._due = None

    def is_due(self) -> bool:
        """Whether what waits is to be written now, after `late` was called; if not yet, it is
        called again."""
        self._timer = None
        if self._due is None:
            return False
        left = self._due - time.monotonic()
        if left > 0:
            try:
                self._begin(left)
            except RuntimeError:
                # The interpreter ends, and starts no thread any more.
                return True
        return left <= 0

    def stop(self) -> None:
        """Calls `late` no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin(self, seconds: float) -> None:
        # It is no daemon: a process that ends without closing its engine waits for it.
        self._timer = threading.Timer(seconds, self._late)
        self._timer.name = "xscl-commit"
        self._timer.start()
