"""Whether the machine has nothing else to do: waits until it is quiet, and watches what other
processes take while something is measured.

What others take is read from /proc: the processor time of all processes that are not below this
one.  The load average would count the measurement, and for minutes the one before it.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["BEGIN", "MOST", "Watch", "below", "ticks", "wait"]

BEGIN = 0.2
"""A measurement begins when others keep fewer cores busy."""
MOST = 0.5
"""What took place while others kept more cores busy than this, on average, is not recorded."""
SECONDS = 5.0
KERNEL = 2
"""The process whose children are the threads of the kernel, which also work for a measurement."""


def wait(report: Callable[[float], object] = lambda load: None) -> None:
    """Returns when others have kept fewer than `BEGIN` cores busy for some seconds; reports how
    many they keep busy when it has to wait."""
    said = False
    while True:
        with Watch() as watch:
            time.sleep(SECONDS)
        if watch.cores < BEGIN:
            return
        if not said:
            report(watch.cores)
            said = True


def ticks() -> tuple[dict[int, int], dict[int, int]]:
    """Of each process its parent, and the clock ticks that it and its ended children have taken."""
    parents: dict[int, int] = {}
    taken: dict[int, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # It may have ended since.
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            parents[int(process.name)] = int(fields[1])
            taken[int(process.name)] = sum(map(int, fields[11:15]))
    return parents, taken


def below(process: int, parents: dict[int, int]) -> set[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = defaultdict(list)
    for child, parent in parents.items():
        children[parent].append(child)
    found, pending = set[int](), [process]
    while pending:
        found.add(one := pending.pop())
        pending += children[one]
    return found


class Watch:
    """While it is open, what other processes take is added up, every few seconds.

    >>> with Watch() as watch:
    ...     _ = sum(range(1_000))
    >>> watch.cores >= 0
    True
    """

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._began = self._until = 0.0
        self._ticks = 0
        self._seen: dict[int, int] = {}

    def __enter__(self) -> Watch:
        self._seen = self.others()
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._add()
        self._until = time.monotonic()

    @property
    def cores(self) -> float:
        """How many cores the others kept busy, on average."""
        seconds = (self._until or time.monotonic()) - self._began
        return self._ticks / os.sysconf("SC_CLK_TCK") / max(seconds, 1e-9)

    def _look(self) -> None:
        while not self._ended.wait(SECONDS):
            self._add()

    def _add(self) -> None:
        """What others have taken since the last look; of those that ended since, none is known."""
        now = self.others()
        self._ticks += sum(
            max(0, taken - self._seen.get(process, 0)) for process, taken in now.items()
        )
        self._seen = now

    @staticmethod
    def others() -> dict[int, int]:
        """The ticks of what is neither below this process, nor above it, nor the kernel's."""
        parents, taken = ticks()
        own = below(os.getpid(), parents) | below(KERNEL, parents)
        above = os.getpid()
        while above in parents:
            own.add(above)
            above = parents[above]
        return {process: number for process, number in taken.items() if process not in own}
