"""Named points of a run at which the process can be made to end, as by a power cut.

`XSCL_CRASH_AT=committed` in the environment kills the process the first time it is at the point of
this name, `committed:3` the third time.  What comes after must go on as if nothing had happened.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

__all__ = ["POINTS", "at"]

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

# Read once: a run is at a point several times a document.
_NAME, _, _TIME = os.environ.get("XSCL_CRASH_AT", "").partition(":")
_times: Counter[str] = Counter()


def at(point: str) -> None:
    """Says that the run is at a point."""
    if point == _NAME:
        _times[point] += 1
        if _times[point] == int(_TIME or 1):
            _end()


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
