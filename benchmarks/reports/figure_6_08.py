"""Figure 6.8: two-level documents, the number of queries varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement
from benchmarks.scale import Scale
from benchmarks.sweep import Sweep, between, cost, gain, goals, plot, tables
from benchmarks.technical import measure
from datasets import random_joins, two_level


def run(scale: Scale) -> Report:
    schema = two_level()
    pairs: Sweep = {n: measure(schema, random_joins(schema, n), scale) for n in scale.queries}
    few, many = scale.queries[0], scale.many
    at_few, at_many = (cost(pairs, "Sequential", n) / cost(pairs, "MMQJP", n) for n in (few, many))
    return Report(
        "figure_6_08",
        "Figure 6.8: two levels, number of queries",
        f"A pair of documents of {len(schema.leaves)} leaves, of which every leaf of one has the "
        "string value of the same leaf of the other. Queries of 1 to "
        f"{len(schema.leaves)} value joins, the number drawn with Zipf 0.8.",
        tables("queries", pairs),
        (plot("queries", pairs, log_x=True),),
        (
            Statement(
                "6.6.1, figure 6.8",
                f"at {few} queries MMQJP and Sequential do not differ much (by at most 5 times)",
                between(1 / 5, at_few, 5),
                gain(pairs, few),
            ),
            Statement(
                "6.6.1, figure 6.8",
                "MMQJP is more than 100 times as fast as Sequential at 100,000 queries",
                between(100, at_many) if scale.full else None,
                gain(pairs, many),
            ),
            Statement(
                "6.6.1",
                "there are at most as many templates as leaves, whatever the number of queries",
                max(pair.templates for pair in pairs.values()) <= len(schema.leaves),
                ", ".join(f"{pair.templates} of {n:,}" for n, pair in pairs.items()),
            ),
            *goals("figure 6.8", pairs, many),
        ),
    )
