"""Figure 4.18 and table 4.3: subscriptions on feeds, by four templates."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.events.ways import Speed, counted, lines_of, normalised, sized
from benchmarks.events.workloads import FEED, POSTS, feed_queries, posts
from benchmarks.report import Plot, Report, Statement, Table, number
from benchmarks.reports.events import judged
from benchmarks.scale import Scale

THESIS = "4.6.3, figure 4.18"
GOAL = "goal, figure 4.18"

TABLE_4_3 = (
    ("Stateless", "all articles of website W with popularity > X"),
    ("Concatenation", "a series of 3 articles of website W with popularity > X"),
    (
        "Parameterization",
        "a series of 3 articles of website W on the same channel with increasing popularity",
    ),
    (
        "Iteration",
        "a series of N articles of website W on the same channel with increasing popularity",
    ),
)


def run(scale: Scale) -> Report:
    lines = lines_of(posts(sized(scale, POSTS, 6_000, 60)))
    numbers = [sized(scale, many * 10_000, many * 1_000, many) for many in (1, 2, 3, 4)]
    rates: dict[str, dict[float, Speed]] = {
        name: {many: counted(feed_queries(name, many), lines, scale.limit) for many in numbers}
        for name in FEED
    }
    most = {name: line[numbers[-1]] for name, line in rates.items()}
    speeds = {name: way.per_second for name, way in most.items()}
    iteration = speeds["Iteration"]
    kept = iteration / speeds["Stateless"]
    return Report(
        "figure_4_18",
        "Figure 4.18: subscriptions on feeds",
        f"{len(lines):,} posts of 415 sites (made by `datasets.feed_stream`; the thesis' are not "
        "public), one a second, with popularities of 0 to 99. Queries are for a site W of 415 and, "
        "in Stateless and Concatenation, for a popularity X of 100, both drawn; a series ends "
        "within 100 posts. Equal queries are one in the plan, so Parameterization and Iteration, "
        "which have no X, are 415 queries there, however many are subscribed, and Concatenation is "
        "thousands. Outputs are counted for each query.",
        (
            Table(
                ("queries", *(f"{name}, events/s" for name in FEED)),
                tuple((many, *(rates[name][many].per_second for name in FEED)) for many in numbers),
            ),
            Table(
                (
                    f"template, at {numbers[-1]:,} queries",
                    "loading, s",
                    f"events/s at {numbers[-1]:,} : at {numbers[0]:,}",
                    "outputs an event",
                ),
                tuple(
                    (name, way.loading, normalised(rates[name])[numbers[-1]], way.outputs_per_event)
                    for name, way in most.items()
                ),
            ),
            Table(("template (table 4.3)", "returns"), TABLE_4_3),
        ),
        (
            Plot(
                "queries",
                "events/s",
                {
                    name: [(many, way.per_second) for many, way in line.items()]
                    for name, line in rates.items()
                },
            ),
        ),
        judged(
            (
                Statement(
                    THESIS,
                    "Stateless > Concatenation > Parameterization > Iteration",
                    all(one > other for one, other in pairwise(speeds.values())),
                    ", ".join(f"{name} {number(one)}" for name, one in speeds.items()),
                ),
                Statement(
                    GOAL,
                    "Iteration at 40,000 queries: at least 1,000 events/s (paper: 100)",
                    iteration >= 1_000,
                    f"{number(iteration)} at {numbers[-1]:,}",
                ),
                Statement(
                    GOAL,
                    "Iteration at 40,000 queries: at least 0.02 of the events/s of Stateless",
                    kept >= 0.02,
                    f"{number(kept)}: {number(iteration)} and {number(speeds['Stateless'])}",
                ),
            ),
            scale,
        ),
    )
