"""A module for each figure, in the order of the page; each has `run`, which measures it.

>>> from benchmarks.reports import NAMES
>>> NAMES[0]
'user_table'
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.report import Report
from benchmarks.scale import Scale

NAMES = (
    "user_table",
    "table_6_3",
    "figure_6_08",
    "figure_6_09",
    "figure_6_10",
    "figure_6_11",
    "figure_6_12",
    "figure_6_13",
    "figure_6_14",
    "figure_6_15",
    "figure_6_16",
    "feed_rates",
    "stage_one_items",
    "stage_one_patterns",
    "personalised",
    "adversarial",
    "durability",
)


def run(name: str, scale: Scale) -> Report:
    """Measures the figure of a name."""
    report: Report = import_module(f"benchmarks.reports.{name}").run(scale)
    return report
