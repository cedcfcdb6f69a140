"""Figure 6.11: three-level documents, the number of queries varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement, number
from benchmarks.scale import Scale
from benchmarks.sweep import Sweep, between, cost, gain, goals, plot, table
from benchmarks.technical import measure
from datasets import random_joins, three_level


def run(scale: Scale) -> Report:
    schema = three_level()
    pairs: Sweep = {n: measure(schema, random_joins(schema, n), scale) for n in scale.queries}
    few, many = scale.queries[0], scale.many
    growth = {
        way: cost(pairs, way, many) / cost(pairs, way, few) for way in ("Sequential", "MMQJP")
    }
    ratio = cost(pairs, "Sequential", many) / cost(pairs, "MMQJP", many)
    templates = [pair.up_to_mirroring for pair in pairs.values()]
    return Report(
        "figure_6_11",
        "Figure 6.11: three levels, number of queries",
        f"Documents of 16 leaves under 4 nodes, K = 4, Zipf 0.8. {scale.limits}",
        (table("queries", pairs),),
        (plot("queries", pairs, log_x=True),),
        (
            *(
                Statement(
                    "6.6.1, figure 6.11",
                    f"the time of {way} grows more than linearly with the number of queries",
                    between(many / few, times) if scale.full else None,
                    f"{number(times)} times as long for {many // few:,} times as many",
                )
                for way, times in growth.items()
            ),
            Statement(
                "6.6.1, figure 6.11",
                "the templates increase from 6 to 22 from 10 to 100,000 queries",
                templates[0] == 6 and templates[-1] == 22 if scale.full else None,
                f"from {templates[0]} to {templates[-1]}, mirror images as one; see table 6.3",
            ),
            Statement(
                "6.6.1, figure 6.11",
                "MMQJP outperforms Sequential by two orders of magnitude at 100,000 queries",
                between(100, ratio) if scale.full else None,
                gain(pairs, many),
            ),
            *goals("figure 6.11", pairs, many),
        ),
    )
