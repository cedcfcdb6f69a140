"""Throughput by the number of queries, with and without rewriting, and what the model says."""

from __future__ import annotations

from itertools import islice
from statistics import median
from time import process_time

from benchmarks.compositions.measures import (
    Sample,
    between,
    correlation,
    geometric,
    measured_gain,
    programmes,
    sample,
    samples,
    seeds,
)
from benchmarks.compositions.workload import SIZES, STREAMS, WORKLOADS, Workload, queries
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from xscl.pattern_stage.compositions.rules import rewritten

SIZE: dict[Workload, int] = {"next": 5, "union": 5, "mix": 6}
QUERIES = (1, 2, 4, 8, 16, 32, 64)
EVENTS = sum(STREAMS)


def run(scale: Scale) -> Report:
    tiny = scale.items < 1_000
    seconds = 30.0 if scale.full else 1.0 if tiny else 10.0
    counts = QUERIES[:2] if tiny else QUERIES
    singles = 40 if scale.full else 3 if tiny else 15
    lines = {
        one: {k: [of(one, k, seed, seconds) for seed in seeds(scale)] for k in counts}
        for one in WORKLOADS
    }
    ratios = {
        one: {k: geometric([each.ratio for each in some]) for k, some in line.items()}
        for one, line in lines.items()
    }
    means = {one: geometric([*line.values()]) for one, line in ratios.items()}
    sizes = SIZES if scale.full else {one: (2, SIZE[one]) for one in WORKLOADS}
    by_size = {
        one: {size: samples(one, size, 1, singles, seconds) for size in sizes[one]}
        for one in WORKLOADS
    }
    alone = {one: [each for some in by_size[one].values() for each in some] for one in WORKLOADS}
    ranks = {one: correlation(pairs(some)) for one, some in alone.items()}
    expected = {
        one: geometric([each.cost_off / each.cost_on for each in some])
        for one, some in alone.items()
    }
    measured = {one: geometric([each.ratio for each in some]) for one, some in alone.items()}
    worst = min(each.ratio for some in alone.values() for each in some)
    dearer, slower, many = programmes(8, 1, singles, seconds)
    gain = {one: measured_gain(one, SIZE[one], 1, min(16, singles), seconds) for one in WORKLOADS}
    taken = optimising()
    speeds: tuple[tuple[Cell, ...], ...] = tuple(
        (
            k,
            *(
                f"{EVENTS / median(getattr(each, way) for each in lines[one][k]):,.0f}"
                for one in WORKLOADS
                for way in ("off", "on")
            ),
        )
        for k in counts
    )
    model = tuple(
        (
            one,
            number(ranks[one]),
            ", ".join(f"{n}: {number(correlation(pairs(x)))}" for n, x in by_size[one].items()),
            number(expected[one]),
            number(measured[one]),
            number(min(each.ratio for each in alone[one])),
            number(gain[one]),
        )
        for one in WORKLOADS
    )
    doubled = [each.ratio for some in lines["next"].values() for each in some]
    paper, goal = "NEXT CEP, figure 10", "goal, NEXT CEP figure 10"
    return Report(
        "next_queries",
        "NEXT CEP: figure 10, throughput, and its model",
        "Queries of five operators (mix: six), drawn as in figure 9, at the paper's rates; events "
        f"a second of one core over {seconds:g} s of stream after 10 s of warm-up. Best of 3 "
        f"interleaved runs; of seeds 1 to {len(seeds(scale))} ratios are geometric means and rates "
        f"medians. Third table: {singles} queries of each size, one by one, as drawn and "
        "rewritten: the rank correlation of the model's cost and the measured time, and the gain "
        "(as drawn : rewritten). *Measured rates*: the rewriting has the rates of the first 60 s "
        "of stream instead of the true ones.",
        (
            Table(
                ("queries", *(f"{one}, rewritten : as drawn" for one in WORKLOADS)),
                tuple((k, *(number(ratios[one][k]) for one in WORKLOADS)) for k in counts),
            ),
            Table(
                (
                    "queries",
                    *(
                        f"{one}, {way}, events/s"
                        for one in WORKLOADS
                        for way in ("as drawn", "rewritten")
                    ),
                ),
                speeds,
            ),
            Table(
                (
                    "workload",
                    "rank correlation of cost and time",
                    "by operators of a query",
                    "gain by the model",
                    "gain measured",
                    "least gain of a query",
                    "gain, measured rates : given rates",
                ),
                model,
            ),
        ),
        (
            Plot(
                "queries",
                "throughput, rewritten : as drawn",
                {
                    one: [(float(k), each) for k, each in line.items()]
                    for one, line in ratios.items()
                },
                log_x=True,
                log_y=False,
            ),
        ),
        (
            Statement(
                paper,
                "next: rewriting doubles the throughput in many cases (a third of the runs)",
                sum(each >= 2 for each in doubled) >= len(doubled) / 3,
                f"in {sum(each >= 2 for each in doubled)} of {len(doubled)} runs",
            ),
            Statement(
                paper,
                "mix: the gain is between next and union (within 10 %)",
                between(means["mix"], means["union"], means["next"]),
                ", ".join(f"{number(each)} ({one})" for one, each in means.items()),
            ),
            Statement(
                goal,
                "next: at least 1.5 times the throughput for every number of queries, 1.8 times on "
                "average",
                min(ratios["next"].values()) >= 1.5 and means["next"] >= 1.8,
                f"{number(min(ratios['next'].values()))} at least, {number(means['next'])} on "
                "average",
            ),
            Statement(
                goal,
                "union: at least 1.15 times the throughput on average (paper: about 1.2)",
                means["union"] >= 1.15,
                number(means["union"]),
            ),
            Statement(
                "goal, NEXT CEP section 4",
                "rank correlation of cost and time: at least 0.8 for next, 0.9 for union",
                ranks["next"] >= 0.8 and ranks["union"] >= 0.9,
                ", ".join(f"{number(each)} ({one})" for one, each in ranks.items())
                + f"; next: gain by the model {number(expected['next'])}, measured "
                f"{number(measured['next'])}",
            ),
            Statement(
                "goal, NEXT CEP",
                "the exact programme's plan never costs more than the paper's by the model, and "
                "takes at most 1.05 times as long",
                dearer == 0 and slower <= 1.05,
                f"{dearer} cost more; {many} of {singles} queries of eight operators differ, "
                f"{number(slower)} times the time",
            ),
            Statement(
                "goal, NEXT CEP",
                "no query is slower by more than 5 % after its rewriting",
                worst >= 0.95,
                f"{number(worst)} times the speed at least",
            ),
            Statement(
                "goal, NEXT CEP",
                "a query of 12 operands is rewritten in less than 50 ms",
                taken < 0.05,
                f"{number(1000 * taken)} ms",
            ),
            Statement(
                "goal, NEXT CEP",
                "with measured rates at least 0.95 of the gain with given rates",
                min(gain.values()) >= 0.95,
                ", ".join(f"{number(each)} ({one})" for one, each in gain.items()),
            ),
        ),
    )


def of(workload: Workload, many: int, seed: int, seconds: float) -> Sample:
    return sample([*islice(queries(workload, SIZE[workload], seed), many)], seconds, seed)


def pairs(some: list[Sample]) -> list[tuple[float, float]]:
    """Cost and time of all plans."""
    return [pair for one in some for pair in ((one.cost_off, one.off), (one.cost_on, one.on))]


def optimising() -> float:
    """The longest time that one of some queries of 12 operands takes."""
    taken = list[float]()
    for one in islice(queries("next", 11, 1), 20):
        started = process_time()
        rewritten(one.plan)
        taken.append(process_time() - started)
    return max(taken)
