"""Figure 5.9: RUMOR's workloads 2 and 3, which exercise AI and channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from benchmarks.events.staged import Staged
from benchmarks.events.ways import (
    ALL_OFF,
    CHANNELS,
    Speed,
    agreeing,
    counted,
    lines_of,
    normalised,
    sized,
    speed,
)
from benchmarks.report import Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import rumor_benchmark, rumor_events

THESIS = "5.5.2, figure 5.9"
OWN = "XSCL"
MODES: dict[str, tuple[str, ...]] = {OWN: (), "s_ only": CHANNELS, "No MQO": ALL_OFF}
SMALL = 50
CAPACITY = 10
CAPACITIES = (1, 2, 4, 8, 10, 16, 20)
WITH, WITHOUT = "channels", "no channels"
Lines = dict[str, dict[float, Speed]]


def run(scale: Scale) -> Report:
    length = sized(scale, 60_000, 9_000, 60)
    a, b = (alone(workload, length, scale) for workload in (2, 3))
    # A tuple of the channel is as many documents.
    rounds = sized(scale, 20_000, 3_000, 40)
    numbers = [sized(scale, many, many // 10, 10) for many in (100, 1_000, 10_000)]
    c = by_channel([(many, CAPACITY, many) for many in numbers], rounds, scale)
    queries = sized(scale, 1_000, 200, 20)
    capacities = CAPACITIES[: sized(scale, 7, 7, 2)]
    d = by_channel([(capacity, capacity, queries) for capacity in capacities], rounds, scale)
    selections = {at: selected(at, queries, rounds, scale) for at in capacities}
    of_one = {at: times(rates, "") for at, rates in selections.items()}
    own = {at: times(rates, "stage, ") for at, rates in selections.items()}
    gains = {
        capacity: d[WITH][capacity].per_second / d[WITHOUT][capacity].per_second
        for capacity in capacities
    }
    shares = {capacity: gain / capacity for capacity, gain in gains.items() if capacity > 1}
    kept = [[*normalised(line[OWN]).values()][-1] for line in (a, b)]
    most = max(a[OWN])
    return Report(
        "figure_5_09",
        "Figure 5.9: RUMOR's workloads 2 and 3",
        "(a) `S NEXT{$1.a0 = $2.a0 AND DUR <= w} T`, (b) `S FOLD{$2.a0 = $1.a0 AND DUR <= w, "
        f"$2.a1 > $.a1}} T`, over {length:,} events; queries differ in windows. (c), (d): (a) over "
        "sharable streams S1, S2, … (`Engine(sharable=...)`), of each of which every query reads "
        "one. As a user publishes them: each event of S comes as a document of each stream, all "
        "equal and in one batch, so both ways read as many documents, and a tuple of the channel "
        "saves what comes after reading. Then with selections over S in place of the streams, each "
        "of which admits all: a document is read once either way; and of the stage alone, which "
        "gets the events as tuples. Events/s are of events of S or T. From "
        "lines of JSON to numbers of outputs, processor time, the first sixth not timed; "
        "normalised beside the lightest load of the same line. *s_ only* is the plan without "
        "channels, *No MQO* shares nothing.",
        (
            *(
                Table(
                    (
                        f"({part}) queries",
                        *(f"{mode}{what}" for mode in MODES for what in (", events/s", ", norm.")),
                        "outputs an event",
                    ),
                    tuple(
                        (
                            int(at),
                            *(
                                cell
                                for mode in MODES
                                for cell in (
                                    (lines[mode][at].per_second, normalised(lines[mode])[at])
                                    if at in lines[mode]
                                    else (None, None)
                                )
                            ),
                            lines[OWN][at].outputs_per_event,
                        )
                        for at in lines[OWN]
                    ),
                )
                for part, lines in (("a", a), ("b", b))
            ),
            *(
                Table(
                    (title, *(f"{way}, events/s" for way in lines), "times"),
                    tuple(
                        (
                            int(at),
                            *(line[at].per_second for line in lines.values()),
                            lines[WITH][at].per_second / lines[WITHOUT][at].per_second,
                        )
                        for at in lines[WITH]
                    ),
                )
                for title, lines in (("(c) queries", c), ("(d) capacity", d))
            ),
            Table(
                ("(d) selections", *selections[1], "times", "stage, times"),
                tuple(
                    (at, *(one.per_second for one in rates.values()), of_one[at], own[at])
                    for at, rates in selections.items()
                ),
            ),
        ),
        (
            *(
                Plot(
                    f"({part}) queries",
                    "normalised throughput",
                    {mode: [*normalised(line).items()] for mode, line in lines.items()},
                    log_x=True,
                    log_y=False,
                )
                for part, lines in (("a", a), ("b", b))
            ),
            *(
                Plot(
                    title,
                    "events/s",
                    {
                        way: [(at, one.per_second) for at, one in line.items()]
                        for way, line in lines.items()
                    },
                    log_x=title == "(c) queries",
                )
                for title, lines in (("(c) queries", c), ("(d) capacity", d))
            ),
        ),
        (
            Statement(
                f"{THESIS}(a)",
                "NEXT: 10,000 queries have at least 0.3 of the events/s of one",
                kept[0] >= 0.3,
                f"{number(kept[0])} at {most:,}",
            ),
            Statement(
                f"{THESIS}(b)",
                "FOLD: 10,000 queries have at least 0.15 of the events/s of one",
                kept[1] >= 0.15,
                f"{number(kept[1])} at {most:,}",
            ),
            Statement(
                f"{THESIS}(d)",
                "channels of 2 to 20 streams: at least 0.7 of the capacity times the events/s of "
                "none",
                min(shares.values()) >= 0.7,
                ", ".join(f"{number(gains[at])} times ({at})" for at in shares)
                + ", documents read and all",
            ),
            Statement(
                f"{THESIS}(d)",
                "the same where the streams of the channel are selections over one stream",
                min(of_one[at] / at for at in shares) >= 0.7,
                ", ".join(f"{number(of_one[at])} times ({at})" for at in shares)
                + "; of the event stage alone "
                + ", ".join(f"{number(own[at])} times ({at})" for at in shares),
            ),
        ),
    )


def times(rates: Mapping[str, Speed], of: str) -> float:
    """How many times as fast channels are as none."""
    return rates[of + WITH].per_second / rates[of + WITHOUT].per_second


def alone(workload: Literal[2, 3], length: int, scale: Scale) -> Lines:
    """Workload 2, or its variant with FOLD, by the number of queries."""
    lines: Lines = {mode: {} for mode in MODES}
    events = lines_of(rumor_events(length))
    for many in (1, 10, 100, 1_000, 10_000)[: sized(scale, 5, 5, 2)]:
        queries = partial(rumor_benchmark, workload, min(many, sized(scale, many, many, 20)))
        for mode, off in MODES.items():
            # Each of them would hold all events.
            if mode != "No MQO" or many <= 1_000:
                batch = SMALL if mode == "No MQO" else 1_000
                lines[mode][many] = counted(
                    queries(), events, scale.limit, batch=batch, without={*off}
                )
        agreeing({mode: line[many] for mode, line in lines.items() if many in line})
    return lines


def by_channel(steps: Sequence[tuple[int, int, int]], rounds: int, scale: Scale) -> Lines:
    """Workload 3 with and without channels: at each step, so many streams and queries."""
    lines: Lines = {WITH: {}, WITHOUT: {}}
    for at, capacity, queries in steps:
        streams = [{f"S{place + 1}" for place in range(capacity)}]
        # Documents, of which a round of S has `capacity` and one of T has one.
        length = max(24, rounds * 2 // (capacity + 1))
        events = lines_of(rumor_events(length, capacity=capacity))
        # As many rounds, whatever the capacity.
        batch, per_round = 250 * (capacity + 1), 2 / (capacity + 1)
        ways: dict[str, dict[str, Any]] = {
            WITH: {"sharable": streams},
            WITHOUT: {"sharable": streams, "without": {*CHANNELS}},
        }
        for way, options in ways.items():
            went = counted(
                rumor_benchmark(2, queries, capacity=capacity),
                events,
                scale.limit,
                batch=batch,
                **options,
            )
            lines[way][at] = replace(went, per_second=went.per_second * per_round)
        agreeing({way: line[at] for way, line in lines.items()})
    return lines


def selected(capacity: int, queries: int, rounds: int, scale: Scale) -> dict[str, Speed]:
    """As workload 3, with selections over S in the places of S1, S2, …, each of which admits all:
    of the engine, and of the event stage alone."""
    [(text, rows)] = rumor_benchmark(2, queries)
    declared, query = text.rsplit("\n", 1)
    text = f"{declared}\n{query.replace('S NEXT', 'FILTER{a9 >= :least}(S) NEXT')}"
    some = [(text, [row | {"least": -1 - place % capacity} for place, row in enumerate(rows)])]
    events = [*rumor_events(rounds)]
    lines = lines_of(events)
    rates = {}
    for way, off in ((WITH, ()), (WITHOUT, CHANNELS)):
        rates[way] = counted(some, lines, scale.limit, without={*off})
        staged = Staged(some, off)
        rates[f"stage, {way}"] = speed(staged.take, staged.prepare(events), scale.limit)
    agreeing(rates)
    return rates
