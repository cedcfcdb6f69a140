"""Figure 4.14 and table 4.2: what merging and indexes are worth, and plans that share nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks.baselines.events import can
from benchmarks.baselines.events.restart import Restart
from benchmarks.baselines.events.sequential import Sequential
from benchmarks.events.ways import ALL_OFF, Speed, agreeing, counted, lines_of, sized, speed
from benchmarks.report import Plot, Report, Statement, Table, number
from benchmarks.reports.events import judged
from benchmarks.scale import Scale
from datasets import cayuga_benchmark, cayuga_events, stepped_queries

EVENTS = 12_000
THESIS = "4.6.2, figure 4.14"
GOAL = "goal, figure 4.14"
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
        f"The template Filter over {len(lines):,} events, at most {limit:g} s a way. Techniques "
        "are switched off as in table 4.2; the FR index goes with s_σ, since Cayuga's has the "
        "edges of start states. One instance stands for all queries that share its state, so the "
        f"instance index saves less than in Cayuga. At {least:,} queries also: *CAN* (each NEXT an "
        "automaton of its own), and in plain Python *Sequential* (a "
        "state for each query) and *Restart* (each plan again over the retained events), which "
        f"take events that are read already. Ways that test each query in turn take {SMALL} events "
        "a batch. All ways find the same numbers of matches.",
        (
            Table(
                ("queries", *(f"{name}, events/s" for name in MODES)),
                tuple(
                    (many, *(rates[name][many].per_second for name in MODES)) for many in numbers
                ),
            ),
            Table(("mode (table 4.2)", "state merging", "FR index", "instance index"), TABLE_4_2),
            Table(
                (f"way, at {least:,} queries", "events/s", "XSCL : way, times"),
                tuple(
                    (name, way.per_second, rates[OWN][least].per_second / way.per_second)
                    for name, way in others.items()
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
        judged(statements(rates, others, numbers), scale),
    )


def statements(
    rates: Rates, others: dict[str, Speed], numbers: Sequence[int]
) -> tuple[Statement, ...]:
    most = numbers[-1]
    own = rates[OWN]
    times = {name: own[most].per_second / line[most].per_second for name, line in rates.items()}
    merging = times["No state merging"]
    indexes = [times[name] for name in ("No FR index", "No instance index")]
    slow, fast = others["CAN"].per_second, own[numbers[0]].per_second

    def at_least(name: str, factor: int, paper: str = "") -> Statement:
        return Statement(
            GOAL,
            f"at 40,000 queries, at least {factor} times the events/s of {name}{paper}",
            times[name] >= factor,
            f"{number(times[name])} times at {most:,}: {number(own[most].per_second)} and "
            f"{number(rates[name][most].per_second)} events/s",
        )

    return (
        at_least(NO_MQO, 100, " (paper: a few orders of magnitude)"),
        Statement(
            THESIS,
            "most of the gain comes from the FR index and the instance index, not from merging: "
            "each gains more",
            min(indexes) > merging,
            f"{' and '.join(map(number, indexes))} times; merging {number(merging)} times",
        ),
        at_least("No FR index", 3),
        at_least("No instance index", 5),
        Statement(
            GOAL,
            "merging matters little at zipf 1: between 0.9 and 2 times (paper: little)",
            0.9 <= merging <= 2,
            f"{number(merging)} times",
        ),
        Statement(
            "goal, chapter 4",
            "at 10,000 queries, at least 2 times the events/s of CAN",
            fast >= 2 * slow,
            f"{number(fast / slow)} times at {numbers[0]:,}: {number(fast)} and {number(slow)} "
            "events/s",
        ),
    )
