"""Runs the benchmarks, each in a process of its own, and writes docs/benchmarks.md.

    python -m benchmarks [--quick] [--docs docs] [NAME …]

With names, only these are run and printed, and nothing is written.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks import guard, page, reports
from benchmarks.report import Report, markdown, statements_table
from benchmarks.scale import FULL, QUICK, Scale

DOCS = Path(__file__).parents[1] / "docs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Runs the benchmarks.")
    parser.add_argument("--quick", action="store_true", help="reduced sizes, some five minutes")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the page is written")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(reports.NAMES))
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(reports.NAMES):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    scale = QUICK if arguments.quick else FULL
    measured = []
    for name in arguments.names or reports.NAMES:
        started = time.perf_counter()
        measured.append(apart(name, scale))
        print(markdown(measured[-1]))
        print(statements_table(measured[-1].statements) + "\n")
        print(f"({name}: {time.perf_counter() - started:.0f} s)\n", flush=True)
    if not arguments.names:
        page.write(measured, scale, arguments.docs)
    return 0 if guard.check() else 1


def apart(name: str, scale: Scale) -> Report:
    """Runs one benchmark in a process of its own, so that none inherits another's memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(reports.run, name, scale).result()


if __name__ == "__main__":
    sys.exit(main())
