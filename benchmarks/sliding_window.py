"""Whether the state stays as large as its windows: counters and memory over a million feed items.

Feed items of 60 days, under queries with windows of 7 days and a lateness of one.  As feeds are,
they are not quite in order of time: one in twenty comes up to a day late, one feed falls silent
after its first week, and one item is dated 2099.  From two windows on, each counter of
`Engine.stats(exact=True)` and the resident memory must stay within 5 % of what they were then.

    python benchmarks/sliding_window.py [--items 1000000] [--queries 1000] [--batch 5000]
"""

from __future__ import annotations

import argparse
import heapq
import math
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import xscl
from xscl.samples import feed_stream, random_queries

DAY = 86_400
DAYS = 60
WINDOW = 7
LATENESS = 1
SAMPLES = 10
FLAT = 1.05

LATE = 0.05
ITEMS_OF_A_CHANNEL = 200
"""Over the 60 days: some 25 a week, as in the thesis' recording."""
SILENT = "http://channel000.example/"
YEAR_2099 = 4_070_908_800

Item = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--batch", type=int, default=5_000)
    arguments = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(
        f"{arguments.items:,} items of {DAYS} days, {arguments.queries:,} queries with windows of "
        f"{WINDOW} days, lateness {LATENESS} day, batches of {arguments.batch:,}"
    )
    steady: list[Mapping[str, int]] = []
    items = feed(arguments.items)
    started = time.perf_counter()
    with xscl.Engine(lateness=f"{LATENESS} day") as engine:
        engine.load(random_queries(arguments.queries, window=f"{WINDOW} days"))
        matches = 0
        for _ in range(SAMPLES):
            some = islice(items, math.ceil(arguments.items / SAMPLES))
            matches += engine.count(some, batch=arguments.batch).total()
            done = engine.documents + engine.skipped.total
            sample = {**counters(engine.stats(exact=True)), "memory_kb": resident()}
            print(f"{done:>9,} items: " + ", ".join(f"{k} {n:,}" for k, n in sample.items()))
            if done / arguments.items * DAYS >= 2 * WINDOW:
                steady.append(sample)
        seconds = time.perf_counter() - started
        skipped = engine.skipped.total
    print(f"{skipped:,} skipped, {matches:,} matches, {done / seconds:,.0f} docs/s")
    growing = not_flat(steady)
    for name in growing:
        print(f"not flat: {name}: " + ", ".join(f"{sample.get(name, 0):,}" for sample in steady))
    print(f"flat within 5 % after two windows: {'NO' if growing else 'yes'}")
    return 1 if growing else 0


def feed(items: int) -> Iterator[Item]:
    """The items, each when it comes: one in twenty up to a day after its timestamp."""
    random = Random(5)
    waiting: list[tuple[float, int, Item]] = []
    channels = max(2, items // ITEMS_OF_A_CHANNEL)
    first_day = None
    for number, item in enumerate(feed_stream(items, channels=channels, days=DAYS)):
        now = item["timestamp"]
        first_day = now if first_day is None else first_day
        if f"<channel_url>{SILENT}<" in item["xml"] and now >= first_day + 7 * DAY:
            continue
        if number == items // 20:
            item["timestamp"] = YEAR_2099
        late = random.random() * LATENESS * DAY if random.random() < LATE else 0
        heapq.heappush(waiting, (now + late, number, item))
        while waiting and waiting[0][0] <= now:
            yield heapq.heappop(waiting)[2]
    while waiting:
        yield heapq.heappop(waiting)[2]


def counters(stats: Mapping[str, Any]) -> dict[str, int]:
    """What the engine holds: the numbers of its stats, but for what it counts since its start."""
    return {
        name: value
        for name, value in stats.items()
        if isinstance(value, int) and name not in ("taken", "queries")
    }


def not_flat(samples: list[Mapping[str, int]]) -> list[str]:
    """The counters that grew by more than 5 % over the first of the samples."""
    first, *later = samples
    names = dict.fromkeys(name for sample in samples for name in sample)
    return [
        name
        for name in names
        if any(sample.get(name, 0) > FLAT * first.get(name, 0) for sample in later)
    ]


def resident() -> int:
    """The memory that the process has, in kilobytes (of Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


if __name__ == "__main__":
    sys.exit(main())
