"""The tuple of an event, and the places in it of the attributes that queries read.

All events of the pattern stage have one layout, `(start, end, number, *slots)`, the times in
microseconds; a computed event has no number, and the slots that its node lists.  The slots of a
type only grow at their end, so an older, shorter tuple stays valid for older queries.  A component
of several types has a slot at one place in all of them: where they differ, the shorter lists are
filled up with None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xscl.pattern_stage.values.terms import Slot

__all__ = [
    "END",
    "NUMBER",
    "SLOTS",
    "START",
    "Event",
    "Layouts",
    "TypedEvent",
    "slot_names",
]

Event = tuple[Any, ...]
"""`(start, end, number, *slots)`."""

TypedEvent = tuple[int, Event]
"""An event after the number of its type."""

START, END, NUMBER, SLOTS = range(4)
"""Their indices; slots begin at SLOTS."""


class Layouts:
    """The slots of each type."""

    def __init__(self) -> None:
        self._slots: dict[int, list[Slot | None]] = {}
        self._places: dict[tuple[int, Slot], list[int]] = {}
        self.version = 0

    def slots(self, type_: int) -> tuple[Slot | None, ...]:
        """The slots of a type's events; None at a place that no query reads."""
        return tuple(self._slots.get(type_, ()))

    def place(self, types: tuple[int, ...], slot: Slot) -> int:
        """The index of a slot in the events of all these types."""
        distinct = [*dict.fromkeys(types)]
        first, *others = [self._places.setdefault((type_, slot), []) for type_ in distinct]
        for place in first:
            if all(place in places for places in others):
                return place
        lists = [self._slots.setdefault(type_, []) for type_ in distinct]
        longest = max(map(len, lists))
        for slots, places in zip(lists, (first, *others), strict=True):
            slots.extend([None] * (longest - len(slots)))
            slots.append(slot)
            places.append(SLOTS + longest)
        self.version += 1
        return SLOTS + longest


def _own(slot: Slot) -> Iterator[str]:
    """The name of what every event has, which a member may have, too."""
    if slot.attribute.own is not None:
        yield f"{slot.attribute.own}()"


def slot_names(slots: Iterable[Slot | None]) -> list[tuple[str, ...]]:
    """The slots of event queries as JSON that is the same over a restart."""
    return [
        () if one is None else (*_own(one), *one.attribute.steps, one.form.name) for one in slots
    ]
