"""What is reported when, in step with the watermark: the controller of each stage of a level.

A strong stage reports what no later event can change: it sees the watermark at the end of a step.
A weak one reports what the events so far decide: its time is that of the newest one.  Events before
the time of a stage are dropped and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xscl.documents.events import PLACES, PendingEvent
from xscl.pattern_stage.bounds import portions
from xscl.pattern_stage.layouts import END, NUMBER
from xscl.queries.levels.event_log import EventLog
from xscl.queries.levels.pattern_rows import PatternRows

if TYPE_CHECKING:
    from xscl.pattern_stage.memory import Memory
    from xscl.pattern_stage.plan.outputs import Outputs
    from xscl.pattern_stage.plan.stage import EventStage
    from xscl.pattern_stage.processor import PatternStage

__all__ = ["Controller", "PatternController", "PlanController"]


@dataclass(slots=True, eq=False)
class Controller:
    """A stage, the events that are pending until the end of the step, and the time (`mark`) that it
    has seen."""

    stage: Any
    weak: bool = False
    pending: list[PendingEvent] = field(default_factory=list)
    mark: int | None = None
    dropped: int = 0

    def step(self, watermark: int | None, *, ended: bool) -> Any:
        """What is found at the end of a step, or where the input has `ended`."""
        events = self._on_time()
        if events:
            self.take(events)
        if not self.weak:
            if ended:
                self.stage.flush()
            else:
                self.advance(watermark)
        elif events:
            self.advance(max([event[END] for _, event in events]))
            self.stage.flush()
        return self.found()

    def advance_idle(self, watermark: int | None) -> bool:
        """Advances the time of a stage without queries, as nothing else is to do; False if it has
        any."""
        if self.pending or not self.stage.is_empty:
            return False
        self.advance(watermark)
        return True

    def catch_up(self, watermark: int | None, flushed: int) -> Any:
        """What is found in pending events that came before, those of documents with numbers below
        `flushed` before the input had ended once."""
        before, after = self.split(flushed)
        if before:
            self.take(before)
            self.stage.flush()
        self.take(after)
        self.advance(watermark)
        if self.weak:
            self.stage.flush()
        return self.found()

    def split(self, flushed: int) -> tuple[list[PendingEvent], list[PendingEvent]]:
        """The pending events: what came before the input had ended once, and the rest."""
        events, self.pending = self.pending, []
        if not flushed:
            return [], events
        before = [one for one in events if one[1][NUMBER] >> PLACES < flushed]
        return before, [one for one in events if one[1][NUMBER] >> PLACES >= flushed]

    def take(self, events: list[PendingEvent]) -> None:
        """Passes events to the stage."""
        self.stage.take(events)

    def advance(self, watermark: int | None) -> None:
        """Lets the stage see the time."""
        self.mark = watermark
        self.stage.advance(watermark)

    def withdraw(self, document: int, time: int) -> None:
        """Drops the events of a document of a time that the watermark has not reached."""
        first, end = document << PLACES, (document + 1) << PLACES
        if self.pending:
            # That of a result which is taken back in the step that has made it.
            self.pending = [one for one in self.pending if not first <= one[1][NUMBER] < end]
        if not self.weak:
            self.stage.withdraw(first, end, time)

    def found(self) -> Any:
        """What the stage has found since the last call."""
        raise NotImplementedError

    def drop(self, late: list[PendingEvent]) -> None:
        """Counts events before the time."""
        self.dropped += len(late)

    @property
    def all_dropped(self) -> int:
        """The events that were dropped here and in the stage."""
        return self.dropped + int(self.stage.stats().get("dropped", 0))

    def _on_time(self) -> list[PendingEvent]:
        """The pending events, without those before the time, such as results of a query over
        retained documents."""
        events, self.pending, mark = self.pending, [], self.mark
        if mark is None:
            return events
        late = [one for one in events if one[1][END] < mark]
        if not late:
            return events
        self.drop(late)
        return [one for one in events if one[1][END] >= mark]


@dataclass(slots=True, eq=False)
class PatternController(Controller):
    """The controller of the patterns of a level; weak patterns have their time in the stage; some
    patterns may be `feeding` streams."""

    stage: PatternStage
    feeding: bool = False
    __hash__ = object.__hash__

    def found(self) -> PatternRows:
        """The rows of patterns."""
        return PatternRows(self.stage, feeding=self.feeding)

    def drop(self, late: list[PendingEvent]) -> None:
        """Notes events that patterns must not find later on."""
        self.dropped += len(late)
        self.stage.miss(late)

    def rebuild(self, watermark: int | None, flushed: int, memories: Mapping[int, Memory]) -> None:
        """Makes a new stage equal to another that had processed the pending events."""
        self.mark = watermark
        of = {number: one for number, one in memories.items() if number in self.stage}
        self.stage.rebuild(*self.split(flushed), watermark, of)


@dataclass(slots=True, eq=False)
class PlanController(Controller):
    """The controller of the event queries of a level, or of a weak one.

    `snapshot` is the state of the stage when that was last written; `log` has the events that have
    come since, `logged` of them, and those that time had not passed.
    """

    stage: EventStage
    log: EventLog = field(default_factory=EventLog)
    snapshot: str | None = None
    logged: int = 0

    def found(self) -> Outputs:
        """The outputs of event queries."""
        return self.stage.read()

    def take(self, events: list[PendingEvent]) -> None:
        """Buffers events until time has passed them."""
        self.log.add(events)
        self.logged += len(events)
        self.stage.take(events)

    def withdraw(self, document: int, time: int) -> None:
        """Drops the events of a document, also as they are kept over a restart."""
        Controller.withdraw(self, document, time)
        if not self.weak:
            self.log.withdraw(document << PLACES, (document + 1) << PLACES, time)

    def advance(self, watermark: int | None) -> None:
        """Drops the events that time has passed, where no snapshot needs them."""
        passed = watermark != self.mark
        self.mark = watermark
        self.stage.advance(watermark)
        if passed and self.snapshot is None:
            self.evict()

    def resume(self, watermark: int | None) -> None:
        """Takes pending events that were processed before; forgets what was reported then."""
        events, self.pending = self.pending, []
        for time, some in portions(events, self.stage.most):
            self.take(some)
            if self.weak:
                self.advance(max(event[END] for _, event in some))
                self.stage.flush()
            elif watermark is not None:
                self.advance(min(time, watermark))
            self.found()
        self.advance(watermark)
        self.found()

    def evict(self) -> None:
        """Drops the log of events that time has passed, once a snapshot has them."""
        if self.mark is None:
            return
        self.log.evict(self.mark)
        if self.stage.missed:
            self.stage.drop_missed(self.mark)
