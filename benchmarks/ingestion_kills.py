"""What an ingestion loses when it is killed, over and over: nothing that was spooled.

`xscl ingest` reads 3,000 items that scroll through ten short feeds on loopback servers.  It is
killed by SIGKILL at 20 seeded moments, the driver with Java and all workers together, in the midst
of either job, and continues.  At the end each item of a spooled body must be in the output exactly
once; what scrolled off before is counted separately.

    python benchmarks/ingestion_kills.py [--kills 20] [--items 3000] [--seed 6]
"""

from __future__ import annotations

import argparse
import itertools
import platform
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.xscl.spark.kills import Kill, killed, moments
from tests.xscl.spark.scrolling_feeds import ScrollingFeeds

RATE = 20.0
SHOWN = 5
LAPSE = 100
"""Items a second, in a feed, and between a kill and the next start at most."""

ROW = "{:>4}  {:<7}  {:>5}  {:<6}  {:>9}  {:>7}  {:>6}  {:>5}  {:>4}"
COLUMNS = "kill", "stage", "after", "run", "processes", "spooled", "landed", "items", "open"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--items", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=6)
    arguments = parser.parse_args()
    feeds = ScrollingFeeds(arguments.items, RATE, shown=SHOWN)
    at = moments(arguments.kills, seed=arguments.seed, once=arguments.kills // 5)
    started = time.perf_counter()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(ROW.format(*COLUMNS))
    numbers = itertools.count(1)
    with tempfile.TemporaryDirectory() as folder:
        account = killed(
            Path(folder),
            feeds,
            at,
            lapse=LAPSE,
            seed=arguments.seed,
            on_kill=lambda kill: print(line(next(numbers), kill), flush=True),
        )
    print(f"{account}; {time.perf_counter() - started:,.0f} s")
    for fault in account.faults:
        print(f"WRONG: {fault}")
    print(f"spooled items that are in the output exactly once: {'NO' if account.faults else 'all'}")
    return 1 if account.faults or account.total != arguments.items else 0


def line(number: int, kill: Kill) -> str:
    """When a kill was, and how far the ingestion was then."""
    return ROW.format(
        number,
        kill.moment.stage,
        f"{kill.moment.delay:.2f}",
        "once" if kill.moment.once else "going",
        kill.processes,
        kill.spooled,
        kill.landed,
        kill.items,
        kill.open_batches,
    )


if __name__ == "__main__":
    sys.exit(main())
