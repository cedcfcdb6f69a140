"""The levels of consistency over a disordered stream: what is reported, retracted, and when."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from benchmarks.automata.workloads import MILLISECOND, Arrival, disordered, prices, q1
from benchmarks.report import Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from xscl import Engine, Match

WINDOW = 500
LATE = 5_000
LOOKS = (0, 100, 250, 500, 1_000, None)
"""How far beyond the watermark `middle` looks, in ms; None for INF."""
IGNORABLE = (70, 90)
DISORDER = (0, 5, 10, 20)
LEVELS = ("strong", "middle", "weak")

Line = list[tuple[float, float]]


class Outcome(NamedTuple):
    """What a run has reported: matches and retractions, the retractions, the keys of the matches
    that are not retracted, and their latency on average (ms); with the most runs and pending events
    at a time."""

    output: int
    back: int
    standing: frozenset[tuple[object, ...]]
    latency: float
    state: int


def run(scale: Scale) -> Report:
    many = min(30_000, max(2_000, scale.items * 2))
    looks = {share: by_look(many, share / 100) for share in IGNORABLE}
    strong = {share: outcome("strong", of_share(many, share / 100)) for share in IGNORABLE}
    table = {late: by_level(many, late / 100) for late in DISORDER}
    growth = {share: found[-2].output / max(1, found[0].output) for share, found in looks.items()}
    shares = {late: right(found) for late, found in table.items()}
    return Report(
        "automata_levels",
        "Automata: figures 10 and 11, and the levels of consistency",
        f"Q1 over {many:,} events, published one by one, windows of {WINDOW} ms; the watermark "
        f"moves every {WINDOW} ms. Figures 10 and 11: `middle(T)`, events of which 70 or 90 % are "
        f"ignorable and 5 % come up to {LATE:,} ms late. Output is matches and retractions. "
        "Latency is the time of the stream from the arrival of a match's last event to its report. "
        "The other tables have the levels of consistency over no ignorable events, of which a "
        f"share comes up to {2 * WINDOW:,} ms late; state is the most runs and pending events at a "
        "time.",
        (
            Table(
                (
                    "T of `middle(T)`, ms",
                    *(f"output, {share} % ignorable" for share in IGNORABLE),
                    *(f"latency, {share} % ignorable, ms" for share in IGNORABLE),
                ),
                tuple(
                    (
                        "INF" if look is None else look,
                        *(looks[share][at].output for share in IGNORABLE),
                        *(looks[share][at].latency for share in IGNORABLE),
                    )
                    for at, look in enumerate(LOOKS)
                ),
            ),
            Table(
                (
                    "late events, %",
                    *(f"output, {level}" for level in LEVELS),
                    "right matches of weak, %",
                ),
                tuple(
                    (late, *(found[level].output for level in LEVELS), 100 * shares[late])
                    for late, found in table.items()
                ),
            ),
            Table(
                (
                    "late events, %",
                    *(f"latency, {level}, ms" for level in LEVELS),
                    *(f"state, {level}" for level in LEVELS),
                ),
                tuple(
                    (
                        late,
                        *(found[level].latency for level in LEVELS),
                        *(found[level].state for level in LEVELS),
                    )
                    for late, found in table.items()
                ),
            ),
        ),
        (
            Plot(
                "T of `middle(T)`, ms",
                "matches and retractions",
                {f"{share} % ignorable": line(looks[share]) for share in IGNORABLE},
            ),
        ),
        (
            Statement(
                "AFA, figure 10",
                "output grows with T (5 % slack), more with 70 % ignorable events than with 90 %",
                all(map(grows, looks.values())) and growth[70] > growth[90] > 1,
                f"{number(growth[70])} and {number(growth[90])} times from 0 to 1,000 ms",
            ),
            Statement(
                "AFA, figure 10",
                "from T = 0 to 1,000 ms output grows 14 times with 70 % ignorable events, 4.5 "
                "times with 90 % (goal: 1.5 times as much with 70 %)",
                growth[70] >= 14 and growth[90] >= 4.5,
                f"{number(growth[70])} and {number(growth[90])} times",
            ),
            Statement(
                "AFA, figure 10",
                "AFA+O (`strong`) has the output of T = 0, and retracts nothing",
                all(
                    one.output == looks[share][0].output and not one.back
                    for share, one in strong.items()
                ),
                ", ".join(
                    f"{one.output:,} for {looks[share][0].output:,}"
                    for share, one in strong.items()
                )
                + f"; {sum(one.back for one in strong.values()):,} retractions",
            ),
            Statement(
                "AFA, figure 11",
                "latency falls with T",
                all(map(falls, looks.values())),
                "; ".join(
                    f"{share} % ignorable: "
                    + " → ".join(number(found[at].latency) for at in (0, -2, -1))
                    + " ms at 0, 1,000 and INF"
                    for share, found in looks.items()
                ),
            ),
            Statement(
                "AFA, figure 11",
                "at INF a match is reported in the call that brings its last event (paper: within "
                "0.5 ms)",
                all(found[-1].latency == 0 for found in looks.values()),
                ", ".join(f"{number(found[-1].latency)} ms" for found in looks.values()),
            ),
            Statement(
                "goal, AFA figure 11",
                f"at T = 0 latency is at least W/2, {WINDOW // 2} ms",
                all(found[0].latency >= WINDOW / 2 for found in looks.values()),
                ", ".join(f"{number(found[0].latency)} ms" for found in looks.values()),
            ),
            Statement(
                "goal, thesis table 2.1",
                "`strong` and `middle` end with the same matches",
                all(one["strong"].standing == one["middle"].standing for one in table.values()),
                f"{sum(len(one['strong'].standing) for one in table.values()):,} matches",
            ),
            Statement(
                "goal, thesis table 2.1",
                "the share of right matches of `weak` falls with late events, and its state is not "
                "above that of `strong`",
                [*shares.values()] == sorted(shares.values(), reverse=True)
                and all(one["weak"].state <= one["strong"].state for one in table.values()),
                ", ".join(f"{number(100 * one)} %" for one in shares.values())
                + "; state at most "
                + number(max(one["weak"].state / one["strong"].state for one in table.values()))
                + " of it",
            ),
        ),
    )


def of_share(many: int, ignorable: float) -> list[Arrival]:
    return disordered(prices(many, ignorable=ignorable), 0.05, LATE, WINDOW)


def by_look(many: int, ignorable: float) -> list[Outcome]:
    """The outcome for each of `LOOKS`."""
    arrivals = of_share(many, ignorable)
    levels = ["middle" if look is None else f"middle({look} ms)" for look in LOOKS]
    return [outcome(level, arrivals) for level in levels]


def by_level(many: int, late: float) -> dict[str, Outcome]:
    arrivals = disordered(prices(many), late, 2 * WINDOW, WINDOW)
    return {level: outcome(level, arrivals) for level in LEVELS}


def right(found: dict[str, Outcome]) -> float:
    """The share of what `weak` has reported that is right."""
    weak = found["weak"].standing
    return len(weak & found["strong"].standing) / max(1, len(weak))


def grows(found: Sequence[Outcome]) -> bool:
    return all(later.output >= 0.95 * one.output for one, later in pairwise(found))


def falls(found: Sequence[Outcome]) -> bool:
    return all(later.latency <= one.latency for one, later in pairwise(found))


def line(found: Sequence[Outcome]) -> Line:
    return [
        (float(look), float(one.output))
        for look, one in zip(LOOKS, found, strict=True)
        if look is not None
    ]


def outcome(level: str, arrivals: Sequence[Arrival]) -> Outcome:
    """Publishes all, as a caller does who has them one by one."""
    came = [0] * len(arrivals)
    used = sorted(one.event[1] for one in arrivals if one.event[3] == "S")
    for place, (event, _) in enumerate(arrivals):
        came[event[2]] = place
    there: dict[tuple[object, ...], int] = {}
    delays: dict[tuple[object, ...], int] = {}
    output = back = most = 0
    watermark = -1
    engine = Engine(lateness="INF", consistency=level)
    engine.subscribe(q1(ignoring=True))

    def note(found: list[Match], place: int) -> None:
        nonlocal output, back
        output += len(found)
        for one in found:
            said = getattr(one, "match", one)
            key = said.start, said.time, str(said.result)
            if one.retracts:
                back += 1
                there.pop(key, None)
                continue
            there[key] = 1
            first, last = (round(at * 1e6) for at in (said.start, said.time))
            needed = used[bisect_left(used, first) : bisect_left(used, last + 1)]
            delays[key] = place - max([came[time // MILLISECOND] for time in needed])

    for place, (event, mark) in enumerate(arrivals):
        _, time, serial, symbol, price, change = event
        json = {"symbol": symbol, "price": price}
        if symbol == "S":
            json["change"] = change
        envelope = {"stream": "S", "id": str(serial), "timestamp": time / 1e6, "json": json}
        note(engine.publish_many([envelope]), place)
        if mark > watermark:
            watermark = mark
            note(engine.advance(mark / 1e6), place)
            state = engine.stats()["patterns"]
            most = max(most, state["runs"] + state["waiting"])
    note(engine.flush(), len(arrivals) - 1)
    engine.close()
    some = [max(0, delays[key]) for key in there]
    return Outcome(output, back, frozenset(there), sum(some) / max(1, len(some)), most)
