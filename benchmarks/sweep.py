"""A sweep of the technical benchmark: one parameter varies, as in figures 6.8 to 6.13."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from benchmarks.report import Plot, Statement, Table, number
from benchmarks.technical import COLUMNS, WAYS, Pair

__all__ = [
    "DEFAULTS",
    "GOALS",
    "Sweep",
    "between",
    "cost",
    "ends",
    "gain",
    "goals",
    "plot",
    "span",
    "tables",
]

DEFAULTS = 1_000
"""The number of queries where another parameter varies (table 6.5)."""

GOALS = {
    "Sequential": 10_000,
    "Sequential, SQLite": 10_000,
    "Sequential, deduplicated": 100,
    "MMQJP": 5,
}
"""How many times as long the baselines should take as the engine on a cold pair, at 100,000
queries.  Sequential is here twice: in DuckDB most of its time is planning, in SQLite hardly any."""

Sweep = Mapping[float, Pair]


def tables(parameter: str, pairs: Sweep) -> tuple[Table, Table]:
    """The times, and what else was counted: a row for each value of the parameter."""
    times = ((_value(x), *map(pair.time, WAYS)) for x, pair in pairs.items())
    others = ((_value(x), *pair.cells()) for x, pair in pairs.items())
    return Table((parameter, *WAYS), (*times,)), Table((parameter, *COLUMNS), (*others,))


def plot(parameter: str, pairs: Sweep, *, log_x: bool = False) -> Plot:
    """A line for each way."""
    lines = {
        way: [(x, y) for x, pair in pairs.items() if (y := pair.seconds[way]) is not None]
        for way in WAYS
    }
    return Plot(parameter, "seconds a pair of documents", lines, log_x)


def cost(pairs: Sweep, way: str, value: float) -> float:
    """The time of a way at a value of the parameter; NaN if that took too long."""
    taken = pairs[value].seconds[way]
    return float("nan") if taken is None else taken


def ends(pairs: Sweep, way: str, slow: float, fast: float) -> str:
    """How many times as long a way takes at one value as at another, and its times."""
    times = cost(pairs, way, slow) / cost(pairs, way, fast)
    return f"{number(times)} times ({pairs[fast].time(way)} and {pairs[slow].time(way)})"


def gain(pairs: Sweep, queries: int) -> str:
    """How many times as long as MMQJP Sequential takes, in DuckDB and in SQLite."""
    pair = pairs[queries]
    duckdb, sqlite = (
        f"{number(cost(pairs, way, queries) / cost(pairs, 'MMQJP', queries))} times in {store} "
        f"({pair.time(way)} and {pair.time('MMQJP')})"
        for way, store in (("Sequential", "DuckDB"), ("Sequential, SQLite", "SQLite"))
    )
    return f"{duckdb}, {sqlite}, at {queries:,} queries"


def span(pairs: Sweep, way: str) -> float:
    """How many times as long a way takes at its slowest as at its fastest."""
    times = [taken for pair in pairs.values() if (taken := pair.seconds[way]) is not None]
    return max(times) / min(times) if len(times) == len(pairs) else float("nan")


def between(least: float, value: float, most: float = inf) -> bool | None:
    """Whether a ratio lies in a range; None if it could not be measured."""
    return None if value != value else least <= value <= most


def goals(figure: str, pairs: Sweep, queries: int) -> list[Statement]:
    """The ratios that the engine should reach; verdicts are for 100,000 queries only."""
    statements = []
    pair = pairs[queries]
    for way, times in GOALS.items():
        ratio = pair.times(way, "XSCL, cold")
        statements.append(
            Statement(
                f"goal, {figure}",
                f"at 100,000 queries XSCL takes a cold pair at least {times:,} times as fast as "
                f"{way}{', DuckDB' if way == 'Sequential' else ''}",
                None if queries < 100_000 or ratio is None else ratio >= times,
                f"{number(ratio) if ratio else '—'} times ({pair.time('XSCL, cold')} and "
                f"{pair.time(way)}, {pair.matches:,} matches), at {queries:,} queries",
            )
        )
    return statements


def _value(value: float) -> int | str:
    return int(value) if value == int(value) and value >= 1 else f"{value:g}"
