"""α, and with a window of 0 β: for each epoch and group one point event.

An event is `(t, t, None, *keys, *values)`, the values those of the items that are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.map import Item, computed
from xscl.pattern_stage.algebra.nodes.node import Node
from xscl.pattern_stage.algebra.reading import ReadContext, computed_text
from xscl.pattern_stage.layouts import SLOTS
from xscl.pattern_stage.values.terms import Column, Form
from xscl.pattern_stage.values.texts import NONE

__all__ = ["INF", "Aggregate", "is_aggregate"]

INF = None
"""The length of an unbounded window."""

_AGGREGATES = frozenset(["argmax", "argmin", "avg", "count", "max", "min", "sum"])


def is_aggregate(function: str, arguments: int) -> bool:
    """Whether a call of a function with so many arguments is over a group; with more than one,
    `min` and `max` are functions."""
    return function in _AGGREGATES and (function not in ("min", "max") or arguments == 1)


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """`window` is the place of its length in microseconds among the constants, or INF.

    `keys` are attributes; items are terms over side 0, in which a `Call` of an aggregate is over
    the group (`count` with no argument: of all), and a `Column` is a key.
    """

    window: int | None
    keys: tuple[str, ...]
    items: tuple[Item, ...]
    input: Node

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.items)

    @property
    def open(self) -> bool:
        return False

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is a key, or computed."""
        scalar = dict(self.items).get(name)
        if scalar is None:
            return NONE
        if isinstance(scalar, Column):
            return computed_text(SLOTS + self.keys.index(scalar.name), scalar, form, event)
        values = computed(self.items)
        place = SLOTS + len(self.keys) + values.index((name, scalar))
        return computed_text(place, scalar, form, event)
