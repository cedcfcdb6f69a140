"""SASE's figures 8 and 9, and its first finding: active instance stacks, and partitions of them."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.patterns.basic import BasicScan
from benchmarks.patterns.streams import TYPES, results_per_event, sequences, typed
from benchmarks.patterns.ways import Staged, compared, domains, sequence, sized
from benchmarks.report import Cell, Plot, Report, Statement, Table, number
from benchmarks.scale import Scale

LENGTH = 3
WINDOW = 10_000
EVENTS = 200_000
SELECTION = ("PAIS", "dynamic filtering")
Row = tuple[Cell, ...]


def run(scale: Scale) -> Report:
    spread = (100, 200, 500, 1_000, 2_000, 5_000, 10_000) if scale.full else (100, 1_000, 10_000)
    windows = range(10_000, 100_001, 10_000 if scale.full else 45_000)
    eight = [(value, *scanned(value, WINDOW, scale)) for value in spread]
    nine = [(window, *scanned(10_000, window, scale)) for window in windows]
    tested = [by_partition(window, scale) for window in (1_000, WINDOW)]
    partitioned = [ratio for _, ratio in tested]
    columns = (
        "results an event",
        "results expected, an event",
        "basic, events/s",
        "AIS, events/s",
        "speed, AIS : basic",
    )
    ratios = [row[-1] for row in eight]
    basic, ais = ([row[place] for row in eight] for place in (3, 4))
    falls = [nine[0][place] / nine[-1][place] for place in (3, 4)]
    statements = (
        Statement(
            "SASE, figure 8",
            "AIS at least 18 times as fast as basic at V1 = 100",
            ratios[0] >= 18,
            f"{number(ratios[0])} times",
        ),
        Statement(
            "SASE, figure 8",
            "the gain of AIS falls as V1 grows (10 % slack), to 0.9–3 times at 10,000 (paper: "
            "close)",
            all(b <= 1.1 * a for a, b in pairwise(ratios)) and 0.9 <= ratios[-1] <= 3,
            ", ".join(map(number, ratios)),
        ),
        Statement(
            "SASE, figure 8",
            "basic and AIS get faster as V1 grows (10 % slack)",
            all(b >= 0.9 * a for speeds in (basic, ais) for a, b in pairwise(speeds)),
            ", ".join(
                f"{name} {number(speeds[0])} → {number(speeds[-1])} events/s"
                for name, speeds in (("basic", basic), ("AIS", ais))
            ),
        ),
        Statement(
            "SASE, figure 9",
            "with a window ten times as long AIS slows down at most 2 times, basic at least twice "
            "as much (paper: much faster)",
            falls[1] <= 2 and falls[0] >= 2 * falls[1],
            f"AIS {number(falls[1])} times, basic {number(falls[0])} times",
        ),
        Statement(
            "SASE, section 6.1",
            "with windows of 10,000 events selection is at least 20 times slower than PAIS (paper: "
            "it does not end)",
            partitioned[1] >= 20,
            f"{number(partitioned[1])} times",
        ),
        Statement(
            "goal, SASE section 6.1",
            "PAIS at least 20 times as fast as selection with windows of 1,000 events",
            partitioned[0] >= 20,
            f"{number(partitioned[0])} times",
        ),
    )
    plots = tuple(
        Plot(x, "events/s", lines, log_x=True)
        for x, lines in (
            ("V1", {name: [(row[0], row[at]) for row in eight] for name, at in PLOTTED}),
            ("window, events", {name: [(row[0], row[at]) for row in nine] for name, at in PLOTTED}),
        )
    )
    return Report(
        "sase_stacks",
        "SASE, figures 8 and 9: active instance stacks",
        f"`SEQ(E1, E2, E3)` over some {sized(scale, EVENTS):,} events of uniformly drawn types, "
        f"at most {scale.limit:g} s a way. Figure 8: windows of {sized(scale, WINDOW):,} events; "
        f"as in the paper, {TYPES} · V1^(2/3) types simulate a test `[attr1]` of V1 values, so "
        "results are few and scatter about the number expected (formula (1) for sliding windows: "
        "three times as many). Figure 9: growing windows at V1 = 10,000. *Basic* is the runtime "
        "stack of section 3.2 (in `benchmarks/`), *AIS* the product. Third table: `[attr1]` of 100 "
        "values is tested in the scan (*PAIS*) or on finished sequences (*selection*).",
        (
            Table(("V1", *columns), tuple(eight)),
            Table(("window, events", *columns), tuple(nine)),
            Table(
                (
                    "window, events",
                    "`[attr1]`",
                    "events/s",
                    "sequences tested, an event",
                    "results an event",
                ),
                tuple(row for rows, _ in tested for row in rows),
            ),
        ),
        plots,
        statements,
    )


PLOTTED = (("basic", 3), ("AIS", 4))


def scanned(value: int, full_window: int, scale: Scale) -> tuple[float, ...]:
    """Of a row of figure 8 or 9: results, their formula, speeds and their ratio."""
    window, types = sized(scale, full_window), round(TYPES * value ** ((LENGTH - 1) / LENGTH))
    events = typed(max(3 * window, sized(scale, EVENTS)), (), types=types)
    ways = {
        "AIS": Staged(sequence(LENGTH, 0, window), range(1, LENGTH + 1)),
        "basic": BasicScan(LENGTH, window),
    }
    went = compared(ways, events, window, scale.limit)
    ais, basic = went["AIS"], went["basic"]
    results = sum(ais.found[10:]) / max(1, ais.documents)
    return (
        results,
        results_per_event(window, LENGTH, types, 1),
        basic.per_second,
        ais.per_second,
        ais.per_second / basic.per_second,
    )


def by_partition(full_window: int, scale: Scale) -> tuple[tuple[Row, ...], float]:
    """The rows of the test in and after the scan, and how many times as fast the former is."""
    window = sized(scale, full_window)
    events = typed(60_000 // full_window * window, domains(100))
    query, types = sequence(LENGTH, 1, window), range(1, LENGTH + 1)
    ways = {"PAIS": Staged(query, types), "selection": Staged(query, types, without=SELECTION)}
    went = compared(ways, events, window, scale.limit)
    rows = tuple(
        (
            window,
            name,
            rate.per_second,
            sequences(events, tests, window) / len(events),
            sum(rate.found) / (len(rate.found) * window / 10),
        )
        for (name, rate), tests in zip(went.items(), (1, 0), strict=True)
    )
    return rows, went["PAIS"].per_second / went["selection"].per_second
