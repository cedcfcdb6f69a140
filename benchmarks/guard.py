"""A guard against getting slow: one small workload, its time as a multiple of the floor's.

It must not exceed twice the ratio that is recorded in `guard.json`.  What counts is the processor's
time, of all threads: what else the machine does disturbs that least.

    python -m benchmarks.guard             measures and compares
    python -m benchmarks.guard --record    measures and records
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks.engine import found, loaded
from benchmarks.measure import batches, floor, in_turn
from benchmarks.report import number
from datasets import ITEM, feed_stream, random_joins

RECORD = Path(__file__).with_name("guard.json")
ITEMS = 4_000
QUERIES = 500
BATCH = 1_000
ROUNDS = 3
MOST = 2


def ratio() -> float:
    """How many times the floor's time the workload takes: feed items under queries with windows
    of 7 days, from XML text to the number of matches, in a new engine each time."""
    documents = list(feed_stream(ITEMS))
    joins = random_joins(ITEM, QUERIES, window=7 * 86_400)
    engines = [loaded(ITEM, joins) for _ in range(ROUNDS)]

    def run() -> None:
        with engines.pop() as engine:
            for part in batches(documents, BATCH):
                found(engine, part)

    ways = {"floor": lambda: floor(documents), "engine": run}
    taken = in_turn(ways, ROUNDS, time.process_time, min)
    return taken["engine"] / taken["floor"]


def check() -> bool:
    """Measures and tells; whether the recorded ratio is kept."""
    recorded: float = json.loads(RECORD.read_text(encoding="utf-8"))["ratio"]
    measured = ratio()
    kept = measured <= MOST * recorded
    print(
        f"guard: {number(measured)} times the floor's time; recorded are {number(recorded)}, "
        f"at most {MOST} times that is allowed: {'kept' if kept else 'EXCEEDED'}"
    )
    return kept


def main() -> int:
    if "--record" in sys.argv[1:]:
        RECORD.write_text(json.dumps({"ratio": round(ratio(), 2)}) + "\n", encoding="utf-8")
        return 0
    return 0 if check() else 1


if __name__ == "__main__":
    sys.exit(main())
