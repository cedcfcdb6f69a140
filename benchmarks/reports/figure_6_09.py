"""Figure 6.9: two-level documents, the number of leaves varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement, number
from benchmarks.scale import Scale
from benchmarks.sweep import DEFAULTS, between, cost, plot, table
from benchmarks.technical import Pair, measure
from datasets import random_joins, two_level

LEAVES = (4, 6, 8, 10, 12)


def run(scale: Scale) -> Report:
    pairs: dict[float, Pair] = {}
    for leaves in LEAVES:
        schema = two_level(leaves)
        pairs[leaves] = measure(schema, random_joins(schema, DEFAULTS), scale)
    growth = {way: cost(pairs, way, 12) / cost(pairs, way, 4) for way in ("Sequential", "MMQJP")}
    return Report(
        "figure_6_09",
        "Figure 6.9: two levels, number of leaves",
        f"{DEFAULTS:,} queries, Zipf 0.8. {scale.limits}",
        (table("leaves", pairs),),
        (plot("leaves", pairs),),
        tuple(
            Statement(
                "6.6.1, figure 6.9",
                f"{way} takes about 6 times as long at 12 leaves as at 4",
                between(3, ratio, 12),
                f"{number(ratio)} times",
            )
            for way, ratio in growth.items()
        ),
    )
