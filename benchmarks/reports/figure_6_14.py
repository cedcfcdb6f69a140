"""Figure 6.14: view materialisation over two-level documents."""

from __future__ import annotations

from benchmarks.materialisation import costs, report
from benchmarks.report import Report
from benchmarks.scale import Scale
from datasets import two_level


def run(scale: Scale) -> Report:
    title = "Figure 6.14: view materialisation, two levels"
    return report("figure_6_14", title, costs(two_level(), scale), scale)
