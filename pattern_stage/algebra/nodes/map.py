"""π, ρ and α_g in one: items over an event, with a star alongside its other attributes.

An event is `(start, end, None, inner, *values)`, the values those of the computed items; without
any, it is the inner event itself: renaming is done at compile time.
"""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.node import Node
from xscl.pattern_stage.algebra.reading import ReadContext, computed_text
from xscl.pattern_stage.layouts import SLOTS
from xscl.pattern_stage.values.terms import Column, Form, Term
from xscl.pattern_stage.values.texts import NONE

__all__ = ["INNER", "Item", "Map", "computed"]

Item = tuple[str, Term]
"""A name, and its term over side 0.  A `Column` keeps its JSON value."""

INNER, _FIRST = SLOTS, SLOTS + 1


def computed(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The items that do more than rename."""
    return tuple(item for item in items if not isinstance(item[1], Column))


@dataclass(frozen=True, slots=True)
class Map(Node):
    """With `star` it also has the attributes of the input, which items replace."""

    star: bool
    items: tuple[Item, ...]
    input: Node

    @property
    def names(self) -> tuple[str, ...]:
        others = self.input.names if self.star else ()
        return tuple(dict.fromkeys((*others, *(name for name, _ in self.items))))

    @property
    def open(self) -> bool:
        return self.star and self.input.open

    def inner(self, event: str) -> str:
        """The input's event."""
        return f"{event}[{INNER}]" if computed(self.items) else event

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is an item's value, or the input's."""
        scalar = dict(self.items).get(name)
        if scalar is None:
            if not self.star:
                return NONE
            return self.input.read(name, form, self.inner(event), reading)
        if isinstance(scalar, Column):
            return self.input.read(scalar.name, form, self.inner(event), reading)
        place = _FIRST + computed(self.items).index((name, scalar))
        return computed_text(place, scalar, form, event)
