"""Where in an event's tuple the attributes stand that queries read.

An event is `(time, number, *slots)`.  The slots of a type only grow at their end, so an older,
shorter tuple stays valid for older queries.  A component of several types finds a slot at one
place in all of them: where they differ, the shorter lists are filled up with None.
"""

from __future__ import annotations

from pattern_stage.pattern import Slot

__all__ = ["Event", "Layouts"]

Event = tuple[int, int, *tuple[str | float | None, ...]]
"""`(time in microseconds, number, *slots)`."""

_FIRST = 2


class Layouts:
    """The slots of each type."""

    def __init__(self) -> None:
        self._slots: dict[int, list[Slot | None]] = {}
        self.version = 0

    def slots(self, type_: int) -> tuple[Slot | None, ...]:
        """The slots of a type's events, behind time and number; None at a place that none
        reads."""
        return tuple(self._slots.get(type_, ()))

    def place(self, types: tuple[int, ...], slot: Slot) -> int:
        """The index of a slot in the events of all these types."""
        lists = [self._slots.setdefault(type_, []) for type_ in dict.fromkeys(types)]
        first, *others = lists
        for place, there in enumerate(first):
            if there == slot and all(other[place : place + 1] == [slot] for other in others):
                return place + _FIRST
        place = max(map(len, lists))
        for slots in lists:
            slots.extend([None] * (place - len(slots)))
            slots.append(slot)
        self.version += 1
        return place + _FIRST
