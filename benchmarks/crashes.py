"""What a run loses when it is killed, over and over: nothing.

`xscl run --state` reads 40,000 documents and is killed by SIGKILL at 200 seeded moments, and, once
in each of its first transactions, at every named point of a run.  Each course of runs that comes to
its end must have found what an undisturbed one does, byte for byte, and its state the same numbers.

    python benchmarks/crashes.py [--kills 200] [--documents 40000] [--batch 2000] [--seed 8]
"""

from __future__ import annotations

import argparse
import platform
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.crash.harness import Course, Undisturbed, courses, moments
from xscl.durable.points import POINTS

TRANSACTIONS = 5
"""At how many of a point's first times a run is killed there."""

ROW = "{:<8}  {:>6}  {:>5}  {:>9}  {:<}"
COLUMNS = "killed", "course", "kills", "documents", "found"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--batch", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=8)
    arguments = parser.parse_args()
    started = time.perf_counter()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("plain", "points", "moments"):
            (folder / part).mkdir()
        plain = Undisturbed.of(folder / "plain", arguments.documents, arguments.batch)
        print(f"undisturbed: {len(plain.lines):,} matches, {plain.seconds:.1f} s")
        print(ROW.format(*COLUMNS))
        points = named_points(arguments.seed)
        faults, kills = _printed("points", plain, courses(plain, folder / "points", points))
        at = moments(arguments.kills, plain.seconds, arguments.seed)
        more, met = _printed("moments", plain, courses(plain, folder / "moments", at))
    faults += more
    print(f"{kills + met} kills, {time.perf_counter() - started:,.0f} s")
    for fault in faults:
        print(f"WRONG: {fault}")
    print(f"each match exactly once: {'NO' if faults else 'yes'}")
    return 1 if faults else 0


def named_points(seed: int) -> Sequence[str]:
    """Every point, at each of its first times, in a seeded order after the first one."""
    making, *rest = POINTS
    times = [f"{point}:{time}" for point in rest for time in range(1, TRANSACTIONS + 1)]
    # A run is made once, and ends once.
    once = [one for one in times if not one.startswith(("opened", "before close"))]
    random.Random(seed).shuffle(once)
    return [making, "opened", *once, "before close"]


def _printed(how: str, plain: Undisturbed, found: Iterable[Course]) -> tuple[list[str], int]:
    """Prints courses as they end; returns what is wrong, and how many kills they met."""
    faults, kills = [], 0
    for number, course in enumerate(found, 1):
        wrong = course.faults(plain)
        faults += wrong
        kills += len(course.kills)
        last = course.kills[-1] if course.kills else 0
        verdict = "WRONG" if wrong else "as undisturbed"
        print(ROW.format(how, number, len(course.kills), f"{last:,}", verdict), flush=True)
    return faults, kills


if __name__ == "__main__":
    sys.exit(main())
