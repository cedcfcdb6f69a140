"""A guard against getting slow: what users do, reduced, as multiples of the join by hand.

No row may exceed twice the multiple that is recorded in `guard.json`.  What counts is the
processor's time, with the join by hand in the same turns: what else the machine does disturbs that
least.  `python -m benchmarks --quick` compares whenever it measures `user_table`.

    python -m benchmarks.guard --record    records what the page has, measured with --quick
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks import record
from benchmarks.report import Report, number

RECORD = Path(__file__).with_name("guard.json")
PLOTS = Path(__file__).parents[1] / "docs" / "benchmarks"
NAME = "user_table"
MOST = 2


def ratios(report: Report) -> dict[str, float]:
    """How many times as long as by hand each row takes, where there is a way by hand."""
    (table,) = report.tables
    times = table.columns.index("times by hand")
    return {str(row[0]): row[times] for row in table.rows if isinstance(row[times], float)}


def check(report: Report) -> bool:
    """Reports which rows exceed the record; returns whether none does."""
    recorded: dict[str, float] = json.loads(RECORD.read_text(encoding="utf-8"))
    measured = ratios(report)
    exceeded = [
        f"guard: {name}: {number(times)} times by hand; recorded are {number(recorded[name])}, at "
        f"most {MOST} times that is allowed: EXCEEDED"
        for name, times in measured.items()
        if times > MOST * recorded.get(name, float("inf"))
    ]
    compared = len(measured.keys() & recorded.keys())
    print("\n".join([*exceeded, f"guard: {compared - len(exceeded)} of {compared} rows kept"]))
    return not exceeded


def main() -> int:
    for one in record.read([NAME], PLOTS):
        if "--record" in sys.argv[1:] and one.reduced:
            rounded = {name: round(times, 2) for name, times in ratios(one.report).items()}
            RECORD.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")
            return 0
    print(f"the page has no {NAME} that was measured with --quick")
    return 1


if __name__ == "__main__":
    sys.exit(main())
