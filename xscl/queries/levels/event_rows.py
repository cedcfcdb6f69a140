"""What the event queries of a level have found -> outputs, counts and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pattern_stage.plan.outputs import EventFound, EventGroup
    from pattern_stage.plan.stage import EventStage

__all__ = ["EventRows"]


class EventRows:
    """The outputs of a level's event queries; `feeding` says whether any of these publishes, so
    that they must be looked at one by one."""

    def __init__(
        self, stage: EventStage, *, feeding: bool, found: Sequence[EventFound] | None = None
    ) -> None:
        self.stage = stage
        self.feeding = feeding
        self._found = found
        self._groups: Sequence[EventGroup] | None = None

    def found(self) -> Sequence[EventFound]:
        """All of them, one by one."""
        if self._found is None:
            if self._groups is None:
                self._found = self.stage.found()
            else:
                self._found = [one for group in self._groups for one in group.found()]
        return self._found

    def counts(self) -> Mapping[int, int]:
        """The number of outputs of each query; where nobody looks at any, nobody goes through
        them."""
        if self._found is None and not self.feeding:
            return self.stage.counts()
        return Counter([one.number for one in self.found()])

    def groups(self) -> Sequence[EventGroup]:
        """The outputs, each with the queries that have it; in place of `counts`, before
        `found`."""
        if self._groups is None:
            self._groups = self.stage.groups()
        return self._groups
