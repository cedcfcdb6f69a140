"""Figure 5.8 and table 5.3: RUMOR's workload 1, which exercises AN and FR."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from benchmarks.events.ways import (
    ALL_OFF,
    CHANNELS,
    Speed,
    agreeing,
    counted,
    lines_of,
    normalised,
    sized,
)
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
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
    sweeps = {name: swept(name, length, scale) for name in SWEEPS}
    return Report(
        "figure_5_08",
        "Figure 5.8: RUMOR's workload 1",
        "`FILTER{a0 = c}(S) NEXT{DUR <= w AND $2.a0 = d} T` over "
        f"{length:,} events of both streams, with the parameters of table 5.3 where nothing "
        "varies, from lines of JSON to numbers of outputs, in processor time, the first sixth "
        "not timed. *s_ only* is the plan without channels, which is Cayuga's; *No MQO* shares "
        f"nothing, and is not tried with more than {GIVEN_UP:,} queries. Normalised: beside the "
        "lightest load of the same line, as in the thesis. The domain of events is that of "
        "constants.",
        (
            Table(("parameter (table 5.3)", "value"), TABLE_5_3),
            *(table(name, lines) for name, lines in sweeps.items()),
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
        statements({name: lines[OWN] for name, lines in sweeps.items()}),
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


def statements(own: Mapping[str, Mapping[float, Speed]]) -> tuple[Statement, ...]:
    price = unit_price(own["values"])
    queries, windows, zipf = own["queries"], own["windows"].values(), own["zipf"]
    least, most = (
        max(1e-9, 1 / queries[at].per_second - price * queries[at].outputs_per_event)
        for at in (1_000, max(queries))
    )
    raw = queries[max(queries)].per_second / queries[1_000].per_second
    flat = max(way.per_second for way in windows) / min(way.per_second for way in windows)
    skewed = zipf[max(zipf)].per_second / zipf[min(zipf)].per_second
    return (
        Statement(
            f"{THESIS}(a)",
            "at 100,000 queries at least 0.2 of the events/s at 1,000, less outputs at their price",
            least / most >= 0.2,
            f"{number(least / most)} at {max(queries):,} ({number(raw)} with outputs; "
            f"{number(price * 1e6)} µs an output)",
        ),
        Statement(
            f"{THESIS}(c)",
            "the fastest window domain at most 1.5 times the slowest",
            flat <= 1.5,
            f"{number(flat)} times",
        ),
        Statement(
            f"{THESIS}(d)",
            f"{max(zipf)} has between 1.3 and 3 times the events/s of {min(zipf)}",
            1.3 <= skewed <= 3,
            f"{number(skewed)} times",
        ),
    )


def unit_price(domains: Mapping[float, Speed]) -> float:
    """The seconds of an output: the additional time of the smallest domain by its additional
    outputs."""
    few, many = domains[min(domains)], domains[1_000]
    more = few.outputs_per_event - many.outputs_per_event
    return max(0, 1 / few.per_second - 1 / many.per_second) / more if more > 0 else 0
