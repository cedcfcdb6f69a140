"""Runs the benchmarks, each in a process of its own, and writes docs/benchmarks.md.

    python -m benchmarks [--quick] [--limit SECONDS] [--docs docs] [NAME …]
    python -m benchmarks user_table [--quick] [--against CHECKOUT] [--rows TEXT]

With names, only these are measured; the page has the others as they were measured before.  With
`--page` nothing is measured, and the page is written again.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import date
from multiprocessing import get_context
from os import getloadavg
from pathlib import Path

from benchmarks import guard, page, record, reports
from benchmarks.machine import commit, description
from benchmarks.record import Record
from benchmarks.report import Report, markdown, statements_table
from benchmarks.scale import FULL, QUICK, Scale

DOCS = Path(__file__).parents[1] / "docs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Runs the benchmarks.")
    parser.add_argument("--quick", action="store_true", help="reduced sizes, some five minutes")
    parser.add_argument("--limit", type=float, help="seconds after which a run is cut short")
    parser.add_argument(
        "--against",
        type=Path,
        help="another checkout, whose package user_table measures in turns with this one's",
    )
    parser.add_argument(
        "--rows",
        default="",
        metavar="TEXT",
        help="of user_table only the rows with this in their name; nothing is recorded",
    )
    parser.add_argument("--page", action="store_true", help="write the page, measure nothing")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the page is written")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(reports.NAMES))
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(reports.NAMES):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    scale = (QUICK if arguments.quick else FULL).with_limit(arguments.limit)
    against = str(arguments.against.resolve()) if arguments.against else ""
    scale = replace(scale, against=against, rows=arguments.rows)
    plots = arguments.docs / "benchmarks"
    if arguments.page:
        page.write(record.read(reports.NAMES, plots), arguments.docs)
        return 0
    kept = True
    for name in arguments.names or reports.BY_DEFAULT[scale.full]:
        started = time.perf_counter()
        report = in_own_process(name, scale)
        if not scale.rows:
            record.write(recorded(report, scale), plots)
            page.write(record.read(reports.NAMES, plots), arguments.docs)
        print(markdown(report))
        reduced = scale.reduces(report)
        print(statements_table((statement, reduced) for statement in report.statements))
        print(f"\n({name}: {time.perf_counter() - started:.0f} s)\n", flush=True)
        if name == guard.NAME and not (scale.full or scale.rows):
            kept = guard.check(report)
    return 0 if kept else 1


def recorded(report: Report, scale: Scale) -> Record:
    """A report with the circumstances of now."""
    named = report.name in reports.LARGE and not scale.full
    return Record(
        report,
        f"python -m benchmarks --quick {report.name}" if named else scale.command,
        description(),
        getloadavg()[0],
        commit(),
        date.today().isoformat(),
        scale.reduces(report),
    )


def in_own_process(name: str, scale: Scale) -> Report:
    """Runs one benchmark in a process of its own, so that none inherits another's memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(reports.run, name, scale).result()


if __name__ == "__main__":
    sys.exit(main())
