"""Clocks: runs into seconds, streams into documents a second, and the floor of them all.

Seconds are those of the processor, of all threads of this process, where no other clock is given.

The *floor* is `lxml.etree.fromstring` alone over the same documents: the minimal cost of reading
XML.  It is measured with each row, in the same process, and only ratios to it can be compared
between machines and rows.
"""

from __future__ import annotations

import gc
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import duckdb
from lxml import etree

from benchmarks.quiet import below, ticks

__all__ = [
    "Rate",
    "agree",
    "batches",
    "best",
    "check",
    "cpu_seconds",
    "floor",
    "floor_now",
    "in_turn",
    "of",
    "rate",
    "seconds",
    "within",
]

FLOOR_DOCUMENTS = 20_000
FLOOR_ROUNDS = 5

T = TypeVar("T")
Clock = Callable[[], float]
Envelopes = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Rate:
    """How many documents went through in how many seconds, and for each batch the number of its
    matches (and its seconds)."""

    documents: int
    seconds: float
    found: tuple[int, ...]
    each: tuple[float, ...] = ()

    @property
    def matches(self) -> int:
        """The matches of all batches."""
        return sum(self.found)

    @property
    def per_second(self) -> float:
        """Documents a second."""
        return self.documents / self.seconds

    def relative_speed(self, other: Rate) -> float:
        """How many times as fast this was as the other, over the batches that both got through."""
        both = min(len(self.each), len(other.each))
        return sum(other.each[:both]) / sum(self.each[:both])

    def percentile(self, percent: float) -> float:
        """The time within which so many of the batches were done, in seconds."""
        ordered = sorted(self.each)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def seconds(run: Callable[[], object], clock: Clock = time.process_time) -> float:
    """What one run takes."""
    started = clock()
    run()
    return clock() - started


def cpu_seconds() -> float:
    """The CPU seconds so far of this process and of all below it, those that ended included."""
    parents, taken = ticks()
    total = sum(taken.get(process, 0) for process in below(os.getpid(), parents))
    return total / os.sysconf("SC_CLK_TCK")


def best(run: Callable[[], object], rounds: int, limit: float) -> float:
    """The shortest of several runs, none of which but the first begins after so many seconds."""
    taken = [seconds(run)]
    while len(taken) < rounds and sum(taken) < limit:
        taken.append(seconds(run))
    return min(taken)


def in_turn(
    ways: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Clock = time.process_time,
    choose: Callable[[Sequence[float]], float] = median,
) -> dict[str, float]:
    """The median time (or another that `choose` takes) of each of several ways to do something,
    which take turns, so that all meet the same disturbances."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            taken[name].append(seconds(run, clock))
    return {name: choose(times) for name, times in taken.items()}


def floor(documents: Envelopes) -> None:
    """Reads the documents, and does nothing with them."""
    for document in documents:
        etree.fromstring(document["xml"])


def floor_now(documents: Envelopes) -> float:
    """The floor's seconds for one document: the median of several runs over the first ones."""
    some = documents[:FLOOR_DOCUMENTS]
    return median(seconds(lambda: floor(some)) for _ in range(FLOOR_ROUNDS)) / len(some)


def of(done: int, total: int) -> int | str:
    """A cell for the documents of a run: how many of how many, where a limit cut it short.

    >>> of(5, 5), of(4000, 5000)
    (5, '4,000 of 5,000')
    """
    return done if done == total else f"{done:,} of {total:,}"


def rate(
    parts: Iterable[Envelopes],
    process: Callable[[Envelopes], int],
    limit: float,
    clock: Clock = time.process_time,
) -> Rate:
    """How fast batches are processed; `process` returns the number of matches.  No new batch is
    begun after `limit` seconds."""
    gc.collect()
    documents, spent = 0, 0.0
    found, each = [], []
    for part in parts:
        started = clock()
        found.append(process(part))
        each.append(clock() - started)
        documents += len(part)
        spent += each[-1]
        if spent > limit:
            break
    return Rate(documents, spent, tuple(found), tuple(each))


def check(one: Rate, other: Rate) -> None:
    """Raises AssertionError unless two ways found the same in the same batches, as far as both
    got."""
    if any(a != b for a, b in zip(one.found, other.found, strict=False)):
        raise AssertionError(f"different numbers of matches: {one.found} and {other.found}")


def agree(way: str, results: Mapping[str, int], expected: Mapping[str, int]) -> None:
    """Raises AssertionError unless a way found as many results of each query as expected."""
    names = sorted(results.keys() | expected.keys())
    different = [name for name in names if results.get(name, 0) != expected.get(name, 0)]
    if different:
        some = different[:5]
        here, there = ([counts.get(name, 0) for name in some] for counts in (results, expected))
        raise AssertionError(f"{way} finds {here} matches of {some}, expected are {there}")


def batches(documents: Sequence[Mapping[str, Any]], size: int) -> Iterator[Envelopes]:
    """The documents, so many at a time."""
    for start in range(0, len(documents), size):
        yield documents[start : start + size]


def within(
    limit: float,
    database: duckdb.DuckDBPyConnection | sqlite3.Connection,
    run: Callable[[], T],
) -> T | None:
    """What a run in a database results in; None if it had to be interrupted."""
    timer = threading.Timer(limit, database.interrupt)
    timer.start()
    try:
        return run()
    except duckdb.InterruptException:
        return None
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return None
    finally:
        timer.cancel()
