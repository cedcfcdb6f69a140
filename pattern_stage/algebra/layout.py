"""Where the attributes stand in the tuples of sources.

An event of a source is `(start, end, number, whole, *slots)`, the times in microseconds.  Slots
only grow at their end.  `whole` has all of the event's attributes, where somebody asks.
"""

from __future__ import annotations

from pattern_stage.pattern import Attribute, Form, Slot

__all__ = ["NULL", "WHOLE", "Event", "Layout"]

Event = tuple[object, ...]
"""`(start, end, number, whole, *slots)`, or what a node's docstring says."""

WHOLE, _FIRST = 3, 4


class _Null:
    """JSON's null as a value; None is missing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NULL"

    def __reduce__(self) -> str:
        return "NULL"


NULL = _Null()


class Layout:
    """The slots of each type of events."""

    def __init__(self) -> None:
        self._slots: dict[int, dict[Slot, int]] = {}
        self._whole = set[int]()
        self.version = 0

    def slots(self, type_: int) -> tuple[Slot, ...]:
        """What stands behind `whole` in a type's events."""
        return tuple(self._slots.get(type_, ()))

    def whole(self, type_: int) -> bool:
        """Whether somebody asks for all attributes of a type's events."""
        return type_ in self._whole

    def place(self, type_: int, name: str, form: Form) -> int:
        """The index of an attribute in a type's events."""
        slots = self._slots.setdefault(type_, {})
        slot = Slot(Attribute((name,)), form)
        place = slots.get(slot)
        if place is None:
            place = slots[slot] = _FIRST + len(slots)
            self.version += 1
        return place

    def ask_whole(self, type_: int) -> None:
        """From here on a type's events have all their attributes at `WHOLE`."""
        if type_ not in self._whole:
            self._whole.add(type_)
            self.version += 1
