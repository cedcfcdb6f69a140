"""Figure 6.8: two-level documents, the number of queries varies."""

from __future__ import annotations

from benchmarks.report import Report, Statement, number
from benchmarks.scale import Scale
from benchmarks.sweep import Sweep, between, cost, gain, goals, plot, table
from benchmarks.technical import measure
from datasets import random_joins, two_level


def run(scale: Scale) -> Report:
    schema = two_level()
    pairs: Sweep = {n: measure(schema, random_joins(schema, n), scale) for n in scale.queries}
    few, many = scale.queries[0], scale.many
    at_few = cost(pairs, "Sequential", few) / cost(pairs, "MMQJP", few)
    at_many = cost(pairs, "Sequential", many) / cost(pairs, "MMQJP", many)
    return Report(
        "figure_6_08",
        "Figure 6.8: two levels, number of queries",
        "Documents of 6 leaves, Zipf 0.8. `~`: Sequential's time is that of a sample of its SQL "
        "queries, scaled up. *Planning* is the share of the time that DuckDB takes to plan "
        "Sequential's queries; SQLite plans them in microseconds. "
        f"{scale.limits}",
        (table("queries", pairs),),
        (plot("queries", pairs, log_x=True),),
        (
            Statement(
                "6.6.1, figure 6.8",
                "with few queries, MMQJP and Sequential do not differ much",
                between(1 / 5, at_few, 5),
                f"Sequential takes {number(at_few)} times as long at {few} queries",
            ),
            Statement(
                "6.6.1, figure 6.8",
                "MMQJP gains more than two orders of magnitude when there are many queries",
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
