"""Figure 6.9: two-level documents, the number of leaves varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement
from benchmarks.scale import Scale
from benchmarks.sweep import DEFAULTS, between, cost, ends, plot, tables
from benchmarks.technical import Pair, measure
from datasets import random_joins, two_level

LEAVES = (4, 6, 8, 10, 12)


def run(scale: Scale) -> Report:
    pairs: dict[float, Pair] = {}
    for leaves in LEAVES:
        schema = two_level(leaves)
        pairs[leaves] = measure(schema, random_joins(schema, DEFAULTS), scale)
    growing = [
        Statement(
            "6.6.1, figure 6.9",
            f"{way} takes about 6 times as long at 12 leaves as at 4 (3 to 12 times)",
            between(3, cost(pairs, way, 12) / cost(pairs, way, 4), 12),
            ends(pairs, way, 12, 4),
        )
        for way in ("Sequential", "MMQJP")
    ]
    return Report(
        "figure_6_09",
        "Figure 6.9: two levels, number of leaves",
        f"{DEFAULTS:,} queries, Zipf 0.8, otherwise as in figure 6.8.",
        tables("leaves", pairs),
        (plot("leaves", pairs),),
        (
            *growing,
            Statement(
                "6.6.1, figure 6.9",
                "with more leaves there are more templates",
                all(pair.templates == leaves for leaves, pair in pairs.items()),
                ", ".join(f"{pair.templates} of {n} leaves" for n, pair in pairs.items()),
            ),
        ),
    )
