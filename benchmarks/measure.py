"""Clocks: runs into seconds, streams into documents a second, and the floor of them all.

The *floor* is `lxml.etree.fromstring` alone over the same documents: what reading XML costs at
least.  Ratios to it, within one run, are what can be compared between machines.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import duckdb
from lxml import etree

__all__ = ["Rate", "batches", "best", "check", "floor", "in_turn", "rate", "seconds", "within"]

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

    def speed_beside(self, other: Rate) -> float:
        """How many times as fast this was as the other, over the batches that both got through."""
        both = min(len(self.each), len(other.each))
        return sum(other.each[:both]) / sum(self.each[:both])

    def percentile(self, percent: float) -> float:
        """The time within which so many of the batches were done, in seconds."""
        ordered = sorted(self.each)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def seconds(run: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """How long one run takes."""
    started = clock()
    run()
    return clock() - started


def best(run: Callable[[], object], rounds: int) -> float:
    """The shortest of several runs."""
    return min(seconds(run) for _ in range(rounds))


def in_turn(
    ways: Mapping[str, Callable[[], object]], rounds: int, clock: Clock = time.perf_counter
) -> dict[str, float]:
    """The shortest time of each of several ways to do something, which take turns, so that all
    meet the same disturbances."""
    shortest = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, run in ways.items():
            shortest[name] = min(shortest[name], seconds(run, clock))
    return shortest


def floor(documents: Envelopes) -> None:
    """Reads the documents, and does nothing with them."""
    for document in documents:
        etree.fromstring(document["xml"])


def rate(parts: Iterable[Envelopes], process: Callable[[Envelopes], int], limit: float) -> Rate:
    """How fast batches are processed; `process` returns the number of matches.  No new batch is
    begun after `limit` seconds."""
    gc.collect()
    documents, spent = 0, 0.0
    found, each = [], []
    for part in parts:
        started = time.perf_counter()
        found.append(process(part))
        each.append(time.perf_counter() - started)
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


def batches(documents: Sequence[Mapping[str, Any]], size: int) -> Iterator[Envelopes]:
    """The documents, so many at a time."""
    for start in range(0, len(documents), size):
        yield documents[start : start + size]


def within(limit: float, database: duckdb.DuckDBPyConnection, run: Callable[[], T]) -> T | None:
    """What a run in a database results in; None if it had to be interrupted."""
    timer = threading.Timer(limit, database.interrupt)
    timer.start()
    try:
        return run()
    except duckdb.InterruptException:
        return None
    finally:
        timer.cancel()
