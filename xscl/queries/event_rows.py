"""What the event queries of a level have found -> outputs, counts and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pattern_stage.plan.outputs import EventFound, EventGroup
from pattern_stage.plan.stage import EventStage

__all__ = ["EventRows"]


class EventRows:
    """The outputs of a level's event queries; `feeding` says whether any of these publishes, so
    that they must be looked at one by one."""

    def __init__(self, stage: EventStage, *, feeding: bool) -> None:
        self.stage = stage
        self.feeding = feeding
        self._found: Sequence[EventFound] | None = None

    def found(self) -> Sequence[EventFound]:
        """All of them, one by one."""
        if self._found is None:
            self._found = self.stage.found()
        return self._found

    def counts(self) -> Mapping[int, int]:
        """The number of outputs of each query; where nobody looks at any, nobody goes through
        them."""
        if self._found is None and not self.feeding:
            return self.stage.counts()
        counts: dict[int, int] = {}
        for one in self.found():
            counts[one.number] = counts.get(one.number, 0) + 1
        return counts

    def groups(self) -> Sequence[EventGroup]:
        """The outputs, each with the queries that have it."""
        return self.stage.groups()
