"""Figure 4.13 and table 4.1: five templates by the number of queries, their skew, selectivity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from math import log
from statistics import linear_regression

from benchmarks.events.ways import Speed, counted, lines_of, normalised, sized, stats_of
from benchmarks.report import Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import STEPPED, cayuga_benchmark, cayuga_events, stepped_queries

EVENTS = 100_000
SKEWS = (0.8, 1.0, 1.2, 1.4)
SELECTED = (0.3, 0.5, 0.7, 0.9)
THESIS = "4.6.1, figure 4.13"

TABLE_4_1 = (
    ("events", "100,000"),
    ("discrete attributes, of 100 values", 4),
    ("continuous attributes", 4),
    ("queries", "200,000"),
    ("predicates of a step, discrete + continuous", "2 + 2"),
    ("ranges that an inequality is drawn from", 25),
    ("selectivity of an inequality", 0.7),
    ("steps", 3),
    ("exponents of Zipf of the steps", "1, 1, 0.8"),
    ("duration, events", 20),
)

Line = Mapping[float, Speed]


def run(scale: Scale) -> Report:
    lines = lines_of(cayuga_events(sized(scale, EVENTS, 6_000, 60)))
    size = partial(sized, scale)
    numbers = [size(many * 100_000, many * 5_000, many) for many in (1, 2, 3, 4)]
    default = numbers[1]
    a: dict[str, Line] = {}
    touched: dict[str, Mapping[str, float]] = {}
    for template in STEPPED:
        a[template] = {}
        for many in numbers:
            went = counted(cayuga_benchmark(template, many), lines, scale.limit, after=stats_of)
            a[template] = {**a[template], many: went}
        events = max(went.found)
        touched[template] = {**went.after, "touched": went.after["touched"] / events}
    skews = {skew: (skew, 1.0, 0.8) for skew in SKEWS}
    b = {
        skew: counted(cayuga_benchmark("Filter", default, zipf=zipf), lines, scale.limit)
        for skew, zipf in skews.items()
    }
    states = {skew: levels(default, zipf) for skew, zipf in skews.items()}
    c = {
        share: counted(cayuga_benchmark("Filter", default, selectivity=share), lines, scale.limit)
        for share in SELECTED
    }
    return Report(
        "figure_4_13",
        "Figure 4.13: five templates, by queries, skew and selectivity",
        "The technical benchmark of section 4.6.1 with the parameters of table 4.1, from lines of "
        f"JSON to numbers of outputs, with lateness 0, in batches of 1,000 of {len(lines):,} "
        "events. Texts and constants are subscribed by `subscribe_many`, 72 texts a template. "
        "The first sixth of the stream is not timed; of five further parts the median counts, in "
        f"processor time, none beyond {scale.limit:g} s. (b) and (c) are of the template Filter, "
        f"with {default:,} queries; states by level are the distinct prefixes of queries. Touched "
        "are the instances that an event takes.",
        (
            Table(("parameter (table 4.1)", "value"), TABLE_4_1),
            Table(
                ("(a) queries", *(f"{template}, events/s" for template in STEPPED)),
                tuple(
                    (many, *(a[template][many].per_second for template in STEPPED))
                    for many in numbers
                ),
            ),
            Table(
                (f"at {numbers[-1]:,}", "outputs an event", "loading, s", *STATS),
                tuple(
                    (
                        template,
                        a[template][numbers[-1]].outputs_per_event,
                        a[template][numbers[-1]].loading,
                        *(touched[template].get(name) for name in STATS),
                    )
                    for template in STEPPED
                ),
            ),
            Table(
                ("(b) zipf1", "events/s", "states at level 1", "2", "3", "1, by what they skip"),
                tuple((skew, b[skew].per_second, *states[skew]) for skew in SKEWS),
            ),
            Table(
                ("(c) selectivity", "events/s", "outputs an event"),
                tuple((share, c[share].per_second, c[share].outputs_per_event) for share in c),
            ),
        ),
        (
            Plot("queries", "events/s", {name: points(line) for name, line in a.items()}),
            Plot("zipf1", "events/s", {"Filter": points(b)}),
            Plot("selectivity", "events/s", {"Filter": points(c)}, log_x=True),
        ),
        (*of_numbers(a, touched, scale), *of_shapes(b, states, c)),
    )


STATS = ("states", "instances", "active", "touched")
"""As the engine counts them at the end; the touched ones per event."""


def points(line: Line) -> list[tuple[float, float]]:
    return [(load, speed.per_second) for load, speed in line.items()]


def levels(count: int, zipf: tuple[float, ...]) -> tuple[int, ...]:
    """The number of states at each level, once equal prefixes are one, and at the first one where
    states are separate that skip events by different primary predicates."""
    queries = stepped_queries(count, zipf=zipf)
    skipping = {(query.steps(1), query.discrete[0]) for query in queries}
    merged = [len({query.steps(length) for query in queries}) for length in (1, 2, 3)]
    return (*merged, len(skipping))


def of_numbers(
    a: Mapping[str, Line], touched: Mapping[str, Mapping[str, float]], scale: Scale
) -> list[Statement]:
    most = {template: [*line.values()][-1].per_second for template, line in a.items()}
    kept = {template: [*normalised(line).values()][-1] for template, line in a.items()}
    ordered = [most[template] for template in STEPPED[1:]]
    dynamic = most["LinearDyn"] / most["LinearStat"]
    affected = {
        template: stats["touched"] / max(1, stats["active"])
        for template, stats in touched.items()
        # Where events follow next to each other, each touches all that there is.
        if not template.startswith("Linear")
    }
    return [
        Statement(
            f"{THESIS}(a)",
            "400,000 queries: at least 1,000 events/s on each template",
            min(most.values()) >= 1_000 if scale.full else None,
            each(most),
        ),
        Statement(
            f"{THESIS}(a)",
            "at four times the queries, at least 0.4 of the events/s",
            min(kept.values()) >= 0.4,
            each(kept),
        ),
        Statement(
            f"{THESIS}(a)",
            "LinearDyn > Filter > NonDeterministic > NonDeterministicAgg",
            all(one > other for one, other in pairwise(ordered)),
            each(most),
        ),
        Statement(
            f"{THESIS}(a)",
            "LinearDyn at least 0.85 of LinearStat",
            dynamic >= 0.85,
            number(dynamic),
        ),
        Statement(
            f"{THESIS}(a)",
            "an event touches at most 5 % of the active states",
            max(affected.values()) <= 0.05,
            f"{each(affected)} (an instance stands for all queries that wait with it)",
        ),
    ]


def of_shapes(b: Line, states: Mapping[float, tuple[int, ...]], c: Line) -> list[Statement]:
    merged, skipping = (states[1.4][place] / states[0.8][place] for place in (0, -1))
    rates = [speed.per_second for speed in b.values()]
    few, many = c[SELECTED[0]], c[SELECTED[-1]]
    slope = log(many.per_second / few.per_second) / log(SELECTED[-1] / SELECTED[0])
    costs = [1e6 / speed.per_second for speed in c.values()]
    growing, fixed = linear_regression([share * share for share in c], costs)
    return [
        Statement(
            f"{THESIS}(b)",
            "states at level 1 at zipf1 1.4: at most 0.45 of those at 0.8",
            merged <= 0.45,
            f"{number(merged)} ({number(skipping)} apart by what they skip)",
        ),
        Statement(
            f"{THESIS}(b)",
            "events/s grow with the skew",
            all(one < other for one, other in pairwise(rates)),
            ", ".join(map(number, rates)),
        ),
        Statement(
            f"{THESIS}(c)",
            "events/s fall with the selectivity by a power between -1 and -2.5",
            -2.5 <= slope <= -1,
            f"{number(slope)}: an event takes {number(fixed)} µs + {number(growing)} µs · sel²",
        ),
    ]


def each(ratios: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {number(ratio)}" for name, ratio in ratios.items())
