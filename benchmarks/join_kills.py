"""What a join on Spark loses or repeats when it is killed, over and over: nothing.

`xscl join` reads files of documents that come before each of its runs.  It is killed by SIGKILL at
20 seeded moments, the driver with Java and all workers together, and continues.  At the end its
matches and its dead letters must be those of an undisturbed engine, each once.

    python benchmarks/join_kills.py [--kills 20] [--documents 60] [--seed 17]
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

from tests.xscl.spark.join_kills import join_killed, join_moments
from tests.xscl.spark.kills import Moment

ROW = "{:>4}  {:<7}  {:>5}  {:<5}  {:>9}"
COLUMNS = "kill", "stage", "after", "run", "processes"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--seed", type=int, default=17)
    arguments = parser.parse_args()
    started = time.perf_counter()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(ROW.format(*COLUMNS))
    numbers = itertools.count(1)

    def on_kill(moment: Moment, processes: int) -> None:
        run = "once" if moment.once else "going"
        row = next(numbers), moment.stage, f"{moment.delay:.2f}", run, processes
        print(ROW.format(*row), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        account = join_killed(
            Path(folder),
            join_moments(arguments.kills, seed=arguments.seed),
            seed=arguments.seed,
            documents=arguments.documents,
            on_kill=on_kill,
        )
    print(f"{account.matches:,} matches; {time.perf_counter() - started:,.0f} s")
    for fault in account.faults:
        print(f"WRONG: {fault}")
    print(f"matches and dead letters in the output once each: {'NO' if account.faults else 'all'}")
    return 1 if account.faults else 0


if __name__ == "__main__":
    sys.exit(main())
