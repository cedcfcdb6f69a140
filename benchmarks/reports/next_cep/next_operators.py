"""How many operators one core supports, with and without rewriting."""

from __future__ import annotations

from statistics import median

from benchmarks.compositions.measures import between, seeds, supported
from benchmarks.compositions.workload import SIZES, WORKLOADS, Workload
from benchmarks.report import Plot, Report, Statement, Table, number
from benchmarks.scale import Scale

QUICK: dict[Workload, tuple[int, ...]] = {"next": (5,), "union": (5,), "mix": (4,)}
FACTOR = 10
"""With the rates of the paper an engine is too fast to be measured."""

Line = dict[int, tuple[float, float, float]]
"""By size: operators as drawn and rewritten, and the ratio."""


def run(scale: Scale) -> Report:
    full = scale.full
    sizes = SIZES if full else QUICK
    seconds = 1.5 if full else 0.2 if scale.items < 1_000 else 1.0
    found = {one: {n: of(scale, one, n, seconds) for n in sizes[one]} for one in WORKLOADS}
    ratios = {one: {n: row[2] for n, row in line.items()} for one, line in found.items()}
    rows = tuple(
        (one, n, *map(round, row[:2]), number(row[2]))
        for one, line in found.items()
        for n, row in line.items()
    )
    columns = (
        "workload",
        "operators of a query",
        "operators supported, as drawn",
        "operators supported, rewritten",
        "rewritten : as drawn",
    )
    next_, union, mix = (ratios[one] for one in WORKLOADS)
    paper, goal = "NEXT CEP, figure 9", "goal, NEXT CEP figure 9"
    many = len(seeds(scale))
    return Report(
        "next_operators",
        "NEXT CEP: figure 9, operators supported",
        "Queries of `;` (*next*), of `|` (*union*), or of blocks of two of either in turn (*mix*): "
        "trees drawn uniformly over eight Poisson streams. Operators are supported as long as a "
        "second of stream takes at most a second of processor time, interpolated between two "
        "powers of two of queries. All rates are ten times the paper's (2,550 events a second), so "
        f"that one core is busy with few queries; {seconds:g} s of stream after 1 s of warm-up. "
        f"{f'The medians of seeds 1 to {many}' if many > 1 else 'Seed 1'}. Queries share "
        "nothing.",
        (Table(columns, rows),),
        (
            Plot(
                "operators of a query",
                "operators, rewritten : as drawn",
                {
                    one: [(float(n), each) for n, each in line.items()]
                    for one, line in ratios.items()
                },
                log_y=False,
            ),
        ),
        (
            Statement(
                "NEXT CEP, abstract",
                "next: rewriting supports up to 2 times as many operators, union: up to 1.2 times",
                max(next_.values()) >= 2 and max(union.values()) >= 1.2 if full else None,
                f"{number(max(next_.values()))} and {number(max(union.values()))} times",
            ),
            Statement(
                paper,
                "next and union: the gain does not fall with the size of queries (by more than "
                "5 %)",
                rises([*next_.values()]) and rises([*union.values()]) if full else None,
                f"next {text(next_)}; union {text(union)}",
            ),
            Statement(
                paper,
                "union: the gain is less than that of next",
                all(union[n] < next_[n] for n in union) if full else None,
                f"next {text(next_)}; union {text(union)}",
            ),
            Statement(
                paper,
                "mix: the gain is between next and union for the least and greatest size (within "
                "10 %)",
                between(mix[8], union[8], next_[8]) and between(mix[2], union[2], next_[2])
                if full
                else None,
                text(mix),
            ),
            Statement(
                goal,
                "next: at least 1.2 times as many operators with n = 3, 1.5 with 5, 1.8 with 8",
                all(next_[n] >= least for n, least in ((3, 1.2), (5, 1.5), (8, 1.8)))
                if full
                else None,
                text(next_),
            ),
            Statement(
                goal,
                "union: at least as many operators with n = 2, 1.1 times as many with 5, 1.15 with "
                "8",
                all(union[n] >= least for n, least in ((2, 1), (5, 1.1), (8, 1.15)))
                if full
                else None,
                text(union),
            ),
        ),
    )


def of(scale: Scale, workload: Workload, size: int, seconds: float) -> tuple[float, float, float]:
    """The medians of all seeds."""
    some = [supported(workload, size, seed, seconds, FACTOR) for seed in seeds(scale)]
    off, on, ratio = zip(*((off, on, on / off) for off, on in some), strict=True)
    return median(off), median(on), median(ratio)


def rises(ratios: list[float]) -> bool:
    """Not falling by more than 5 %."""
    return all(
        after >= 0.95 * one for place, one in enumerate(ratios) for after in ratios[place + 1 :]
    )


def text(ratios: dict[int, float]) -> str:
    return ", ".join(f"{number(one)} (n = {n})" for n, one in ratios.items())
