"""Figure 5.10: hybrid queries, a window's mean under ramps, with channels and without."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.events.ways import (
    ALL_OFF,
    CHANNELS,
    Speed,
    agreeing,
    counted,
    fastest,
    lines_of,
    rounds,
    rounds_text,
    sized,
)
from benchmarks.events.workloads import hybrid_queries
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import cpu_readings

THESIS = "5.5.3, figure 5.10"
NUMBERS = (1, 2, 5, 10, 20, 50, 100)
SELECTED = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
HALF, TEN = 0.5, 10
OWN, WITHOUT = "XSCL", "s_ only"
MODES: dict[str, tuple[str, ...]] = {OWN: (), WITHOUT: CHANNELS, "No MQO": ALL_OFF}
Rates = dict[float, dict[str, Speed]]


def run(scale: Scale) -> Report:
    processes = sized(scale, 104, 104, 6)
    readings = [*cpu_readings(sized(scale, 600, 60, 12), processes=processes)]
    lines = lines_of(readings)

    def rates_of(count: int, admitted: float) -> dict[str, Speed]:
        rates = {
            name: counted(
                hybrid_queries(count, admitted, readings),
                lines,
                scale.limit,
                # The readings of as many seconds.
                batch=10 * processes,
                without={*off},
            )
            for name, off in MODES.items()
        }
        agreeing(rates)
        return rates

    numbers = NUMBERS[: sized(scale, 7, 7, 4)]
    a, b = fastest(
        rounds(scale),
        lambda: (
            {count: rates_of(count, HALF) for count in numbers},
            {admitted: rates_of(TEN, admitted) for admitted in SELECTED},
        ),
    )
    gains = {count: gain(rates) for count, rates in a.items()}
    by_sel = {admitted: gain(rates) for admitted, rates in b.items()}
    # Where nothing is selected, an event is read and smoothed, no more.
    idle = b[0.0][OWN].per_second
    judged = [count for count in a if count >= TEN]
    selected = [rates[OWN].per_second for admitted, rates in b.items() if admitted >= 0.2]
    fast, slow = max(selected), min(selected)
    before, after = (b[admitted][WITHOUT].per_second for admitted in (0.2, 1.0))
    return Report(
        "figure_5_10",
        "Figure 5.10: hybrid queries, with channels and without",
        f"Query 2: the loads of {processes} processes, a reading each a second, are averaged over "
        "60 s and published; each of n queries reports growing loads above 10 that begin in a "
        "range of its own, which admits a share sel of the loads and has no index. "
        f"{len(lines):,} readings of a seeded walk with ramps (the thesis' are not public), "
        f"{10 * processes:,} a batch. {rounds_text(scale)}",
        (
            table("(a) queries, sel 0.5", a),
            table("(b) sel, 10 queries", b),
        ),
        (
            Plot("(a) queries, sel 0.5", "events/s", curves(a), log_x=True),
            Plot("(b) sel, 10 queries", "events/s", curves(b)),
        ),
        (
            Statement(
                f"{THESIS}(a)",
                "the more streams channels encode, the more they gain over s_ only: with n and "
                "with sel",
                all(
                    one < other
                    for line in (gains, by_sel)
                    for one, other in pairwise(line.values())
                ),
                "; ".join(
                    ", ".join(f"{number(times)} times ({name} = {at})" for at, times in ends(line))
                    for name, line in (("n", gains), ("sel", by_sel))
                ),
            ),
            Statement(
                "goal, figure 5.10(a)",
                "channels have at least 0.5 · n · sel times the events/s of s_ only, from n = 10 "
                "on, reading and smoothing included",
                all(gains[count] >= 0.5 * count * HALF for count in judged),
                ", ".join(
                    f"{number(gains[count])} times of {number(0.5 * count * HALF)} (n = {count})"
                    for count in judged
                )
                + f"; with n = {numbers[-1]} an event takes "
                f"{number(1e6 / a[numbers[-1]][OWN].per_second)} µs, and {number(1e6 / idle)} µs "
                "where none is selected",
            ),
            Statement(
                "goal, figure 5.10(b)",
                "with channels events/s drop from sel 0 to 0.2; from there the fastest is at most "
                "1.3 times the slowest (paper: stable)",
                fast < idle and fast <= 1.3 * slow,
                f"{number(idle)} (sel = 0), then {number(fast)} to {number(slow)}",
            ),
            Statement(
                "goal, figure 5.10(b)",
                "without channels events/s fall at least 2 times from sel 0.2 to 1 (paper: "
                "significantly)",
                before >= 2 * after,
                f"{number(before / after)} times: {number(before)} to {number(after)}",
            ),
        ),
    )


def gain(rates: dict[str, Speed]) -> float:
    """How many times as fast channels are as none."""
    return rates[OWN].per_second / rates[WITHOUT].per_second


def ends(line: dict[float, float]) -> list[tuple[float, float]]:
    """The first and the last point."""
    return [*line.items()][:: len(line) - 1]


def table(title: str, rates: Rates) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            at,
            *(rate.per_second for rate in ways.values()),
            gain(ways),
            ways[OWN].outputs_per_event,
        )
        for at, ways in rates.items()
    ]
    speeds = (f"{name}, events/s" for name in MODES)
    columns = (title, *speeds, f"{OWN} : {WITHOUT}, times", "outputs an event")
    return Table(columns, tuple(rows))


def curves(rates: Rates) -> dict[str, list[tuple[float, float]]]:
    return {name: [(at, ways[name].per_second) for at, ways in rates.items()] for name in MODES}
