"""Python's collector of cycles, asked for less: what an engine holds is in none.

Each time a quarter more is held than before, the collector looks at all of it again: with a
million documents that is a third of the time of a run, and the longest pause of a document.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

__all__ = ["collect_rarely", "leave_imported", "paused", "without_collecting"]

_THRESHOLDS = (100_000, 50, 1_000)

_left = Event()
"""Whether anything has been left to itself here: Python would walk over all of that to count it."""


def leave_imported() -> None:
    """Leaves all that there is now to itself without a look at it: of a command that has only just
    begun that is what it has imported, in which nothing is to be found."""
    _left.set()
    gc.freeze()


@contextmanager
def paused() -> Iterator[None]:
    """Looks for no cycles for a moment: for what makes much of which little stays."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def without_collecting() -> Iterator[None]:
    """Looks for no cycles meanwhile: for what makes much that stays, all at once.  It is old then,
    without a look at it, but where something else is left to itself for good."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not (_left.is_set() or gc.get_freeze_count()):
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def collect_rarely(*, again: bool = True) -> None:
    """Leaves all that there is now to itself, and looks for cycles rarely from now on.

    For programs whose main job is an engine, after its queries have been loaded: it is for the
    whole process.  The command line does so.  What was left to itself before is looked at `again`.
    """
    if again:
        gc.unfreeze()
    gc.collect()
    leave_imported()
    gc.set_threshold(*_THRESHOLDS)
    # What is frozen at the end is taken for leaked by extension modules, which say so.
    atexit.unregister(gc.unfreeze)
    atexit.register(gc.unfreeze)
