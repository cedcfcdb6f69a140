"""The stages of a level of patterns, each with the events that wait for the end of the step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xscl.documents.events import PLACES, Waiting
from xscl.queries.levels.event_log import EventLog
from xscl.queries.levels.pattern_rows import PatternRows

if TYPE_CHECKING:
    from pattern_stage.memory import Memory
    from pattern_stage.plan.outputs import Outputs
    from pattern_stage.plan.stage import EventStage
    from pattern_stage.processor import PatternStage
    from xscl.queries.levels.event_query import EventQuery

__all__ = ["Level", "Patterns", "Plan"]


@dataclass(slots=True, eq=False)
class Patterns:
    """The sequence patterns of a level."""

    stage: PatternStage
    waiting: list[Waiting] = field(default_factory=list)
    feeding: bool = False
    mark: int | None = None
    dropped: int = 0

    def take(self) -> None:
        """Takes what waits, but for what lies in the past, as results do that a query has of
        documents held."""
        waiting, self.waiting, mark = self.waiting, [], self.mark
        if mark is not None:
            past = [one for one in waiting if one[1][0] < mark]
            if past:
                self.dropped += len(past)
                self.stage.miss(past)
                waiting = [one for one in waiting if one[1][0] >= mark]
        self.stage.take(waiting)

    def step(self, watermark: int | None, *, ended: bool) -> PatternRows:
        """Takes what waits, sees the time, or that the input has ended, and has found rows."""
        self.take()
        if ended:
            self.stage.flush()
        else:
            self.advance(watermark)
        return PatternRows(self.stage, feeding=self.feeding)

    def advance(self, watermark: int | None) -> None:
        """Lets the stage see the time."""
        self.mark = watermark
        self.stage.advance(watermark)

    def rebuild(self, watermark: int | None, flushed: int, memories: Mapping[int, Memory]) -> None:
        """Makes a new stage what another was that had taken what waits: the events of documents
        with numbers below `flushed` before the input had ended once."""
        self.mark = watermark
        of = {number: one for number, one in memories.items() if number in self.stage}
        self.stage.rebuild(*self._since(flushed), watermark, of)

    def _since(self, flushed: int) -> tuple[list[Waiting], list[Waiting]]:
        """Takes what waits apart: what came before the input had ended once, and the rest."""
        waiting, self.waiting = self.waiting, []
        if not flushed:
            return [], waiting
        before = [one for one in waiting if one[1][1] >> PLACES < flushed]
        return before, [one for one in waiting if one[1][1] >> PLACES >= flushed]

    def catch_up(self, watermark: int | None, flushed: int, *, weak: bool) -> PatternRows:
        """The rows that events have which came before, those of documents with numbers below
        `flushed` before the input had ended once, which means nothing to a query that is weak."""
        before, after = self._since(0 if weak else flushed)
        if before:
            self.stage.take(before)
            self.stage.flush()
        self.stage.take(after)
        self.advance(watermark)
        found = PatternRows(self.stage, feeding=True)
        # What nobody asks for is not found again.
        found.by_query()
        return found


@dataclass(slots=True, eq=False)
class Plan:
    """The event queries of a level; or one that is `weak`, and waits for nothing: its time is that
    of the newest event that it has seen.

    `snapshot` is what it held when that was last written; `log` has the events that have come
    since, `logged` of them, beside those that time had not passed."""

    stage: EventStage
    weak: bool = False
    waiting: list[Waiting] = field(default_factory=list)
    mark: int | None = None
    dropped: int = 0
    log: EventLog = field(default_factory=EventLog)
    snapshot: str | None = None
    logged: int = 0

    def step(self, watermark: int | None, *, ended: bool) -> Outputs:
        """As that of `Patterns`."""
        waiting, self.waiting = self.waiting, []
        mark = self.mark
        if mark is not None and waiting:
            coming = [one for one in waiting if one[1][1] >= mark]
            self.dropped += len(waiting) - len(coming)
            waiting = coming
        if waiting:
            self.take(waiting)
        if self.weak:
            if waiting:
                self.advance(max([event[1] for _, event in waiting]))
                self.stage.flush()
        elif ended:
            self.stage.flush()
        else:
            self.advance(watermark)
        return self.stage.read()

    def take(self, events: list[Waiting]) -> None:
        """Takes events, and keeps them until time has passed them."""
        self.log.add(events)
        self.logged += len(events)
        self.stage.take(events)

    def advance(self, watermark: int | None) -> None:
        """Lets the stage see the time."""
        passed = watermark != self.mark
        self.mark = watermark
        self.stage.advance(watermark)
        if watermark is not None and passed and self.snapshot is None:
            self.forget(watermark)

    def forget(self, watermark: int) -> None:
        """Drops what is known of events that time has passed, once a snapshot stands for them."""
        self.log.forget(watermark)
        if self.stage.missed:
            self.stage.forget_missed(watermark)

    def catch_up(self, events: list[Waiting], watermark: int | None, flushed: int) -> Outputs:
        """Takes events that came before, those of documents with numbers below `flushed` before
        the input had ended once."""
        before = [one for one in events if one[1][2] >> PLACES < flushed]
        if before:
            self.take(before)
            self.stage.flush()
        self.take([one for one in events if one[1][2] >> PLACES >= flushed])
        self.advance(watermark)
        if self.weak:
            self.stage.flush()
        return self.stage.read()


@dataclass(slots=True, eq=False)
class Level:
    """The stages of a level; each query that waits for nothing has one of its own."""

    patterns: Patterns
    plan: Plan
    weak: list[Plan] = field(default_factory=list)

    @property
    def plans(self) -> Iterable[Plan]:
        """Those of event queries."""
        return (self.plan, *self.weak)

    def plan_of(self, query: EventQuery, number: int) -> Plan:
        """The one that has a subscription of a query."""
        return query.weak[number] if query.compiled.weak else self.plan

    def step(self, watermark: int | None, *, ended: bool) -> list[PatternRows | Outputs]:
        """The rows that each has found, in order."""
        steps: list[PatternRows | Outputs] = [self.patterns.step(watermark, ended=ended)]
        steps += [plan.step(watermark, ended=ended) for plan in self.plans]
        return steps
