"""Readings of processes' load, for the hybrid queries of the thesis' section 5.5.3.

Each process has a reading a second, in percent: a walk about a level of its own that now and then
begins a ramp, some twenty seconds of growth up to a peak, and falls back.  Everything is the same
for the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

__all__ = ["cpu_readings"]

PROCESSES = 104
RAMPS = 0.005
"""The probability that a process begins a ramp in a second."""


def cpu_readings(
    seconds: int, *, processes: int = PROCESSES, seed: int = 15
) -> Iterator[dict[str, Any]]:
    """Readings as envelopes of stream `CPU`, those of all processes at each second.

    >>> next(cpu_readings(1))["json"].keys()
    dict_keys(['pid', 'load'])
    """
    random = Random(seed)
    levels = [random.uniform(1, 20) for _ in range(processes)]
    loads, climbs = list(levels), [0.0] * processes
    for second in range(seconds):
        for pid in range(processes):
            load = loads[pid]
            if climbs[pid]:
                load += climbs[pid] * random.uniform(0.5, 1.5)
            else:
                load += 0.3 * (levels[pid] - load) + random.gauss(0, 1)
            if load >= 95 or (climbs[pid] and random.random() < 1 / 20):
                climbs[pid] = 0.0
            elif not climbs[pid] and random.random() < RAMPS:
                climbs[pid] = random.uniform(1, 5)
            loads[pid] = min(100.0, max(0.0, load))
            yield {
                "stream": "CPU",
                "id": f"cpu{second}-{pid}",
                "timestamp": second,
                "json": {"pid": pid, "load": round(loads[pid], 3)},
            }
