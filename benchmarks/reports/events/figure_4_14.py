"""Figure 4.14 and table 4.2: what merging and indexes are worth, and plans that share nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks.baselines.events import can
from benchmarks.baselines.events.restart import Restart
from benchmarks.baselines.events.sequential import Sequential
from benchmarks.events.ways import ALL_OFF, Speed, agreeing, counted, lines_of, sized, speed
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import cayuga_benchmark, cayuga_events, stepped_queries

EVENTS = 12_000
THESIS = "4.6.2, figure 4.14"
OWN = "XSCL"
NO_MQO = "No MQO"
MODES: dict[str, tuple[str, ...]] = {
    OWN: (),
    "No state merging": ("s_cse",),
    # Cayuga's covers the edges from start states as well: selections over sources.
    "No FR index": ("FR", "s_σ"),
    "No instance index": ("AN", "AI"),
    NO_MQO: ALL_OFF,
}
TABLE_4_2 = (
    (OWN, "on", "on", "on"),
    ("No state merging", "off", "on", "on"),
    ("No FR index", "on", "off", "on"),
    ("No instance index", "on", "on", "off"),
    (NO_MQO, "off", "off", "off"),
)
SMALL = 20
"""Events of a batch where all queries are gone through for each."""

Rates = dict[str, dict[int, Speed]]


def run(scale: Scale) -> Report:
    size = partial(sized, scale)
    events = [*cayuga_events(size(EVENTS, 3_000, 60))]
    lines = lines_of(events)
    numbers = [size(many * 10_000, many * 1_000, many) for many in (1, 2, 3, 4)]
    # What is not finished after a minute is given up.
    limit = min(60, 2 * scale.limit)
    rates: Rates = {name: {} for name in MODES}
    for many in numbers:
        for name, off in MODES.items():
            batch = SMALL if "s_σ" in off else 1_000
            queries = cayuga_benchmark("Filter", many)
            rates[name][many] = counted(queries, lines, limit, batch=batch, without=set(off))
        agreeing({name: line[many] for name, line in rates.items()})
    least = numbers[0]
    stepped = stepped_queries(least)
    others = {
        "CAN": counted(can.embedded(stepped), lines, limit, without={*can.WITHOUT}),
        "Sequential": speed(Sequential(stepped).take, events, limit, SMALL),
        "Restart": speed(Restart(stepped).take, events, limit, SMALL),
    }
    found = {name: way for name, way in others.items() if name != "CAN"}
    agreeing({**found, OWN: rates[OWN][least]})
    return Report(
        "figure_4_14",
        "Figure 4.14: what merging and indexes are worth",
        f"The template Filter over {len(lines):,} events, with techniques switched off "
        "(`Engine(without=...)`, table 4.2; Cayuga's FR index has the edges of start states, too, "
        "so s_σ goes with it; without its instance index an event looks at each state that has "
        "instances, but one stands for all queries that wait for the same); from lines of JSON to "
        "numbers of outputs, processor time, none "
        f"beyond {limit:g} s: what is slower is judged by as far as it gets. Ways that go through "
        f"all queries for an event take batches of {SMALL} events, the others of 1,000. Beside "
        f"them, at {least:,} queries: *CAN* makes each NEXT an automaton of its own, joined by "
        "resubscription; *Sequential* has a state for each query and goes through all of them; "
        "*Restart* has none, and runs each plan anew over the events held. The latter two are "
        "plain Python that share no code with the engine, and take events that have been read. "
        "All ways find as much (of CAN the pairs are outputs, too).",
        (
            Table(("mode (table 4.2)", "state merging", "FR index", "instance index"), TABLE_4_2),
            Table(
                ("queries", *(f"{name}, events/s" for name in MODES)),
                tuple(
                    (many, *(rates[name][many].per_second for name in MODES)) for many in numbers
                ),
            ),
            Table(
                (f"at {least:,} queries", "events/s", "of XSCL"),
                tuple(
                    compared_with_own(name, way, rates[OWN][least]) for name, way in others.items()
                ),
            ),
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
        statements(rates, others, numbers),
    )


def compared_with_own(name: str, way: Speed, own: Speed) -> tuple[Cell, ...]:
    return name, way.per_second, way.per_second / own.per_second


def statements(
    rates: Rates, others: dict[str, Speed], numbers: Sequence[int]
) -> tuple[Statement, ...]:
    most = numbers[-1]
    own = rates[OWN]
    times = {name: own[most].per_second / line[most].per_second for name, line in rates.items()}
    merging = times["No state merging"]
    embedded = own[numbers[0]].per_second / others["CAN"].per_second

    def at_least(name: str, factor: int) -> Statement:
        return Statement(
            THESIS,
            f"at 40,000 queries, at least {factor} times the events/s of {name}",
            times[name] >= factor,
            f"{number(times[name])} times, at {most:,}",
        )

    return (
        at_least(NO_MQO, 100),
        at_least("No FR index", 3),
        at_least("No instance index", 5),
        Statement(
            THESIS,
            "merging matters little at zipf 1: between 0.9 and 2 times",
            0.9 <= merging <= 2,
            f"{number(merging)} times",
        ),
        Statement(
            "goal, figure 4.14",
            "at least 2 times the events/s of CAN, at 10,000 queries",
            embedded >= 2,
            f"{number(embedded)} times, at {numbers[0]:,}",
        ),
    )
