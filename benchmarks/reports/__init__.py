"""A module for each section of the book; each has `run`, which measures it.

>>> from benchmarks.reports import NAMES
>>> NAMES[0]
'sase_stacks'
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from benchmarks.report import Report
from benchmarks.scale import FULL, Scale

SASE = ("sase_stacks", "sase_tests", "sase_joins", "sase_plus")
"""SASE and SASE+, in a folder of their own."""
CAYUGA = ("event_speed", "figure_4_13", "figure_4_14", "figure_4_17", "figure_4_18")
RUMOR = ("figure_5_08", "figure_5_09", "figure_5_10")
EVENTS = (*CAYUGA, *RUMOR, "event_joins")
"""Chapters 4 and 5 of the thesis and what is beside these, in a folder of their own."""
JOINS = (
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
)
"""Chapter 6 of the thesis."""
NEXT = ("next_operators", "next_queries", "next_nodes", "next_fraud")
"""NEXT CEP, in a folder of their own."""
AUTOMATA = ("automata_ignorable", "automata", "automata_levels")
"""AFA."""
USERS = (
    "user_table",
    "growth",
    "peers",
    "pattern_peers",
    "feed_readers",
    "pattern_speed",
    "event_joins",
    "likeness",
    "likeness_quality",
    "personalised",
    "stage_one_items",
    "stage_one_patterns",
    "adversarial",
    "durability",
    "spark_joins",
    "spark_events",
)
"""What is in no paper: what users do, and beside which other engines."""
NAMES = (*SASE, *CAYUGA, *RUMOR, *JOINS, *NEXT, *AUTOMATA, *USERS)
"""In the order of the page: of the papers, then the rest."""

SIZES: dict[str, Scale] = {
    name: replace(FULL, limit=10, patience=60)
    for name in (*JOINS[1:], *RUMOR, "figure_4_13", "figure_4_14")
}
"""The sizes of sections that would take more than half an hour at the full one."""


def scale_of(name: str) -> Scale:
    """The size at which a section is measured for the book."""
    return SIZES.get(name, FULL)


def run(name: str, scale: Scale) -> Report:
    """Measures a section."""
    folders = {".sase": SASE, ".events": EVENTS, ".next_cep": NEXT}
    folder = next((one for one, names in folders.items() if name in names), "")
    report: Report = import_module(f"benchmarks.reports{folder}.{name}").run(scale)
    return report
