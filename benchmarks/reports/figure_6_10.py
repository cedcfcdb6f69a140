"""Figure 6.10: two-level documents, the Zipfian parameter varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement, number
from benchmarks.scale import Scale
from benchmarks.sweep import DEFAULTS, Sweep, between, cost, ends, plot, span, tables
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
    templates = [pair.templates for pair in pairs.values()]
    return Report(
        "figure_6_10",
        "Figure 6.10: two levels, Zipfian parameter",
        f"Documents of {len(schema.leaves)} leaves, {DEFAULTS:,} queries, otherwise as in figure "
        "6.8. With a greater parameter queries have fewer value joins.",
        tables("Zipf", pairs),
        (plot("Zipfian parameter", pairs),),
        (
            Statement(
                "6.6.1, figure 6.10",
                "the Zipfian parameter has little impact on MMQJP (at most 1.5 times)",
                between(1, mmqjp, 1.5),
                f"its slowest is {number(mmqjp)} times its fastest: "
                f"{', '.join(pair.time('MMQJP') for pair in pairs.values())}",
            ),
            Statement(
                "6.6.1, figure 6.10",
                "Sequential is 2 times as fast at 1.6 as at 0 (1.5 to 4 times)",
                between(1.5, gain, 4),
                f"{ends(pairs, 'Sequential', 0.0, 1.6)} in DuckDB, "
                f"{ends(pairs, 'Sequential, SQLite', 0.0, 1.6)} in SQLite",
            ),
            Statement(
                "6.6.1, figure 6.10",
                "the number of templates is the same at all values",
                min(templates) == max(templates),
                ", ".join(map(str, templates)),
            ),
        ),
    )
