"""SASE's figure 10 and its experiment 4: where tests, windows and negation are evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from benchmarks.measure import Rate
from benchmarks.patterns.second_test import SecondTest
from benchmarks.patterns.streams import typed
from benchmarks.patterns.ways import STEPS, Staged, Way, compared, domains, order, sequence, sized
from benchmarks.report import Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from xscl.pattern_stage.pattern import Component

WINDOW = 10_000
EVENTS = 100_000
TYPES = range(1, 4)
SELECTION: Final = "selection"
MULTI: Final = "Multi-PAIS"
DYNAMIC: Final = "dynamic filtering"
WAYS = (SELECTION, MULTI, DYNAMIC, "product")
WINDOWS = {
    "nowhere": ("windows in scan", "windows in construction"),
    "in construction": ("windows in scan",),
    "in scan": ("windows in construction",),
    "both": (),
}


def run(scale: Scale) -> Report:
    spread = (10, 20, 50, 100, 500, 2_000, 10_000) if scale.full else (10, 50, 500, 2_000, 10_000)
    figures = {of: {value: two_tests(value, of, scale) for value in spread} for of in (20, 5)}
    windows = {inequalities: by_window(inequalities, scale) for inequalities in range(3)}
    negations = by_negation(scale)
    return Report(
        "sase_tests",
        "SASE, figure 10: tests, windows and negation",
        f"`SEQ(E1, E2, E3)` with windows of {sized(scale, WINDOW):,} events, one a tick, of twenty "
        "types drawn uniformly. Figure 10: `[attr1]` of V1 values in the scan (PAIS), and "
        "`[attr2]` of V2 values after construction (*selection*), in a second set of stacks that "
        "the scan intersects (*Multi-PAIS*), or in construction as soon as two events are known "
        "(*dynamic filtering*): three ways of one baseline in `benchmarks/`, for the *product*, "
        "beside them, makes one key of both tests. Sequences are those that construction "
        "completes. Experiment 4 (the product with switches off): `[attr1]` of 100 values, IP "
        "inequalities between two events, and the window tested at the end only or in scan or "
        "construction; then `SEQ(E1, !(E3), E2)` with the negated events by key or all in one "
        "list. The first window is not timed, what follows is, in processor time, until "
        f"{EVENTS:,} events or {scale.limit:g} s (who gets through no window is measured in the "
        "latter half of what was taken). All ways are compared by the matches of each step.",
        (
            *(test_table(of, rows) for of, rows in figures.items()),
            Table(
                ("IP", *(f"window {where}, events/s" for where in WINDOWS)),
                tuple(
                    (count, *(went.per_second for went in rates.values()))
                    for count, rates in windows.items()
                ),
            ),
            Table(
                ("negated events", "events/s", "matches"),
                tuple((name, went.per_second, sum(went.found)) for name, went in negations.items()),
            ),
        ),
        tuple(Plot("V1", "events/s", lines(rows), log_x=True) for rows in figures.values()),
        (*test_statements(figures), *other_statements(windows, negations)),
    )


Rates = dict[str, Rate]
Tested = tuple[Rates, dict[str, float]]
"""How fast each way is, and how many sequences an event it constructs."""


def two_tests(value: int, second: int, scale: Scale) -> Tested:
    """The ways of figure 10, for the domains of both attributes."""
    window = sized(scale, WINDOW)
    events = typed(sized(scale, EVENTS), domains(value, second))
    tested = {
        SELECTION: SecondTest(window, SELECTION),
        MULTI: SecondTest(window, MULTI),
        DYNAMIC: SecondTest(window, DYNAMIC),
    }
    ways: dict[str, Way] = {**tested, "product": Staged(sequence(3, 2, window), TYPES)}
    went = compared(ways, events, window, scale.limit)
    return went, {
        name: way.constructed / (len(went[name].found) * (window // STEPS))
        for name, way in tested.items()
    }


def test_table(second: int, rows: dict[int, Tested]) -> Table:
    return Table(
        (
            f"V1 (V2 = {second})",
            *(f"{way}, events/s" for way in WAYS),
            *(f"{way}, sequences an event" for way in WAYS[:3]),
        ),
        tuple(
            (
                value,
                *(went[way].per_second for way in WAYS),
                *(made[way] for way in WAYS[:3]),
            )
            for value, (went, made) in rows.items()
        ),
    )


def lines(rows: dict[int, Tested]) -> dict[str, list[tuple[float, float]]]:
    return {
        way: [(value, went[way].per_second) for value, (went, _) in rows.items()] for way in WAYS
    }


def by_window(inequalities: int, scale: Scale) -> Rates:
    """The window tested in several places, with so many inequalities between two events."""
    window = sized(scale, WINDOW)
    events = typed(sized(scale, EVENTS), domains(100))
    query = sequence(3, 1, window, (order(0, 1, 3), order(1, 2, 4))[:inequalities])
    ways = {where: Staged(query, TYPES, without=off) for where, off in WINDOWS.items()}
    return compared(ways, events, window, scale.limit)


def by_negation(scale: Scale) -> Rates:
    """`SEQ(E1, !(E3), E2) WHERE [attr1]`, with the negation index and without."""
    window = sized(scale, WINDOW)
    events = typed(sized(scale, EVENTS), domains(100))
    query = sequence(3, 1, window)
    first, negated, last = query.components
    query = replace(query, components=(first, Component(negated.name, negated=True), last))
    ways = {
        "by key": Staged(query, (1, 3, 2)),
        "in one list": Staged(query, (1, 3, 2), without=("negation index",)),
    }
    return compared(ways, events, window, scale.limit)


def test_statements(figures: dict[int, dict[int, Tested]]) -> list[Statement]:
    rates = {value: went for value, (went, _) in figures[20].items()}
    speeds = {
        value: {way: went[way].per_second for way in WAYS[:3]} for value, went in rates.items()
    }
    few = {value: of[DYNAMIC] / of[SELECTION] for value, of in speeds.items() if value <= 50}
    best = {value: of[DYNAMIC] / max(of.values()) for value, of in speeds.items()}
    separate = {
        value: max(of.values()) / min(of.values()) for value, of in speeds.items() if value >= 2_000
    }
    made = [of for rows in figures.values() for value, (_, of) in rows.items() if value <= 50]
    return [
        Statement(
            "SASE, figure 10(a)",
            "dynamic filtering at least 1.5 times selection at V1 ≤ 50, nowhere below 0.9 of the "
            "best of the three",
            min(few.values()) >= 1.5 and min(best.values()) >= 0.9,
            f"{spread_of(few)} of selection, {spread_of(best)} of the best",
        ),
        Statement(
            "SASE, figure 10(a)",
            "all three within 25 % at V1 ≥ 2,000",
            max(separate.values()) <= 1.25,
            spread_of(separate),
        ),
        Statement(
            "SASE, figure 10",
            "sequences constructed: dynamic filtering < Multi-PAIS ≤ selection (V1 ≤ 50)",
            all(of[DYNAMIC] < of[MULTI] <= 1.1 * of[SELECTION] for of in made),
            ", ".join(
                "/".join(number(of[way]) for way in (DYNAMIC, MULTI, SELECTION)) for of in made
            )
            + " an event",
        ),
    ]


def spread_of(by_value: dict[int, float]) -> str:
    return ", ".join(f"{number(ratio)} (V1 = {value:,})" for value, ratio in by_value.items())


def other_statements(windows: dict[int, Rates], negations: Rates) -> list[Statement]:
    both = {
        count: rates["both"].per_second
        / max(rates[where].per_second for where in ("in scan", "in construction"))
        for count, rates in windows.items()
    }
    index = negations["by key"].per_second / negations["in one list"].per_second
    return [
        Statement(
            "SASE, experiment 4",
            "windows in scan and construction: at least 0.95 of the better one alone",
            min(both.values()) >= 0.95,
            ", ".join(f"{number(ratio)} (IP = {count})" for count, ratio in both.items()),
        ),
        Statement(
            "SASE, experiment 4",
            "the negation index at least 5 times a scan of the interval, with 5 % negated events",
            index >= 5,
            f"{number(index)} times",
        ),
    ]
