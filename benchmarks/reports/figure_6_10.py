"""Figure 6.10: two-level documents, the Zipfian parameter varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement, number
from benchmarks.scale import Scale
from benchmarks.sweep import DEFAULTS, Sweep, between, cost, plot, span, table
from benchmarks.technical import measure
from datasets import random_joins, two_level

EXPONENTS = (0.0, 0.4, 0.8, 1.2, 1.6)


def run(scale: Scale) -> Report:
    schema = two_level()
    pairs: Sweep = {
        zipf: measure(schema, random_joins(schema, DEFAULTS, zipf=zipf), scale)
        for zipf in EXPONENTS
    }
    gain = cost(pairs, "Sequential", 0.0) / cost(pairs, "Sequential", 1.6)
    mmqjp = span(pairs, "MMQJP")
    return Report(
        "figure_6_10",
        "Figure 6.10: two levels, Zipfian parameter",
        f"Documents of 6 leaves, {DEFAULTS:,} queries. {scale.limits}",
        (table("Zipf", pairs),),
        (plot("Zipfian parameter", pairs),),
        (
            Statement(
                "6.6.1, figure 6.10",
                "the Zipfian parameter has little impact on MMQJP",
                between(1, mmqjp, 1.5),
                f"its slowest is {number(mmqjp)} times its fastest",
            ),
            Statement(
                "6.6.1, figure 6.10",
                "Sequential improves by a factor of 2 from 0.0 to 1.6",
                between(1.5, gain, 4),
                f"by a factor of {number(gain)}",
            ),
        ),
    )
