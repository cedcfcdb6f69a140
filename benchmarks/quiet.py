"""Whether the machine has nothing else to do: waits until it is quiet, and watches what other
processes take while something is measured.

What others take is read from /proc: the time that processors were busy, without that of the
processes below this one.  The load average would count the measurement, and for minutes the one
before it; and what a shell has waited for is in its own time, however long ago it ran.
"""

from __future__ import annotations

import os
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


def busy() -> int:
    """The clock ticks that all processors have been busy, since the machine started."""
    user, nice, system, _, _, *interrupts = Path("/proc/stat").read_text().split()[1:8]
    return sum(map(int, (user, nice, system, *interrupts)))


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
    """What other processes take while it is open.

    >>> with Watch() as watch:
    ...     _ = sum(range(1_000))
    >>> watch.cores >= 0
    True
    """

    def __init__(self) -> None:
        self._began = self._now()
        self._ended: tuple[float, int] | None = None

    def __enter__(self) -> Watch:
        self._began = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = self._now()

    @property
    def cores(self) -> float:
        """How many cores the others kept busy, on average."""
        began, before = self._began
        ended, after = self._ended or self._now()
        return max(0, after - before) / os.sysconf("SC_CLK_TCK") / max(ended - began, 1e-9)

    def _now(self) -> tuple[float, int]:
        return time.monotonic(), self.others()

    @staticmethod
    def others() -> int:
        """The ticks of what is neither below this process nor the kernel's."""
        parents, taken = ticks()
        own = below(os.getpid(), parents) | below(KERNEL, parents)
        # What of it has ended is in the ticks of its parent.
        return busy() - sum(taken.get(process, 0) for process in own)
