"""An epoch: the events of one time, the runs after it, and the matches that it gave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xscl.pattern_stage.automata.tables import Lists, Plan, Table
from xscl.pattern_stage.layouts import TypedEvent

__all__ = ["NONE", "Epoch", "Key"]

Key = tuple[int, int, tuple[Any, ...], tuple[TypedEvent, ...] | None]
"""A match: its start, its time, the register, and with `keep` its events."""

NONE = frozenset[Key]()


class Epoch:
    """The events of one time, what they do by a table of arcs, and what came of them.

    `matches` enter a final state there, `opened` do with a window that opened before, `ended` are
    of windows that close before the next epoch.
    """

    __slots__ = ("_events", "ended", "lists", "matches", "opened", "plans", "table", "time")

    _events: TypedEvent | tuple[TypedEvent, ...]
    """Of an event alone, as nearly all are, that itself: most of what many ignored events take."""

    def __init__(
        self,
        time: int,
        lists: Lists,
        events: tuple[TypedEvent, ...] = (),
        table: Table | None = None,
        plans: Sequence[Plan] = (),
        matches: frozenset[Key] | set[Key] = NONE,
    ) -> None:
        self.time, self.lists = time, lists
        self._events = events[0] if len(events) == 1 else events
        self.table, self.plans, self.matches = table, plans, matches
        self.opened: frozenset[Key] | set[Key] = NONE
        self.ended: frozenset[Key] | set[Key] = NONE

    def copied(self) -> Epoch:
        """The same epoch, apart from it."""
        other = Epoch(self.time, self.lists, self.events, self.table, self.plans, self.matches)
        other.opened, other.ended = self.opened, self.ended
        return other

    @property
    def events(self) -> tuple[TypedEvent, ...]:
        """The events."""
        some: Any = self._events
        return (some,) if some and type(some[0]) is int else some

    def takes(self, events: Iterable[TypedEvent]) -> None:
        """From now on these are the events."""
        some, self.table = tuple(events), None
        self._events = some[0] if len(some) == 1 else some
