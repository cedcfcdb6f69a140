"""A pattern as its level has it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from xscl.consistency import Level
from xscl.documents.events import EventType

if TYPE_CHECKING:
    from xscl.patterns.timed_query import TimedQuery

__all__ = ["PatternQuery"]


@dataclass(slots=True, eq=False)
class PatternQuery:
    """A pattern as its level has it: the types of each of its components, and of its events, and
    the consistency that is asked of it.  It goes `in_order` of time where what it reads may be
    retracted, or might (None: it has no stage yet)."""

    compiled: TimedQuery
    components: tuple[tuple[EventType, ...], ...]
    since: int
    feeding: bool
    asked: Level
    level: int | None = None
    in_order: bool | None = None

    @property
    def weak(self) -> bool:
        """Whether it waits for nothing."""
        return self.asked.name == "weak"

    @property
    def types(self) -> set[EventType]:
        """The types of its events."""
        return {*chain.from_iterable(self.components)}
