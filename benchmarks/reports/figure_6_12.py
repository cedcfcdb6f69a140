"""Figure 6.12: three-level documents, the greatest number of value joins varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement
from benchmarks.scale import Scale
from benchmarks.sweep import DEFAULTS, Sweep, cost, ends, plot, tables
from benchmarks.technical import measure
from datasets import random_joins, three_level

MOST = (2, 3, 4, 5)


def run(scale: Scale) -> Report:
    schema = three_level()
    pairs: Sweep = {
        most: measure(schema, random_joins(schema, DEFAULTS, most=most), scale) for most in MOST
    }
    sequential, mmqjp = (
        cost(pairs, way, 5) / cost(pairs, way, 2) for way in ("Sequential", "MMQJP")
    )
    here = [pairs[most].up_to_mirroring for most in MOST]
    return Report(
        "figure_6_12",
        "Figure 6.12: three levels, greatest number of value joins",
        f"{DEFAULTS:,} queries, Zipf 0.8, otherwise as in figure 6.11.",
        tables("K", pairs),
        (plot("K", pairs),),
        (
            Statement(
                "6.6.1, figure 6.12",
                "the time of MMQJP grows faster with K than that of Sequential",
                mmqjp > sequential if mmqjp == mmqjp else None,
                f"from K = 2 to 5: {ends(pairs, 'MMQJP', 5, 2)}, Sequential "
                f"{ends(pairs, 'Sequential', 5, 2)}",
            ),
            Statement(
                "6.6.1, figure 6.12",
                "there are 2, 6 and 20 templates for K = 2, 3 and 4",
                here[:3] == [2, 6, 20],
                f"{', '.join(map(str, here[:3]))}, mirror images as one",
            ),
            Statement(
                "6.6.1, figure 6.12",
                "there are 39 templates for K = 5",
                None,
                f"{here[3]}, mirror images as one: a draw, see table 6.3",
            ),
        ),
    )
