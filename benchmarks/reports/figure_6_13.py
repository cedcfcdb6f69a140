"""Figure 6.13: three-level documents, the Zipfian parameter varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement, number
from benchmarks.scale import Scale
from benchmarks.sweep import DEFAULTS, Sweep, plot, span, tables
from benchmarks.technical import measure
from datasets import random_joins, three_level

EXPONENTS = (0.0, 0.4, 0.8, 1.2, 1.6)


def run(scale: Scale) -> Report:
    schema = three_level()
    pairs: Sweep = {
        zipf: measure(schema, random_joins(schema, DEFAULTS, zipf=zipf), scale)
        for zipf in EXPONENTS
    }
    sequential, mmqjp = span(pairs, "Sequential"), span(pairs, "MMQJP")
    templates = [pair.up_to_mirroring for pair in pairs.values()]
    return Report(
        "figure_6_13",
        "Figure 6.13: three levels, Zipfian parameter",
        f"{DEFAULTS:,} queries, otherwise as in figure 6.11.",
        tables("Zipf", pairs),
        (plot("Zipfian parameter", pairs),),
        (
            Statement(
                "6.6.1, figure 6.13",
                "the Zipfian parameter has more impact on Sequential than on MMQJP",
                sequential > mmqjp if mmqjp == mmqjp else None,
                f"slowest : fastest: {number(sequential)} (Sequential), {number(mmqjp)} (MMQJP)",
            ),
            Statement(
                "6.6.1, figure 6.13",
                "the number of templates stays around 20 (16 to 24)",
                min(templates) >= 16 and max(templates) <= 24,
                f"{', '.join(map(str, templates))}, mirror images as one",
            ),
        ),
    )
