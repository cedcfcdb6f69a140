"""A guard against getting slow: what users do, reduced, as multiples of what is measured in the
same turns.

No ratio may exceed `MOST` times the one that is recorded in `guard.json`.  Only ratios of one run
are compared: the join by hand, or the floor, meets whatever else the machine does.  A row that
exceeds is measured once more, and the lesser ratio counts.

    python -m benchmarks --quick                   compares
    python -m benchmarks --quick --record-guard    records
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.report import Report, number

__all__ = ["MOST", "SECTIONS", "check", "write"]

RECORD = Path(__file__).with_name("guard.json")
MOST = 1.5
SECTIONS = ("user_table", "pattern_speed")
COLUMNS: Mapping[str, tuple[str, Callable[[float], float]]] = {
    "user_table": ("times by hand", lambda times: times),
    "pattern_speed": ("of the floor", lambda part: 1 / part),
}
"""For each section the column of its ratios, and how many times as long that is."""
UNGUARDED = {"items one by one, with a state file"}
"""Rows whose ratio is that of two transactions on the disk, and differs from machine to machine."""


def ratios(report: Report) -> dict[str, float]:
    """How many times as long each row takes as what is beside it, where there is something."""
    column, times = COLUMNS[report.name]
    found = {}
    for table in report.tables:
        if column in table.columns:
            place = table.columns.index(column)
            found |= {
                str(row[0]): times(cell)
                for row in table.rows
                if isinstance(cell := row[place], float) and row[0] not in UNGUARDED
            }
    return found


def exceeding(report: Report) -> dict[str, tuple[float, float]]:
    """The rows that exceed the record: what was measured, and what is recorded."""
    recorded = _recorded().get(report.name, {})
    return {
        name: (times, recorded[name])
        for name, times in ratios(report).items()
        if name in recorded and times > MOST * recorded[name]
    }


def check(report: Report, again: Callable[[str], Report] | None = None) -> bool:
    """Reports which rows exceed the record; returns whether none does.  `again` measures one row,
    by its name, once more."""
    exceeded = exceeding(report)
    if again:
        exceeded = {name: pair for name, pair in exceeded.items() if name in exceeding(again(name))}
    for name, (times, recorded) in exceeded.items():
        print(
            f"guard: {name}: {number(times)} times as long; recorded are {number(recorded)}, "
            f"at most {MOST} times that is allowed: EXCEEDED"
        )
    compared = len(ratios(report).keys() & _recorded().get(report.name, {}).keys())
    print(f"guard: {report.name}: {compared - len(exceeded)} of {compared} rows kept")
    return not exceeded


def write(report: Report) -> None:
    """Records the ratios of a section."""
    recorded = _recorded() | {
        report.name: {name: round(times, 2) for name, times in ratios(report).items()}
    }
    RECORD.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


def _recorded() -> dict[str, dict[str, float]]:
    recorded: dict[str, dict[str, float]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return recorded
