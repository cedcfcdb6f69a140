"""Measures the book of figures, a section in a process of its own, and writes its two pages,
docs/performance.md and docs/figures.md.

    python -m benchmarks [--again] [--minutes M] [--anyway] [NAME …]
    python -m benchmarks --quick [--record-guard] [--limit SECONDS] [NAME …]
    python -m benchmarks user_table [--quick] [--against CHECKOUT] [--rows TEXT]

A section is measured at its size, on a machine that has nothing else to do, and recorded as JSON
with the commit of the product.  What is recorded for this commit is not measured again, so a run
that was ended goes on where it was, and results may be committed meanwhile.  `--quick` measures
reduced sizes, shows them, records nothing, and compares with the guard.  With `--page` nothing is
measured, and the pages are written again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import date
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks import guard, quiet, record, reports
from benchmarks.machine import description, product_commit
from benchmarks.pages import write_pages
from benchmarks.record import Record
from benchmarks.report import Report, markdown, number, statements_table
from benchmarks.scale import QUICK, Scale

DOCS = Path(__file__).parents[1] / "docs"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Measures the book of figures.")
    parser.add_argument("--quick", action="store_true", help="reduced sizes, and the guard")
    parser.add_argument("--limit", type=float, help="seconds after which a run is cut short")
    parser.add_argument("--again", action="store_true", help="also what is recorded already")
    parser.add_argument("--minutes", type=float, help="begin no section after so many minutes")
    parser.add_argument(
        "--anyway", action="store_true", help="on a busy machine, too; nothing is recorded"
    )
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
    parser.add_argument(
        "--record-guard", action="store_true", help="with --quick: record these ratios"
    )
    parser.add_argument("--page", action="store_true", help="write the pages, measure nothing")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the pages are written")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(reports.NAMES))
    arguments = parser.parse_args(words)
    if unknown := set(arguments.names) - set(reports.NAMES):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    if arguments.page:
        write_pages(arguments.docs)
    elif arguments.quick:
        return quick(arguments)
    else:
        return book(arguments)
    return 0


def quick(arguments: argparse.Namespace) -> int:
    """Shows reduced figures; returns 1 if a ratio exceeds what the guard has recorded."""
    kept = True
    scale = _asked(QUICK.with_limit(arguments.limit), arguments)
    for name in arguments.names or guard.SECTIONS:
        report = shown(name, scale)
        if name in guard.SECTIONS and not arguments.rows:
            if arguments.record_guard:
                guard.write(report)
            else:
                kept &= guard.check(report, partial(again, name, scale))
    return 0 if kept else 1


def again(name: str, scale: Scale, row: str) -> Report:
    """One row of a section, once more."""
    return shown(name, replace(scale, rows=row))


def book(arguments: argparse.Namespace) -> int:
    """Measures what is not recorded yet; returns 1 if something could not be recorded."""
    plots, commit = arguments.docs / "benchmarks", product_commit()
    done = {one.report.name for one in record.read(reports.NAMES, plots) if one.commit == commit}
    names = [
        name for name in arguments.names or reports.NAMES if name not in done or arguments.again
    ]
    recorded = not (arguments.rows or arguments.anyway)
    if recorded and names and commit.endswith("+"):
        print("the product differs from its last commit: commit it, or measure with --anyway")
        return 1
    began, missed = time.monotonic(), 0
    for name in names:
        if arguments.minutes and time.monotonic() - began > 60 * arguments.minutes:
            break
        if not arguments.anyway:
            quiet.wait(
                lambda cores: print(
                    f"others keep {cores:.2f} cores busy: waiting until it is below {quiet.BEGIN}"
                )
            )
        started = time.perf_counter()
        with quiet.Watch() as watch:
            report = shown(
                name, _asked(reports.scale_of(name).with_limit(arguments.limit), arguments)
            )
        if not recorded:
            continue
        if watch.cores > quiet.MOST:
            print(f"{name}: not recorded, as other processes took {number(watch.cores)} cores")
            missed += 1
            continue
        seconds = time.perf_counter() - started
        record.write(of_now(report, commit, watch.cores, seconds, arguments), plots)
        write_pages(arguments.docs)
    return 1 if missed else 0


def _asked(scale: Scale, arguments: argparse.Namespace) -> Scale:
    against = str(arguments.against.resolve()) if arguments.against else ""
    return replace(scale, against=against, rows=arguments.rows)


def shown(name: str, scale: Scale) -> Report:
    """Measures a section, and prints it."""
    started = time.perf_counter()
    report = in_own_process(name, scale)
    print(markdown(report))
    print(statements_table((statement, False) for statement in report.statements))
    print(f"\n({name}: {time.perf_counter() - started:.0f} s)\n", flush=True)
    return report


def of_now(
    report: Report, commit: str, load: float, seconds: float, arguments: argparse.Namespace
) -> Record:
    """A report with the circumstances of now."""
    limit = f" --limit {arguments.limit:g}" if arguments.limit else ""
    return Record(
        report=report,
        command=f"python -m benchmarks{limit} {report.name}",
        machine=description(),
        load=round(load, 3),
        commit=commit,
        date=date.today().isoformat(),
        seconds=round(seconds),
    )


def in_own_process(name: str, scale: Scale) -> Report:
    """Runs one benchmark in a process of its own, so that none inherits another's memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(reports.run, name, scale).result()


if __name__ == "__main__":
    sys.exit(main())
