"""Figure 5.8 and table 5.3: RUMOR's workload 1, which exercises AN and FR."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from benchmarks.events.ways import (
    ALL_OFF,
    CHANNELS,
    Speed,
    agreeing,
    counted,
    fastest,
    lines_of,
    normalised,
    rounds,
    rounds_text,
    sized,
)
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.reports.events import judged
from benchmarks.scale import Scale
from datasets import rumor_benchmark, rumor_events

THESIS = "5.5.2, figure 5.8"
OWN = "XSCL"
MODES: dict[str, tuple[str, ...]] = {OWN: (), "s_ only": CHANNELS, "No MQO": ALL_OFF}
SMALL = 50
"""Events of a batch where all queries are gone through for each."""
GIVEN_UP = 10_000
"""So many queries without any sharing are not tried."""
SWEEPS: dict[str, tuple[float, ...]] = {
    "queries": (1, 10, 100, 1_000, 10_000, 100_000),
    "values": (10, 100, 1_000, 10_000, 100_000),
    "windows": (10, 100, 1_000, 10_000, 100_000),
    "zipf": (1.2, 1.4, 1.5, 1.6, 1.8, 2.0),
}
TITLES = {
    "queries": "(a) queries",
    "values": "(b) domain of constants",
    "windows": "(c) domain of windows",
    "zipf": "(d) exponent of Zipf",
}
TABLE_5_3 = (
    ("queries", 1_000),
    ("attributes of a stream", 10),
    ("domain of constants", 1_000),
    ("domain of windows", 1_000),
    ("exponent of Zipf", 1.5),
)
Lines = dict[str, dict[float, Speed]]


def run(scale: Scale) -> Report:
    length = sized(scale, 100_000, 12_000, 60)
    sweeps = fastest(rounds(scale), lambda: {name: swept(name, length, scale) for name in SWEEPS})
    return Report(
        "figure_5_08",
        "Figure 5.8: RUMOR's workload 1",
        "`FILTER{a0 = c}(S) NEXT{DUR <= w AND $2.a0 = d} T` over "
        f"{length:,} events, half of them of S. c, d and w are drawn by Zipf, and one parameter of "
        "table 5.3 varies at a time; in (b) the attributes of events have the domain of the "
        f"constants. {rounds_text(scale)} *No MQO* is not tried with more than {GIVEN_UP:,} "
        f"queries, and reads batches of {SMALL} events. Each cell compares its number of outputs "
        "with that of the other ways.",
        (
            *(table(name, lines) for name, lines in sweeps.items()),
            Table(("parameter (table 5.3)", "value"), TABLE_5_3),
        ),
        tuple(
            Plot(
                TITLES[name],
                "normalised throughput",
                {mode: [*normalised(line).items()] for mode, line in lines.items()},
                log_x=name != "zipf",
                log_y=False,
            )
            for name, lines in sweeps.items()
        ),
        judged(statements({name: lines[OWN] for name, lines in sweeps.items()}, length), scale),
    )


def swept(name: str, length: int, scale: Scale) -> Lines:
    """Each mode at each value of a parameter, the lightest load first."""
    default = sized(scale, 1_000, 1_000, 20)
    values = SWEEPS[name]
    values = values[: sized(scale, 6, 5, 4)]
    lines: Lines = {mode: {} for mode in MODES}
    for value in values if name in ("queries", "windows") else reversed(values):
        many = min(int(value), sized(scale, 100_000, 10_000, 40)) if name == "queries" else default
        domain = int(value) if name == "values" else 1_000
        events = lines_of(rumor_events(length, values=domain))
        options = {} if name == "queries" else {name: value}
        queries = partial(rumor_benchmark, 1, many, **options)
        for mode, off in MODES.items():
            if not off or many <= GIVEN_UP or mode != "No MQO":
                batch = SMALL if mode == "No MQO" else 1_000
                lines[mode][value] = counted(
                    queries(), events, scale.limit, batch=batch, without={*off}
                )
        agreeing({mode: line[value] for mode, line in lines.items() if value in line})
    return lines


def table(name: str, lines: Lines) -> Table:
    """The rows of a part of the figure."""
    shares = {mode: normalised(line) for mode, line in lines.items()}

    def row(value: float) -> tuple[Cell, ...]:
        cells: list[Cell] = [int(value) if value == int(value) else value]
        for mode, line in lines.items():
            cells += [line[value].per_second, shares[mode][value]] if value in line else [None] * 2
        return (*cells, lines[OWN][value].outputs_per_event)

    titles = (f"{mode}{what}" for mode in lines for what in (", events/s", ", normalised"))
    return Table((TITLES[name], *titles, "outputs an event"), tuple(map(row, sorted(lines[OWN]))))


def statements(own: Mapping[str, Mapping[float, Speed]], length: int) -> tuple[Statement, ...]:
    """By the events/s of the plan with channels in each part of the figure."""
    price = unit_price(own["values"])
    queries, windows, zipf = own["queries"], own["windows"].values(), own["zipf"]
    least, most = (
        max(1e-9, 1 / queries[at].per_second - price * queries[at].outputs_per_event)
        for at in (1_000, max(queries))
    )
    many, some = (queries[at].per_second for at in (max(queries), 1_000))
    outputs = queries[max(queries)].outputs_per_event * length
    domains = {at: own["values"][at].per_second for at in sorted(own["values"])}
    fast, slow = (pick(way.per_second for way in windows) for pick in (max, min))
    skewed = zipf[max(zipf)].per_second / zipf[min(zipf)].per_second
    return (
        Statement(
            "goal, figure 5.8(a)",
            "100,000 queries have at least 0.2 of the events/s of 1,000, without the cost of "
            "outputs (paper: scales very well)",
            least / most >= 0.2,
            f"{number(least / most)}; {number(many / some)} with outputs at {number(price * 1e6)} "
            f"µs each: {number(many)} and {number(some)} events/s",
        ),
        Statement(
            f"{THESIS}(a)",
            "100,000 queries have 1.7 million outputs of 100,000 events, within a tenth",
            0.9 <= outputs / 1.7e6 <= 1.1,
            f"{outputs / 1e6:.3g} million of {length:,} events",
        ),
        Statement(
            f"{THESIS}(b)",
            "events/s grow with the domain of constants: from 10 to 100,000, and no step loses "
            "more than a tenth",
            domains[max(domains)] > domains[min(domains)]
            and all(other >= 0.9 * one for one, other in pairwise(domains.values())),
            ", ".join(f"{number(speed)} ({at:,.0f})" for at, speed in domains.items()),
        ),
        Statement(
            "goal, figure 5.8(c)",
            "the fastest domain of windows at most 1.5 times the slowest (paper: no significant "
            "increase of load)",
            fast <= 1.5 * slow,
            f"{number(fast / slow)} times: {number(fast)} and {number(slow)} events/s",
        ),
        Statement(
            "goal, figure 5.8(d)",
            "from Zipf 1.2 to 2 events/s grow 1.3 to 3 times (paper: around 2)",
            1.3 <= skewed <= 3,
            f"{number(skewed)} times: {number(zipf[min(zipf)].per_second)} to "
            f"{number(zipf[max(zipf)].per_second)}",
        ),
    )


def unit_price(domains: Mapping[float, Speed]) -> float:
    """The seconds of an output: the additional time of the smallest domain by its additional
    outputs."""
    few, many = domains[min(domains)], domains[1_000]
    more = few.outputs_per_event - many.outputs_per_event
    return max(0, 1 / few.per_second - 1 / many.per_second) / more if more > 0 else 0
