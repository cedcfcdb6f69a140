"""Figure 5.10: hybrid queries, a window's mean under ramps, with channels and without."""

from __future__ import annotations

from benchmarks.events.ways import ALL_OFF, CHANNELS, Speed, agreeing, counted, lines_of, sized
from benchmarks.events.workloads import hybrid_queries
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import cpu_readings

THESIS = "5.5.3, figure 5.10"
NUMBERS = (1, 2, 5, 10, 20, 50, 100)
SELECTED = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
HALF, TEN = 0.5, 10
WITH = "channels"
MODES: dict[str, tuple[str, ...]] = {WITH: (), "s_ only": CHANNELS, "No MQO": ALL_OFF}
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
    a: Rates = {count: rates_of(count, HALF) for count in numbers}
    b: Rates = {admitted: rates_of(TEN, admitted) for admitted in SELECTED}
    gains = {count: gain(rates) / (count * HALF) for count, rates in a.items() if count >= TEN}
    some = [rates for admitted, rates in b.items() if admitted >= 0.2]
    spread = max(r[WITH].per_second for r in some) / min(r[WITH].per_second for r in some)
    falls = b[0.2]["s_ only"].per_second / b[1.0]["s_ only"].per_second
    return Report(
        "figure_5_10",
        "Figure 5.10: windows under ramps, with channels and without",
        f"Query 2: loads of {processes} processes, one reading of each a second, are smoothed over "
        "60 s (`AVG … WINDOW … GROUP BY pid PUBLISH SMOOTHED`); each of n queries asks for growing "
        "loads (`FOLD{$2.pid = $.pid, $2.load > $.load}`) up from 10, that begin within a range "
        "which admits a share sel of the loads, each its own (`(load - low) * (load - high) <= 0`: "
        "no index has it). Readings are a seeded walk with ramps, for the thesis' are not public. "
        f"{len(lines):,} readings, from lines of JSON to numbers of outputs, processor time, the "
        "first sixth not timed. *s_ only* is the plan without channels, *No MQO* shares nothing.",
        (
            table("(a) queries", a),
            table("(b) sel", b),
        ),
        (
            Plot("queries, sel 0.5", "events/s", curves(a), log_x=True),
            Plot("sel, 10 queries", "events/s", curves(b)),
        ),
        (
            Statement(
                f"{THESIS}(a)",
                "channels at least 0.5 · n · sel times the events/s of none, from 10 queries on",
                min(gains.values()) >= 0.5,
                ", ".join(f"{number(gain(a[count]))} times (n = {count})" for count in gains),
            ),
            Statement(
                f"{THESIS}(b)",
                "with channels the fastest sel from 0.2 on is at most 1.3 times the slowest",
                spread <= 1.3,
                f"{number(spread)} times",
            ),
            Statement(
                f"{THESIS}(b)",
                "without them it falls at least 2 times",
                falls >= 2,
                f"{number(falls)} times",
            ),
        ),
    )


def gain(rates: dict[str, Speed]) -> float:
    """How many times as fast channels are as none."""
    return rates[WITH].per_second / rates["s_ only"].per_second


def table(title: str, rates: Rates) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            at,
            *(rate.per_second for rate in ways.values()),
            gain(ways),
            ways[WITH].outputs_per_event,
        )
        for at, ways in rates.items()
    ]
    columns = (title, *(f"{name}, events/s" for name in MODES), "channels/s_ only", "outputs/event")
    return Table(columns, tuple(rows))


def curves(rates: Rates) -> dict[str, list[tuple[float, float]]]:
    return {name: [(at, ways[name].per_second) for at, ways in rates.items()] for name in MODES}
