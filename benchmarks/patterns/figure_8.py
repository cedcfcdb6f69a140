"""SASE+'s Kleene queries over stocks (figure 8), by runs, shared and merged, and by backtracking:
speeds, runs and lengths of matches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean
from typing import Literal

from benchmarks.measure import Rate
from benchmarks.patterns.backtrack import Backtrack
from benchmarks.patterns.kleene import QUERIES, Constants, by_hand, kleene
from benchmarks.patterns.streams import Stock, stocks
from benchmarks.patterns.ways import STEPS, Staged, Way, compared, sized
from benchmarks.scale import Scale

__all__ = ["EVENTS", "LONGER", "NAMES", "WINDOW", "Measured", "every", "ways"]

WINDOW = 500
SYMBOLS = 2
EVENTS = 30_000
LONGER = 5
"""Limits that the ways of a query may take."""
BASIC = ("merging",)
COPIES = ("merging", "shared buffer")
NAMES = tuple(p + s for p, s in QUERIES)


@dataclass(frozen=True, slots=True)
class Measured:
    """A query over a window: speeds by way, the events of all matches and their mean, runs of a
    symbol without and with merging, how often backtracking reads an event again."""

    rates: dict[str, Rate]
    lengths: int
    length: float
    runs: float
    merged: float
    again: float

    @property
    def matching(self) -> float:
        """The part of the cost that is left without construction."""
        return self.ratio("basic", "basic, none")

    def ratio(self, way: str, other: str) -> float:
        """How many times as fast a way is as another."""
        return self.rates[way].per_second / self.rates[other].per_second


def every(up: float, scale: Scale) -> dict[str, float]:
    """Events a second of all queries by the basic algorithm, in turn."""
    staged: dict[str, Way] = {
        name: product(name, sized(scale, WINDOW), BASIC, "matches") for name in NAMES
    }
    events, window = stream(up, scale), SYMBOLS * sized(scale, WINDOW)
    went = compared(staged, events, window, LONGER * scale.limit, same_query=False)
    return {name: rate.per_second for name, rate in went.items()}


def product(
    name: str,
    window: int,
    without: Iterable[str],
    output: Literal["counts", "matches", "none"],
) -> Staged:
    pattern = kleene(name[:2], name[2:], SYMBOLS * window)
    return Staged(pattern, (1, 1), Constants(), without, output)


def stream(up: float, scale: Scale) -> list[Stock]:
    return list(stocks(sized(scale, EVENTS), up=up, symbols=SYMBOLS, turning=False))


def ways(name: str, full_window: int, up: float, scale: Scale) -> Measured:
    """All ways to evaluate a query over a window of one symbol's events."""
    window = sized(scale, full_window)
    events, within = stream(up, scale), SYMBOLS * window
    basic, merging = (product(name, window, off, "matches") for off in (BASIC, ()))
    backtrack = Backtrack(by_hand(name[:2], name[2:], within, Constants()), peeking=False)
    by: dict[str, Way] = {
        "basic": basic,
        "merging": merging,
        "backtrack": backtrack,
        "copies": product(name, window, COPIES, "matches"),
        "basic, none": product(name, window, BASIC, "none"),
        "merging, none": product(name, window, (), "none"),
        "merging, counts": product(name, window, (), "counts"),
    }
    rates = compared(by, events, within, LONGER * scale.limit)
    steps = len(rates["merging, counts"].found)
    found = sum(rates["merging, counts"].found)
    if len(rates["backtrack"].found) == steps and found != backtrack.finish():
        raise AssertionError(f"{name}: {backtrack.matches} matches by backtracking, not {found}")
    both = min(len(basic.runs), len(merging.runs))
    matches = sum(rates["basic"].found)
    return Measured(
        rates,
        basic.lengths,
        basic.lengths / matches if matches else 0,
        mean(basic.runs[:both]) / SYMBOLS,
        mean(merging.runs[:both]) / SYMBOLS,
        backtrack.processed / (len(rates["backtrack"].found) * (within // STEPS)) - 1,
    )
