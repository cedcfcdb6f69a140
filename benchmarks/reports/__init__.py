"""A module for each figure, in the order of the page; each has `run`, which measures it.

>>> from benchmarks.reports import NAMES
>>> NAMES[1]
'user_table'
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.report import Report
from benchmarks.scale import Scale

FIRST = ("growth", "user_table", "peers", "feed_readers")
"""What the page begins with, for users."""
SASE = ("sase_stacks", "sase_tests", "sase_joins", "sase_plus")
"""The figures of SASE and SASE+, in a folder of their own."""
EVENTS = (
    "event_speed",
    "figure_4_13",
    "figure_4_14",
    "figure_4_17",
    "figure_4_18",
    "figure_5_08",
    "figure_5_09",
    "figure_5_10",
    "event_joins",
)
"""The figures of chapters 4 and 5 of the thesis, in a folder of their own."""
NEXT = ("next_operators", "next_queries", "next_nodes")
"""The figures of NEXT CEP, in a folder of their own."""
NAMES = (
    *FIRST,
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
    "stage_one_items",
    "stage_one_patterns",
    "personalised",
    "pattern_speed",
    "automata",
    "automata_levels",
    "automata_ignorable",
    "adversarial",
    "durability",
    "spark_joins",
    "spark_events",
    *SASE,
    *EVENTS,
    *NEXT,
)

LARGE = {"peers", "feed_readers", "spark_joins", "spark_events"}
"""Those that install or start much, and are measured at reduced size only when they are named."""
BY_DEFAULT = {True: NAMES, False: tuple(name for name in NAMES if name not in LARGE)}
"""What is measured where no name is given, at full size or not."""


def run(name: str, scale: Scale) -> Report:
    """Measures the figure of a name."""
    folders = {".sase": SASE, ".events": EVENTS, ".next_cep": NEXT}
    folder = next((one for one, names in folders.items() if name in names), "")
    report: Report = import_module(f"benchmarks.reports{folder}.{name}").run(scale)
    return report
