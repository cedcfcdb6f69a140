"""Kleene patterns over stocks by backtracking: the baseline of SASE+'s figure 8(d).

Of a partition one run is followed at a time.  Where it forks, the other way is pushed on a stack
with its event; when the run has failed or has returned all its matches, the way on top is continued
over events in a buffer that were processed before.  Without peeking a run leaves its Kleene
component after each event that this takes, expects b there, and fails at an event that the
component would take: the way that stays in it reads the same events again (SASE+, section 5.2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.patterns.streams import Stock

__all__ = ["Backtrack", "Kleene"]

Value = Any
"""What a run computes over the events of its Kleene component."""


@dataclass(frozen=True, slots=True)
class Kleene:
    """`SEQ(Stock+ a[], Stock b)`, `[symbol]`, within so many ticks; `contiguous`: of the partition,
    else skip till next match."""

    begins: Callable[[Stock], bool]
    initial: Callable[[Stock], Value]
    takes: Callable[[Value, Stock], bool]
    update: Callable[[Value, Stock], Value]
    ends: Callable[[Stock], bool]
    within: int
    contiguous: bool


@dataclass(frozen=True, slots=True)
class _Run:
    """A run that meets the event at `at` next; `left`: it expects b only."""

    at: int
    length: int = 0
    start: int = 0
    value: Value = None
    left: bool = False


@dataclass(slots=True)
class _Partition:
    events: list[Stock] = field(default_factory=list)
    stack: list[_Run] = field(default_factory=lambda: [_Run(0)])


class Backtrack:
    """Runs over partitions; `processed` counts how often an event has met a run, `lengths` the
    events of all matches."""

    def __init__(self, pattern: Kleene, *, peeking: bool = True) -> None:
        self.pattern, self.peeking = pattern, peeking
        self.partitions: dict[int, _Partition] = {}
        self.processed = self.matches = self.lengths = 0

    def prepare(self, events: Sequence[Stock]) -> Sequence[Stock]:
        """What `take` takes."""
        return events

    def take(self, events: Iterable[Stock]) -> int:
        """Takes events; how many matches these complete is known when all runs have met them."""
        for event in events:
            partition = self.partitions.setdefault(event.symbol, _Partition())
            partition.events.append(event)
            self.follow(partition, waiting=True)
        return -1

    def finish(self) -> int:
        """The number of matches of all events, when no more come."""
        for partition in self.partitions.values():
            self.follow(partition, waiting=False)
        return self.matches

    def follow(self, partition: _Partition, *, waiting: bool) -> None:
        """Continues until a run has met all events; if it is not to expect more, until all have."""
        stack, events = partition.stack, partition.events
        while stack:
            if stack[-1].at < len(events):
                run = stack.pop()
                self.processed += 1
                # The last one pushed is gone on with first.
                stack += self.steps(run, events[run.at])
            elif waiting:
                return
            else:
                stack.pop()

    def steps(self, run: _Run, event: Stock) -> list[_Run]:
        pattern, after = self.pattern, run.at + 1
        if not run.length:
            ways = [_Run(after)]
            if pattern.begins(event):
                ways += self.taken(_Run(after, 1, event.tick, pattern.initial(event)))
            return ways
        if event.tick - pattern.within >= run.start:
            return []
        takes = pattern.takes(run.value, event)
        if (run.left or self.peeking) and pattern.ends(event):
            self.matches += 1
            self.lengths += run.length + 1
        if takes and not run.left:
            value = pattern.update(run.value, event)
            return self.taken(_Run(after, run.length + 1, run.start, value))
        if takes or pattern.contiguous:
            return []
        return [_Run(after, run.length, run.start, run.value, run.left)]

    def taken(self, run: _Run) -> list[_Run]:
        """The continuations of a run whose component has taken an event; the last one first."""
        if self.peeking:
            return [run]
        return [run, _Run(run.at, run.length, run.start, run.value, left=True)]
