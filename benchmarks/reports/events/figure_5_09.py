"""Figure 5.9: RUMOR's workloads 2 and 3, which exercise AI and channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Literal

from benchmarks.events.staged import Staged
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
    speed,
)
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.reports.events import judged
from benchmarks.scale import Scale
from datasets import rumor_benchmark, rumor_events

THESIS = "5.5.2, figure 5.9"
GOAL = "goal, figure 5.9"
OWN, WITHOUT = "XSCL", "s_ only"
MODES: dict[str, tuple[str, ...]] = {OWN: (), WITHOUT: CHANNELS, "No MQO": ALL_OFF}
SMALL = 50
CAPACITY = 10
CAPACITIES = (1, 2, 4, 8, 10, 16, 20)
TUPLES, ONCE, EACH = "tuples", "one document", "a document a stream"
Lines = dict[str, dict[float, Speed]]
Fed = dict[str, Lines]
"""Lines by how the streams of the channel get their events."""


def run(scale: Scale) -> Report:
    length = sized(scale, 60_000, 9_000, 60)
    steps = sized(scale, 20_000, 3_000, 40)
    numbers = [sized(scale, many, many // 10, 10) for many in (100, 1_000, 10_000)]
    queries = sized(scale, 1_000, 200, 20)
    capacities = CAPACITIES[: sized(scale, 7, 7, 2)]
    c_steps = [(many, CAPACITY, many) for many in numbers]
    d_steps = [(capacity, capacity, queries) for capacity in capacities]
    a, b, c, d = fastest(
        rounds(scale),
        lambda: (
            alone(2, length, scale),
            alone(3, length, scale),
            by_channel(c_steps, steps, scale),
            by_channel(d_steps, steps, scale),
        ),
    )
    of_one = {"(a)": a, "(b)": b}
    of_channels = {"(c) queries, capacity 10": c, f"(d) capacity, {queries:,} queries": d}
    return Report(
        "figure_5_09",
        "Figure 5.9: RUMOR's workloads 2 and 3",
        "(a) `S NEXT{$1.a0 = $2.a0 AND DUR <= w} T` and (b) `S FOLD{$2.a0 = $1.a0 AND DUR <= w, "
        f"$2.a1 > $.a1}} T` over {length:,} events; queries differ in w. (c), (d): (a) over as "
        "many sharable streams as the channel's capacity, each with all events of S; events/s "
        f"count an event of S once. *{TUPLES.capitalize()}*: the event stage alone, as in the "
        f"thesis; the streams are selections over S. *{ONCE.capitalize()}*: the same from lines "
        f"of JSON. *{EACH.capitalize()}*: an event of S is published to each of S1, S2, … "
        "(`Engine(sharable=...)`), so as many documents are read with channels as without. "
        f"{rounds_text(scale)}",
        (
            *(table(f"{part} queries", lines) for part, lines in of_one.items()),
            *(channel_table(title, fed, (TUPLES,)) for title, fed in of_channels.items()),
            *(channel_table(title, fed, (ONCE, EACH)) for title, fed in of_channels.items()),
        ),
        (
            *(
                Plot(
                    f"{part} queries",
                    "normalised throughput",
                    {mode: [*normalised(line).items()] for mode, line in lines.items()},
                    log_x=True,
                    log_y=False,
                )
                for part, lines in of_one.items()
            ),
            *(
                Plot(
                    title,
                    "events/s",
                    {
                        f"{way}, {feed}": [(at, one.per_second) for at, one in line.items()]
                        for feed in (TUPLES, ONCE)
                        for way, line in fed[feed].items()
                    },
                    log_x=title.startswith("(c)"),
                )
                for title, fed in of_channels.items()
            ),
        ),
        judged((*of_queries(a[OWN], b[OWN]), *of_streams(c, d)), scale),
    )


def table(title: str, lines: Lines) -> Table:
    """Each mode's events/s, and what part they are of the first ones."""
    shares = {mode: normalised(line) for mode, line in lines.items()}

    def row(at: float) -> tuple[Cell, ...]:
        cells: list[Cell] = [int(at)]
        for mode, line in lines.items():
            cells += [line[at].per_second, shares[mode][at]] if at in line else [None] * 2
        return (*cells, lines[OWN][at].outputs_per_event)

    titles = (f"{mode}{what}" for mode in lines for what in (", events/s", ", normalised"))
    return Table((title, *titles, "outputs an event"), tuple(map(row, lines[OWN])))


def channel_table(title: str, fed: Fed, feeds: Sequence[str]) -> Table:
    """Events/s with channels and without, by how streams are fed."""
    columns = (
        f"{what} ({feed})"
        for feed in feeds
        for what in (*(f"{way}, events/s" for way in fed[feed]), f"{OWN} : {WITHOUT}, times")
    )
    rows = tuple(
        (
            int(at),
            *(
                cell
                for lines in (fed[feed] for feed in feeds)
                for cell in (*(line[at].per_second for line in lines.values()), gains(lines)[at])
            ),
        )
        for at in fed[feeds[0]][OWN]
    )
    return Table((title, *columns), rows)


def gains(lines: Lines) -> dict[float, float]:
    """How many times as fast channels are as none."""
    return {at: one.per_second / lines[WITHOUT][at].per_second for at, one in lines[OWN].items()}


def of_queries(following: dict[float, Speed], folding: dict[float, Speed]) -> list[Statement]:
    """Of (a) and (b), with channels."""
    pairs = {at: (one, folding[at].per_second) for at, one in speeds(following).items()}

    def kept(part: str, what: str, line: dict[float, Speed], least: float) -> Statement:
        share = [*normalised(line).values()][-1]
        first, *_, last = speeds(line).values()
        return Statement(
            f"{GOAL}{part}",
            f"{what}: 10,000 queries have at least {least} of the events/s of one (paper: high)",
            share >= least,
            f"{number(share)}: {number(last)} and {number(first)}",
        )

    return [
        kept("(a)", "NEXT", following, 0.3),
        kept("(b)", "FOLD", folding, 0.15),
        Statement(
            f"{THESIS}(b)",
            "FOLD has fewer events/s than NEXT, at each number of queries",
            all(fold < following for following, fold in pairs.values()),
            ", ".join(
                f"{number(fold)} and {number(following)} ({at:,.0f})"
                for at, (following, fold) in pairs.items()
            ),
        ),
    ]


def speeds(line: dict[float, Speed]) -> dict[float, float]:
    return {at: one.per_second for at, one in line.items()}


def of_streams(c: Fed, d: Fed) -> list[Statement]:
    """Of (c) and (d): what channels gain, and the throughput as the thesis counts it."""
    # A round of the streams' tuples has the capacity and one, a round of events has two.
    tuples = {at: rate * (at + 1) / 2 for at, rate in speeds(d[TUPLES][OWN]).items()}

    def at_least(part: str, fed: Fed, feed: str, paper: str = "") -> Statement:
        what = "at each number of queries, channels of 10 streams" if part == "(c)" else "channels"
        factor = "7" if part == "(c)" else "0.7 · capacity"
        found = {at: gain for at, gain in gains(fed[feed]).items() if at > 1}
        least = {at: 0.7 * (CAPACITY if part == "(c)" else at) for at in found}
        return Statement(
            f"{GOAL}{part}",
            f"{what} have at least {factor} times the events/s of {WITHOUT}, {feed}{paper}",
            all(gain >= least[at] for at, gain in found.items()),
            ", ".join(f"{number(gain)} times ({at:,.0f})" for at, gain in found.items()),
        )

    return [
        at_least("(c)", c, TUPLES, " (paper: an order of magnitude)"),
        at_least("(c)", c, EACH),
        Statement(
            f"{THESIS}(d)",
            "the more streams a channel has, the higher the throughput, in tuples of the streams",
            all(one < other for one, other in pairwise(tuples.values())),
            ", ".join(f"{number(rate)} ({at:,.0f})" for at, rate in tuples.items()),
        ),
        at_least("(d)", d, TUPLES),
        at_least("(d)", d, ONCE),
        at_least("(d)", d, EACH),
    ]


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


def by_channel(steps: Sequence[tuple[int, int, int]], rounds: int, scale: Scale) -> Fed:
    """Workload 3 with and without channels: at each step, so many streams and queries."""
    fed: Fed = {feed: {OWN: {}, WITHOUT: {}} for feed in (TUPLES, ONCE, EACH)}
    for at, capacity, queries in steps:
        found = selected(capacity, queries, rounds, scale)
        found[EACH] = published_to_each(capacity, queries, rounds, scale)
        for feed, lines in fed.items():
            for way in lines:
                lines[way][at] = found[feed][way]
    return fed


def published_to_each(capacity: int, queries: int, rounds: int, scale: Scale) -> dict[str, Speed]:
    """Streams of their own, to each of which an event of S is published."""
    streams = [{f"S{place + 1}" for place in range(capacity)}]
    # Documents, of which a round of S has `capacity` and one of T has one.
    length = max(24, rounds * 2 // (capacity + 1))
    events = lines_of(rumor_events(length, capacity=capacity))
    # As many rounds, whatever the capacity.
    batch, per_round = 250 * (capacity + 1), 2 / (capacity + 1)
    ways = {}
    for way in (OWN, WITHOUT):
        went = counted(
            rumor_benchmark(2, queries, capacity=capacity),
            events,
            scale.limit,
            batch=batch,
            sharable=streams,
            without={*MODES[way]},
        )
        ways[way] = replace(went, per_second=went.per_second * per_round)
    agreeing(ways)
    return ways


def selected(capacity: int, queries: int, rounds: int, scale: Scale) -> dict[str, dict[str, Speed]]:
    """Selections over S in the places of S1, S2, …, each of which admits all: of the event stage
    alone, and of the engine."""
    [(text, rows)] = rumor_benchmark(2, queries)
    declared, query = text.rsplit("\n", 1)
    text = f"{declared}\n{query.replace('S NEXT', 'FILTER{a9 >= :least}(S) NEXT')}"
    some = [(text, [row | {"least": -1 - place % capacity} for place, row in enumerate(rows)])]
    events = [*rumor_events(rounds)]
    lines = lines_of(events)
    fed: dict[str, dict[str, Speed]] = {TUPLES: {}, ONCE: {}}
    for way in (OWN, WITHOUT):
        staged = Staged(some, MODES[way])
        fed[TUPLES][way] = speed(staged.take, staged.prepare(events), scale.limit)
        fed[ONCE][way] = counted(some, lines, scale.limit, without={*MODES[way]})
    agreeing({f"{way}, {feed}": one for feed, ways in fed.items() for way, one in ways.items()})
    return fed
