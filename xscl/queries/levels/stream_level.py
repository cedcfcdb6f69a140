"""The stages of one level of the graph of streams: of its patterns, and of its event queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xscl.consistency import Level
from xscl.queries.levels.consistency import PatternController, PlanController

if TYPE_CHECKING:
    from xscl.pattern_stage.plan.outputs import Outputs
    from xscl.queries.levels.pattern_rows import PatternRows

__all__ = ["StreamLevel"]


@dataclass(slots=True, eq=False)
class StreamLevel:
    """The controllers of a level: of its patterns, of its event queries, and of each of these that
    is weak, by number; `middle` and `middle_plans` have those of queries whose matches may be taken
    back.  `composites` are those of patterns whose plans are of the algebra, by level."""

    patterns: PatternController
    plan: PlanController
    middle: dict[Level, PatternController] = field(default_factory=dict)
    middle_plans: dict[Level, PlanController] = field(default_factory=dict)
    composites: dict[Level, PatternController] = field(default_factory=dict)
    weak: dict[int, PlanController] = field(default_factory=dict)

    @property
    def of_patterns(self) -> Iterable[PatternController]:
        """Those of patterns."""
        if not (self.middle or self.composites):
            return (self.patterns,)
        return (self.patterns, *self.middle.values(), *self.composites.values())

    @property
    def plans(self) -> Iterable[PlanController]:
        """Those of event queries."""
        if not (self.middle_plans or self.weak):
            return (self.plan,)
        return (self.plan, *self.middle_plans.values(), *self.weak.values())

    def step(
        self, watermark: int | None, *, ended: bool
    ) -> tuple[list[PatternRows], list[Outputs]]:
        """What each has found, in order; of those that each level has, if it has queries."""
        patterns: Iterable[PatternController] = self.of_patterns
        if self.patterns.advance_idle(watermark):
            patterns = (*self.middle.values(), *self.composites.values())
        rows = [one.step(watermark, ended=ended) for one in patterns]
        # One that is weak has no time but that of its events.
        weak = [one for one in self.weak.values() if one.pending]
        plans: list[PlanController] = [*self.middle_plans.values(), *weak]
        if not self.plan.advance_idle(watermark):
            plans.insert(0, self.plan)
        return rows, [plan.step(watermark, ended=ended) for plan in plans]
