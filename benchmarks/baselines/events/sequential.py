"""Queries of three steps (template Filter), a query after the other, each with its own state.

An event with the primary value ends pending instances: one of two steps is an output if the third
condition holds, one of one step continues if the second does, and a new one begins if the first
does; instances older than the duration are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from datasets import SteppedQuery

__all__ = ["Event", "Sequential", "conditions", "event_of"]

DURATION = 20

Event = tuple[Any, ...]
"""A time, d0 to d3 as strings, c0 to c3 as numbers."""

Condition = Callable[[Event], bool]


class Sequential:
    """Queries, each by itself."""

    def __init__(self, queries: Iterable[SteppedQuery]) -> None:
        self.queries = [_Query(query) for query in queries]
        self.pending = 0

    def take(self, events: Iterable[Mapping[str, Any]]) -> int:
        """The number of outputs that events complete, those of the last one left for later, as of
        an engine that reports them when its time has passed."""
        found = 0
        for event in map(event_of, events):
            found, self.pending = found + self.pending, 0
            for query in self.queries:
                if event[query.primary] == query.value:
                    self.pending += query.take(event)
        return found


class _Query:
    __slots__ = ("first", "once", "primary", "second", "third", "twice", "value")

    def __init__(self, query: SteppedQuery) -> None:
        self.primary, self.value = 1 + query.discrete[0], str(query.primary)
        self.first, self.second, self.third = conditions(query)
        self.once: list[int] = []
        self.twice: list[int] = []

    def take(self, event: Event) -> int:
        """Takes an event with the primary value."""
        least = event[0] - DURATION
        third = bool(self.twice) and self.third(event)
        found = sum(1 for start in self.twice if start >= least) if third else 0
        continues = bool(self.once) and self.second(event)
        self.twice = [start for start in self.once if start >= least] if continues else []
        self.once = [event[0]] if self.first(event) else []
        return found


def conditions(query: SteppedQuery) -> list[Condition]:
    """The condition of each step, compiled, but for the primary predicate."""
    other, (one, two) = query.discrete[1], query.continuous
    return [
        eval(  # of numbers alone
            f"lambda e: e[{1 + other}] == '{value}' "
            f"and e[{5 + one}] < {most} and e[{5 + two}] > {least}"
        )
        for value, (most, least) in zip(query.others, query.bounds, strict=True)
    ]


def event_of(envelope: Mapping[str, Any]) -> Event:
    """An envelope's event."""
    values = envelope["json"]
    discrete = (str(values[f"d{place}"]) for place in range(4))
    return (envelope["timestamp"], *discrete, *(values[f"c{place}"] for place in range(4)))
