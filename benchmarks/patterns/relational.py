"""Sequences by relational stream joins, as TelegraphCQ makes them: the baseline of SASE's figures
11 and 12.

Each type has a table of what the window holds, hashed by the first equivalence attribute.  What
comes probes the tables of all other types, one after the other, with the tests of single pairs in
the first join that can see them; the order of times is tested on what has come out of the joins.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise

from benchmarks.patterns.streams import Typed

__all__ = ["RelationalJoins"]


class RelationalJoins:
    """`SEQ(E1, …, EL)` with equality of the first `tests` attributes, within so many ticks."""

    def __init__(self, length: int, tests: int, within: int) -> None:
        self.length, self.tests, self.within = length, tests, within
        self.tables: list[defaultdict[tuple[int, ...], deque[Typed]]] = [
            defaultdict(deque) for _ in range(length)
        ]
        self.joined = 0

    def prepare(self, events: Sequence[Typed]) -> Sequence[Typed]:
        """What `take` takes."""
        return events

    def take(self, events: Iterable[Typed]) -> int:
        """The number of matches that some events complete."""
        found = 0
        for event in events:
            if event.type <= self.length:
                found += self.probe(event)
                self.tables[event.type - 1][event.values[: min(1, self.tests)]].append(event)
        return found

    def probe(self, event: Typed) -> int:
        rows: list[tuple[Typed, ...]] = [(event,)]
        key, least = event.values[: min(1, self.tests)], event.tick - self.within
        for place in range(self.length):
            if place == event.type - 1:
                continue
            table = self.tables[place].get(key)
            if not table:
                return 0
            while table and table[0].tick <= least:
                table.popleft()
            rows = [
                (*row, other)
                for row in rows
                for other in table
                if other.values[1 : self.tests] == event.values[1 : self.tests]
            ]
            self.joined += len(rows)
        return sum(1 for row in rows if _in_order(sorted(row, key=_type)))


def _type(event: Typed) -> int:
    return event.type


def _in_order(row: Sequence[Typed]) -> bool:
    return all(one.tick < other.tick for one, other in pairwise(row))
