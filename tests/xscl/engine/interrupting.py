"""An interrupt at a chosen point of a call, as Ctrl-C may come.

No cycles are looked for meanwhile: what ends with those of earlier tests would be points, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import xscl
from tests.architecture.packages import PACKAGES
from xscl.garbage import paused

__all__ = ["interrupted_at", "points_of"]

_ROOT = Path(xscl.__file__).resolve().parent.parent
_OURS = tuple(f"{_ROOT / room}/" for room in PACKAGES)
"""Where the project's functions are: other code may be next to them, as in `.venv`, and does much
when it is first imported."""


def interrupted_at(point: int, call: Callable[[], object], event: str = "call") -> bool:
    """Makes a call in which KeyboardInterrupt is raised the n-th time that a function of ours
    begins (or, by `line`, that a line does); whether that has ended the call: some code, as that of
    a `__del__` or of a generator that is dropped half-way, lets nothing out."""
    count, done, ended = 0, False, False

    def trace(frame: FrameType, what: str, _: Any) -> Any:
        nonlocal count, done
        if not frame.f_code.co_filename.startswith(_OURS):
            return None
        if what == event and not done:
            count += 1
            if count > point:
                done = True
                sys.settrace(None)
                raise KeyboardInterrupt
        # Lines are many, and each would be a call of this.
        return trace if event == "line" else None

    def unraisable(what: Any) -> None:
        if not (done and what.exc_type is KeyboardInterrupt):
            hook(what)

    before, hook = sys.gettrace(), sys.unraisablehook
    sys.unraisablehook = unraisable
    try:
        with paused():
            sys.settrace(trace)
            call()
            sys.settrace(before)
    except KeyboardInterrupt:
        assert done
        ended = True
    finally:
        sys.settrace(before)
        sys.unraisablehook = hook
    return ended


def points_of(call: Callable[[], object]) -> int:
    """In how many points a call may be interrupted, as `interrupted_at` counts them."""
    count = 0

    def trace(frame: FrameType, what: str, _: Any) -> Any:
        nonlocal count
        count += what == "call" and frame.f_code.co_filename.startswith(_OURS)

    before = sys.gettrace()
    try:
        with paused():
            sys.settrace(trace)
            call()
            sys.settrace(before)
    finally:
        sys.settrace(before)
    return count
