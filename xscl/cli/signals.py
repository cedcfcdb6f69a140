"""How what goes on for ever ends: in order by an interrupt, at once by a second one."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

__all__ = ["ended_by_signals"]


@contextlib.contextmanager
def ended_by_signals(ends: Sequence[Callable[[], None]]) -> Iterator[threading.Event]:
    """An interrupt or a termination ends what goes on in order, a second one at once."""
    stopped, at_once = threading.Event(), threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():
            at_once.set()
            raise KeyboardInterrupt
        stopped.set()
        for end in ends:
            end()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    except Exception as error:
        if at_once.is_set():
            # DuckDB, in a statement, makes another exception of it.
            raise KeyboardInterrupt from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
