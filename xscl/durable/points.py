"""Named points of a run at which the process can be made to end, as by a power cut.

`XSCL_CRASH_AT=committed` in the environment kills the process the first time it is at the point of
this name, `committed:3` the third time.  What comes after must continue as if nothing had happened.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

__all__ = ["POINTS", "at", "look"]

POINTS = (
    "making",
    "opened",
    "evaluated",
    "before output",
    "within output",
    "after output",
    "before commit",
    "within commit",
    "after commit",
    "before delivery",
    "after delivery",
    "before close",
)

_times: Counter[str] = Counter()
_chosen = ("", 0)


def look() -> None:
    """Looks up at which point the process is to end, and at which time: once for each engine, for
    a run is at a point several times a document."""
    global _chosen  # noqa: PLW0603 - of the process, as the environment is
    name, _, time = os.environ.get("XSCL_CRASH_AT", "").partition(":")
    _chosen = (name, int(time or 1))


def at(point: str) -> None:
    """Says that the run is at a point."""
    name, time = _chosen
    if point == name:
        _times[point] += 1
        if _times[point] == time:
            _end()


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
