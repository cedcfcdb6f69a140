"""Kleene patterns over stocks by backtracking: the baseline of SASE+'s figures 8(d) and 8(e).

Of a partition one run is followed at a time.  Where it forks, the other way is pushed on a stack
with its event; when the run has failed or, where all results are wanted, has given one, the way on
top is gone on with, over events in a buffer that were processed before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.patterns.streams import Stock

__all__ = ["Backtrack", "Kleene"]

Value = Any
"""What a run computes over the events of its Kleene component."""


@dataclass(frozen=True, slots=True)
class Kleene:
    """`SEQ(Stock+ a[], Stock b)`, `[symbol]`, within so many ticks; `contiguous`: of the partition,
    else skip till next match.  `third`, of (first, last, event), where a component c follows b."""

    begins: Callable[[Stock], bool]
    initial: Callable[[Stock], Value]
    takes: Callable[[Value, Stock], bool]
    update: Callable[[Value, Stock], Value]
    ends: Callable[[Stock], bool]
    within: int
    contiguous: bool
    third: Callable[[Stock, Stock, Stock], bool] | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """A run that meets the event at `at` next; `ended` by b, where c is waited for."""

    at: int
    length: int = 0
    first: Stock | None = None
    last: Stock | None = None
    value: Value = None
    ended: bool = False


@dataclass(slots=True)
class _Partition:
    events: list[Stock] = field(default_factory=list)
    stack: list[_Run] = field(default_factory=lambda: [_Run(0)])


class Backtrack:
    """Runs over partitions; `processed` counts how often an event has met a run, `lengths` the
    events of all matches.  With `shortest`, of what ends with one event only the first is a match,
    and what overlaps it is passed over."""

    def __init__(self, pattern: Kleene, *, shortest: bool = False) -> None:
        self.pattern, self.shortest = pattern, shortest
        self.partitions: dict[int, _Partition] = {}
        self.processed = self.matches = self.lengths = 0

    def take(self, events: Iterable[Stock]) -> None:
        for event in events:
            partition = self.partitions.setdefault(event.symbol, _Partition())
            partition.events.append(event)
            self.follow(partition)

    def follow(self, partition: _Partition) -> None:
        """Goes on until every run of the partition has met all events."""
        stack, events = partition.stack, partition.events
        while stack:
            if stack[-1].at == len(events):
                # The one run that is followed waits; those below it wait for its end.
                return
            run = stack.pop()
            event = events[run.at]
            self.processed += 1
            # The last one pushed is gone on with first.
            stack.extend(self.steps(run, event))

    def steps(self, run: _Run, event: Stock) -> list[_Run]:
        pattern, after = self.pattern, run.at + 1
        if run.first is None:
            ways = [_Run(after)]
            if pattern.begins(event):
                ways.append(_Run(after, 1, event, event, pattern.initial(event)))
            return ways
        if event.tick - pattern.within >= run.first.tick:
            return []
        assert run.last is not None
        if run.ended:
            assert pattern.third is not None
            if pattern.third(run.first, run.last, event):
                self.found(run.length + 2)
                return []
            return [] if pattern.contiguous else [_further(run)]
        ways = []
        if pattern.takes(run.value, event):
            value = pattern.update(run.value, event)
            ways.append(_Run(after, run.length + 1, run.first, event, value))
        elif not pattern.contiguous:
            ways.append(_further(run))
        if pattern.ends(event):
            if pattern.third is None:
                self.found(run.length + 1)
            else:
                ways.append(_Run(after, run.length, run.first, run.last, None, True))
        return ways

    def found(self, length: int) -> None:
        self.matches += 1
        self.lengths += length


def _further(run: _Run) -> _Run:
    return _Run(run.at + 1, run.length, run.first, run.last, run.value, run.ended)
