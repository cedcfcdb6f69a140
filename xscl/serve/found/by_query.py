"""The numbers of the matches in a journal, by query: what the newest of some queries are is looked
up, however many of others came since.

Numbers only ascend, so that those of a query are a sorted column; the engine's thread adds to it,
any thread reads it.
"""

from __future__ import annotations

import heapq
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import islice

__all__ = ["ByQuery"]

_SWEPT = 1_000
"""Numbers that are evicted together, as that looks at each query."""


class ByQuery:
    """Numbers by query, of those in a journal."""

    def __init__(self, known: Iterable[tuple[str, int]] = ()) -> None:
        self._numbers: dict[str, array[int]] = {}
        self._swept = 0
        self._lock = threading.Lock()
        self.add(known)

    def add(self, some: Iterable[tuple[str, int]]) -> None:
        """Adds the queries and numbers of new matches, in their order."""
        with self._lock:
            for query, number in some:
                numbers = self._numbers.get(query)
                if numbers is None:
                    numbers = self._numbers[query] = array("q")
                numbers.append(number)

    def evict(self, before: int) -> None:
        """Drops numbers before one; some of them only later."""
        if before - self._swept < max(_SWEPT, len(self._numbers)):
            return
        with self._lock:
            self._swept = before
            for query, numbers in list(self._numbers.items()):
                del numbers[: bisect_left(numbers, before)]
                if not numbers:
                    del self._numbers[query]

    def between(self, first: int, last: int, queries: frozenset[str], most: int) -> list[int]:
        """The numbers of some queries from one to another, the first so many."""
        with self._lock:
            some = []
            for numbers in filter(None, map(self._numbers.get, queries)):
                start = bisect_left(numbers, first)
                some.append(numbers[start : min(start + most, bisect_right(numbers, last))])
        return list(islice(heapq.merge(*some), most))

    def latest(self, first: int, last: int, queries: frozenset[str], most: int) -> list[int]:
        """The numbers of some queries from one to another, the last so many, the last first."""
        with self._lock:
            some = []
            for numbers in filter(None, map(self._numbers.get, queries)):
                end = bisect_right(numbers, last)
                some.append(numbers[max(end - most, bisect_left(numbers, first)) : end][::-1])
        return list(islice(heapq.merge(*some, reverse=True), most))
