"""Figure 6.12: three-level documents, the greatest number of value joins varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement, number
from benchmarks.scale import Scale
from benchmarks.sweep import DEFAULTS, Sweep, cost, plot, table
from benchmarks.technical import measure
from datasets import random_joins, three_level

THESIS = {2: 2, 3: 6, 4: 20, 5: 39}
"""The numbers of templates by K, as the thesis has them."""


def run(scale: Scale) -> Report:
    schema = three_level()
    pairs: Sweep = {
        most: measure(schema, random_joins(schema, DEFAULTS, most=most), scale) for most in THESIS
    }
    sequential, mmqjp = (
        cost(pairs, way, 5) / cost(pairs, way, 2) for way in ("Sequential", "MMQJP")
    )
    here = {most: pair.up_to_mirroring for most, pair in pairs.items()}
    return Report(
        "figure_6_12",
        "Figure 6.12: three levels, greatest number of value joins",
        f"{DEFAULTS:,} queries, Zipf 0.8. {scale.limits}",
        (table("K", pairs),),
        (plot("K", pairs),),
        (
            Statement(
                "6.6.1, figure 6.12",
                "the time of MMQJP grows faster with K than that of Sequential",
                mmqjp > sequential if mmqjp == mmqjp else None,
                f"from K = 2 to 5: {number(mmqjp)} times and {number(sequential)} times",
            ),
            Statement(
                "6.6.1, figure 6.12",
                "there are 2, 6, 20 and 39 templates for K = 2, 3, 4 and 5",
                here == THESIS,
                f"{', '.join(map(str, here.values()))}, mirror images as one; see table 6.3",
            ),
        ),
    )
