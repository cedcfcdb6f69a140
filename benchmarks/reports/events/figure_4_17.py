"""Figures 4.15 to 4.17: the Double-Top by FOLD, by resubscription, and in SQL."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import xscl
from benchmarks.events.double_top import FOLDS, RESUBSCRIPTION, in_sql, smoothed, table_of
from benchmarks.events.ways import Speed, lines_of, published, sized, speed
from benchmarks.report import Plot, Report, Statement, Table, number
from benchmarks.scale import Scale
from datasets import stock_closings

WINDOWS = (1, 5, 10, 20, 50)
ROWS = 112_635
DAY = 86_400
LIVELY = 0.1
"""The volatility of the rows over which all ways find some."""
FORMULATIONS = {"FOLD": FOLDS, "resubscription": RESUBSCRIPTION}
SQL = ("CQL1", "CQL2")
Tops = frozenset[tuple[str, ...]]


def run(scale: Scale) -> Report:
    rows = sized(scale, ROWS, 12_000, 480)
    closings = [*stock_closings(rows)]
    lines, table = lines_of(closings), table_of(closings)
    rates = {
        days: {
            name: streamed(text, days, lines, scale.limit) for name, text in FORMULATIONS.items()
        }
        for days in WINDOWS
    }
    batches = {days: {way: in_batch(way, days, table) for way in SQL} for days in WINDOWS}
    lively = [*stock_closings(rows, volatility=LIVELY)]
    found = {days: all_ways(lively, days) for days in WINDOWS[:2]}
    gaps = {
        days: rates[days]["FOLD"].per_second / rates[days]["resubscription"].per_second
        for days in WINDOWS
    }
    same = all(len({*ways.values()}) == 1 for ways in found.values())
    counts = ", ".join(f"{len(ways['FOLD'])} ({days} days)" for days, ways in found.items())
    return Report(
        "figure_4_17",
        "Figures 4.15 to 4.17: the Double-Top in four formulations",
        f"{rows:,} closings of 24 names, a geometric walk of 2 % a day in place of the thesis' "
        "(which is not public), over means of so many days (`AVG(Price) … WINDOW`; of one day the "
        "closings). *FOLD*: a fall, then four FOLDs. *Resubscription*: extrema are published, "
        "then five follow each other. Both from lines of JSON, in batches of 1,000. *CQL1* "
        "(window functions) and *CQL2* (self-joins) are the thesis' two formulations for STREAM "
        "in DuckDB, one thread, which gets all rows at once and keeps nothing running: a peer for "
        "the shape, no stream. A walk of 2 % has no double top of 20 %; that all ways find the "
        f"same is seen over {rows:,} rows of {LIVELY:.0%} a day.",
        (
            Table(
                ("days", *(f"{name}, rows/s" for name in (*FORMULATIONS, *SQL)), "FOLD/resub."),
                tuple(
                    (
                        days,
                        *(rates[days][name].per_second for name in FORMULATIONS),
                        *batches[days].values(),
                        gaps[days],
                    )
                    for days in WINDOWS
                ),
            ),
        ),
        (
            Plot(
                "days of a mean",
                "rows/s",
                {name: [(d, rates[d][name].per_second) for d in WINDOWS] for name in FORMULATIONS}
                | {name: [(days, batches[days][name]) for days in WINDOWS] for name in SQL},
            ),
        ),
        (
            Statement(
                "4.6.3, figure 4.17",
                "FOLD at least 1.5 times the rows/s of resubscription, without smoothing",
                gaps[1] >= 1.5,
                f"{number(gaps[1])} times",
            ),
            Statement(
                "4.6.3, figure 4.17",
                "smoothing narrows the gap",
                gaps[WINDOWS[-1]] < gaps[1],
                ", ".join(f"{number(gap)} ({days} days)" for days, gap in gaps.items()),
            ),
            Statement(
                "4.6.3, figure 4.17",
                "CQL2 has less than half of the speed of CQL1",
                batches[1]["CQL2"] < batches[1]["CQL1"] / 2,
                f"{number(batches[1]['CQL2'] / batches[1]['CQL1'])}",
            ),
            Statement(
                "goal, figure 4.17", "all four find the same double tops of each name", same, counts
            ),
        ),
    )


def streamed(text: str, days: int, lines: Sequence[str], limit: float) -> Speed:
    """How fast an engine goes through the rows."""
    with xscl.Engine(lateness=0) as engine:
        engine.load(smoothed(text, days))
        xscl.collect_rarely()
        return speed(lambda part: published(engine, part), lines, limit)


def in_batch(way: str, days: int, closings: Any) -> float:
    """How many rows a second a SQL formulation goes through."""
    started = time.process_time()
    in_sql(way, days, closings)
    return len(closings) / (time.process_time() - started)


def all_ways(closings: Iterable[Mapping[str, Any]], days: int) -> dict[str, Tops]:
    """The double tops (name, A, B, C, D) that each way finds."""
    closings = ended([*closings])
    found = {name: in_stream(text, days, closings) for name, text in FORMULATIONS.items()}
    table = table_of(closings)
    for way in SQL:
        found[way] = frozenset(top(row[0], row[1:5]) for row in in_sql(way, days, table))
    return found


def ended(closings: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """With two days on which all prices are far higher: so the last fall of each name has an end,
    which FOLD alone does not need."""
    last = {closing["json"]["Name"]: closing for closing in closings}
    day = max(closing["timestamp"] for closing in closings)
    for later in (1, 2):
        for name, closing in last.items():
            more = {"Name": name, "Price": closing["json"]["Price"] * 1_000**later}
            time = day + later * DAY
            closings.append({**closing, "id": f"{name}+{later}", "timestamp": time, "json": more})
    return closings


def in_stream(text: str, days: int, closings: Iterable[Mapping[str, Any]]) -> Tops:
    """The double tops that an engine reports."""
    with xscl.Engine() as engine:
        engine.load(smoothed(text, days))
        results = [
            match.result for match in engine.run(closings, batch=1_000) if match.query == "tops"
        ]
    return frozenset(top(one["Name"], [one[key] for key in "ABCD"]) for one in results)


def top(name: str, prices: Iterable[float]) -> tuple[str, ...]:
    """A double top, its prices to as many digits as sums in different orders have in common."""
    return (name, *(f"{price:.9g}" for price in prices))
