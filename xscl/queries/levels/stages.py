"""The stages that levels are made of, with the techniques and bounds of one engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xscl.consistency import STRONG, Level
from xscl.documents.events import EventType
from xscl.pattern_stage.bounds import MOST

if TYPE_CHECKING:
    from xscl.pattern_stage.compositions.rates import MeasuredRates
    from xscl.pattern_stage.layouts import Layouts
    from xscl.pattern_stage.plan.composites import CompositeStage
    from xscl.pattern_stage.plan.stage import EventStage
    from xscl.pattern_stage.processor import PatternStage
    from xscl.pattern_stage.revising import RevisingPlans, RevisingStage

__all__ = ["Stages"]


class Stages:
    """Makes the stages of one engine.

    `identity` orders the events of patterns that are of one time, by number; `without` are
    techniques that are switched off, `sharable` sets of streams, each of which is in one at most;
    `most` bounds what a query retains and finds in a step.
    """

    def __init__(
        self,
        identity: Callable[[int], tuple[object, ...]],
        without: Collection[str] = (),
        sharable: Collection[Collection[str]] = (),
        most: int = MOST,
    ) -> None:
        self._identity, self._most = identity, most
        self.without = frozenset(without)
        self.sharable = tuple(map(frozenset, sharable))
        self.rates: dict[str, float] = {}
        """Events a second of streams, as far as they were given."""
        self._measured: MeasuredRates | None = None
        self.clocks: Mapping[str, int] = {}
        """The newest time of a document of each stream."""
        self.before: Level | None = None
        """What the consistency of the engine was before a restart that has widened it, until a step
        reports what waited then."""
        self._as_before = False
        self._stream_of: dict[int, str] = {}
        """By type."""
        self._alike: dict[int, int] = {}
        """By type of a sharable stream the type that stands for all that share with it."""
        self._first: dict[frozenset[str], int] = {}

    def read(self, types: Iterable[EventType]) -> None:
        """Events of some types are read from now on."""
        self._stream_of.update((one.number, one.stream) for one in types)

    def share(self, types: Iterable[EventType]) -> None:
        """Event queries over some types share their operators with those over sharable streams."""
        for one in types:
            for streams in self.sharable if one.whole else ():
                if one.stream in streams:
                    first = self._first.setdefault(streams, one.number)
                    self._alike.setdefault(one.number, first)

    @contextmanager
    def as_before(self) -> Iterator[None]:
        """Stages look as far beyond the watermark as they did before: what they find is known."""
        self._as_before = True
        try:
            yield
        finally:
            self._as_before = False

    def _window(self, level: Level) -> Callable[[], int | None]:
        """How far beyond the watermark a stage of a level looks now."""
        if not level.widened:
            return lambda: level.window

        def window() -> int | None:
            before = self.before if self._as_before else None
            if before is None:
                return level.window
            return 0 if before.name == "strong" else before.window

        return window

    def of_patterns(self) -> PatternStage:
        """A new stage for patterns that report each match for good."""
        from xscl.pattern_stage.processor import PatternStage
        from xscl.pattern_stage.switches import SWITCHES

        return PatternStage(self.without & SWITCHES, self._identity, self._most)

    def of_revised_patterns(self, level: Level) -> RevisingStage:
        """One for patterns whose matches may be taken back, or that report some early."""
        from xscl.pattern_stage.revising import RevisingStage
        from xscl.pattern_stage.switches import SWITCHES

        return RevisingStage(
            self.without & SWITCHES,
            self._identity,
            self._most,
            window=self._window(level),
            clock=self._clock,
            final=level == STRONG,
        )

    def of_composites(self, level: Level) -> CompositeStage:
        """One for patterns whose plans are of the algebra."""
        from xscl.pattern_stage.compositions.rates import MeasuredRates
        from xscl.pattern_stage.plan.composites import CompositeStage
        from xscl.pattern_stage.plan.rules import INDEXES, SWITCHES
        from xscl.pattern_stage.plan.stage import EventStage

        def made(layout: Layouts) -> EventStage:
            if level.name == "middle":
                return self._revised_events(level, {}, layout)
            shared = "share_operators" not in self.without
            off = self.without & SWITCHES if shared else self.without | SWITCHES - INDEXES
            return EventStage(off, {}, self._most, layout)

        def given(type_: int) -> float | None:
            return self.rates.get(self._stream_of[type_])

        if self._measured is None:
            self._measured = MeasuredRates()
        return CompositeStage(made, self._most, given, self._measured, self.without)

    def of_events(self) -> EventStage:
        """One for event queries that report each match for good."""
        from xscl.pattern_stage.plan.rules import SWITCHES
        from xscl.pattern_stage.plan.stage import EventStage

        return EventStage(self.without & SWITCHES, self._alike, self._most)

    def of_revised_events(self, level: Level) -> RevisingPlans:
        """One for event queries whose matches may be taken back."""
        return self._revised_events(level, self._alike)

    def _revised_events(
        self, level: Level, alike: Mapping[int, int], layout: Layouts | None = None
    ) -> RevisingPlans:
        from xscl.pattern_stage.plan.rules import SWITCHES
        from xscl.pattern_stage.revising import RevisingPlans

        return RevisingPlans(
            self.without & SWITCHES,
            alike,
            self._most,
            window=self._window(level),
            clock=self._clock,
            layout=layout,
        )

    def _clock(self, types: Iterable[int]) -> int | None:
        """The newest time of a document of the streams of some types."""
        times = [self.clocks.get(self._stream_of[one]) for one in types]
        return max([time for time in times if time is not None], default=None)
