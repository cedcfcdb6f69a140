"""Queries of three steps (template Filter) without any state of their own: the events of the
duration are retained, and for each new one all plans are run again over these, from the left."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.baselines.events.sequential import DURATION, Condition, Event, conditions, event_of
from datasets import SteppedQuery

__all__ = ["Restart"]


class Restart:
    """Queries over the retained events."""

    def __init__(self, queries: Iterable[SteppedQuery]) -> None:
        self.queries = [
            (1 + query.discrete[0], str(query.primary), conditions(query)) for query in queries
        ]
        self.retained: deque[Event] = deque()
        self.pending = 0

    def take(self, events: Iterable[Mapping[str, Any]]) -> int:
        """The number of outputs that events complete, those of the last one left for later, as of
        an engine that reports them when its time has passed."""
        found = 0
        for event in map(event_of, events):
            found, self.pending = found + self.pending, 0
            self.retained.append(event)
            while self.retained[0][0] < event[0] - DURATION:
                self.retained.popleft()
            for primary, value, steps in self.queries:
                if event[primary] == value:
                    self.pending += self.run(primary, value, steps)
        return found

    def run(self, primary: int, value: str, steps: list[Condition]) -> int:
        """The outputs that end with the last event: the two before it with the primary value are
        the steps before."""
        some = [event for event in self.retained if event[primary] == value][-3:]
        return len(some) == 3 and all(
            condition(event) for condition, event in zip(steps, some, strict=True)
        )
