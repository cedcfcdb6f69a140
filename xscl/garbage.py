"""Runs Python's collector of cycles less often: the data of an engine have no cycles.

Each time the data have grown by a quarter, the collector visits all of them again: with a million
documents that is a third of the time of a run, and the longest pause of a document.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

__all__ = ["collect_rarely", "leave_imported", "leaving", "paused", "without_collecting"]

_THRESHOLDS = (100_000, 50, 1_000)

_left = Event()
"""Whether anything was frozen here: Python would iterate over all of it to count it."""


def leave_imported() -> None:
    """Freezes all current objects without visiting them: for a command that has only just begun
    these are its imports, which have no garbage."""
    _left.set()
    gc.freeze()


@contextmanager
def paused() -> Iterator[None]:
    """Looks for no cycles for a moment: for work that makes many objects of which few stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def leaving() -> Iterator[None]:
    """Looks for no cycles meanwhile, and freezes what is there at the end, without a visit: for the
    batches of a command that reads its input to the end, after `collect_rarely`.  What no cycle
    holds is freed as ever; of documents and matches none does."""
    with paused():
        yield
        leave_imported()


@contextmanager
def without_collecting() -> Iterator[None]:
    """Looks for no cycles meanwhile: for work that makes many objects that stay.  They count as old
    then, without a visit, unless something else was frozen for good."""
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
    """Freezes all current objects, and looks for cycles rarely from now on.

    For programs whose main job is an engine, after its queries have been loaded: it is for the
    whole process.  The command line does so.  Objects frozen before are visited `again`.
    """
    if again:
        gc.unfreeze()
    gc.collect()
    leave_imported()
    gc.set_threshold(*_THRESHOLDS)
    # Extension modules report objects that are frozen at the end as leaked.
    atexit.unregister(gc.unfreeze)
    atexit.register(gc.unfreeze)
