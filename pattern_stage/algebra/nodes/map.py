"""π, ρ and α_g in one: items over an event, with a star beside what else it has.

An event is `(start, end, None, None, inner, *values)`, the values those of the items that are
computed; where none is, it is the inner event itself: a name for a name is all compile time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pattern_stage.algebra.reading import MISSING, Reading, computed_text
from pattern_stage.algebra.terms import Column, Scalar
from pattern_stage.pattern import Form

if TYPE_CHECKING:
    from pattern_stage.algebra.nodes import Node

__all__ = ["Item", "Map", "computed"]

Item = tuple[str, Scalar]
"""A name, and its term over side 0.  A `Column` keeps its JSON value."""

_INNER, _FIRST = 4, 5


def computed(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items that are more than another name."""
    return tuple(item for item in items if not isinstance(item[1], Column))


@dataclass(frozen=True, slots=True)
class Map:
    """With `star` the attributes of the input beside, which items replace."""

    star: bool
    items: tuple[Item, ...]
    input: Node

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that its events list."""
        beside = self.input.names if self.star else ()
        return tuple(dict.fromkeys((*beside, *(name for name, _ in self.items))))

    @property
    def open(self) -> bool:
        """Whether its events may have others."""
        return self.star and self.input.open

    def inner(self, event: str) -> str:
        """The input's event."""
        return f"{event}[{_INNER}]" if computed(self.items) else event

    def read(self, name: str, form: Form, event: str, reading: Reading) -> str:
        """An attribute is an item's value, or the input's."""
        scalar = dict(self.items).get(name)
        if scalar is None:
            if not self.star:
                return MISSING
            return self.input.read(name, form, self.inner(event), reading)
        if isinstance(scalar, Column):
            return self.input.read(scalar.name, form, self.inner(event), reading)
        place = _FIRST + computed(self.items).index((name, scalar))
        return computed_text(place, scalar, form, event)
