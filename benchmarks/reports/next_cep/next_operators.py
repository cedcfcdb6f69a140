"""How many operators one core supports, with and without rewriting."""

from __future__ import annotations

from statistics import median

from benchmarks.compositions.measures import between, seeds, supported
from benchmarks.compositions.workload import SIZES, WORKLOADS, Workload
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.scale import Scale

QUICK: dict[Workload, tuple[int, ...]] = {"next": (5,), "union": (5,), "mix": (4,)}
FACTOR = 10
"""With the rates of the paper an engine is too fast to be measured."""

Line = dict[int, tuple[float, float, float]]
"""By size: operators as drawn and rewritten, and the ratio."""


def run(scale: Scale) -> Report:
    sizes = SIZES if scale.full else QUICK
    seconds = 6.0 if scale.full else 0.2 if scale.items < 1_000 else 1.0
    found = {one: {n: of(scale, one, n, seconds) for n in sizes[one]} for one in WORKLOADS}
    ratios = {one: {n: row[2] for n, row in line.items()} for one, line in found.items()}
    rows = tuple(
        (one, n, *(f"{each:,.0f}" for each in row[:2]), number(row[2]))
        for one, line in found.items()
        for n, row in line.items()
    )
    columns = ("operators", "of a query", "supported as drawn", "rewritten", "ratio")
    return Report(
        "next_operators",
        "NEXT CEP: figure 9, operators supported",
        "Queries of `;`, of `|`, or of blocks of two of either in turn (*mix*), as trees drawn "
        "uniformly over eight Poisson streams; all rates are ten times the paper's (2,550 events a "
        f"second), {seconds:g} s of stream after 1 s, in processor time. As many operators as take "
        "a second for a second of stream, interpolated between two powers of two of queries; the "
        f"median of {len(seeds(scale))} seeds. Nothing is shared among queries, and both ways have "
        "found the same in 2 s of stream.",
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
                "NEXT CEP, figure 9",
                "next: rewriting supports at least 1.2 times as many operators of n = 3, 1.5 of 5, "
                "1.8 of 8, and not fewer with n by more than 5 %",
                all(ratios["next"][n] >= least for n, least in ((3, 1.2), (5, 1.5), (8, 1.8)))
                and rises([*ratios["next"].values()])
                if scale.full
                else None,
                text(ratios["next"]),
            ),
            Statement(
                "NEXT CEP, figure 9",
                "union: at least as many of n = 2, 1.1 times as many of 5, 1.15 of 8",
                all(ratios["union"][n] >= least for n, least in ((2, 1), (5, 1.1), (8, 1.15)))
                if scale.full
                else None,
                text(ratios["union"]),
            ),
            Statement(
                "NEXT CEP, figure 9",
                "mix: between the two within 10 %",
                between(ratios["mix"][8], ratios["union"][8], ratios["next"][8])
                and between(ratios["mix"][2], ratios["union"][2], ratios["next"][2])
                if scale.full
                else None,
                text(ratios["mix"]),
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


def text(ratios: dict[int, float]) -> Cell:
    return ", ".join(f"{number(one)} (n = {n})" for n, one in ratios.items())
