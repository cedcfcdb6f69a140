"""Figure 6.11: three-level documents, the number of queries varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement
from benchmarks.scale import Scale
from benchmarks.sweep import Sweep, between, cost, ends, gain, goals, plot, tables
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
        f"A pair of documents of {len(schema.leaves)} leaves under 4 nodes, equal leaf by leaf. "
        "Queries of 1 to K = 4 value joins, the number drawn with Zipf 0.8.",
        tables("queries", pairs),
        (plot("queries", pairs, log_x=True),),
        (
            *(
                Statement(
                    "6.6.1, figure 6.11",
                    f"the time of {way} grows more than linearly with the number of queries",
                    between(many / few, times) if scale.full else None,
                    f"{ends(pairs, way, many, few)} for {many // few:,} times as many",
                )
                for way, times in growth.items()
            ),
            Statement(
                "6.6.1, figure 6.11",
                "there are 22 templates at 100,000 queries",
                templates[-1] == 22 if scale.full else None,
                f"{templates[-1]}, mirror images as one",
            ),
            Statement(
                "6.6.1, figure 6.11",
                "there are 6 templates at 10 queries",
                None,
                f"{templates[0]}, mirror images as one: a draw, see table 6.3",
            ),
            Statement(
                "6.6.1, figure 6.11",
                "MMQJP is 100 times as fast as Sequential at 100,000 queries",
                between(100, ratio) if scale.full else None,
                gain(pairs, many),
            ),
            *goals("figure 6.11", pairs, many),
        ),
    )
