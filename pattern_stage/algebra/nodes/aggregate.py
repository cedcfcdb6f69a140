"""α, and with a window of 0 β: for each epoch and group one point event.

An event is `(t, t, None, None, *keys, *values)`, the values those of the items that are computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pattern_stage.algebra.nodes.map import Item, computed
from pattern_stage.algebra.reading import MISSING, Reading, computed_text
from pattern_stage.algebra.terms import Column
from pattern_stage.pattern import Form

if TYPE_CHECKING:
    from pattern_stage.algebra.nodes import Node

__all__ = ["INF", "Aggregate", "is_aggregate"]

INF = None
"""The length of a window without end."""

_AGGREGATES = frozenset(["argmax", "argmin", "avg", "count", "max", "min", "sum"])

_FIRST = 4


def is_aggregate(function: str, arguments: int) -> bool:
    """Whether a call of a function with so many arguments is over a group; of more than one, `min`
    and `max` are functions."""
    return function in _AGGREGATES and (function not in ("min", "max") or arguments == 1)


@dataclass(frozen=True, slots=True)
class Aggregate:
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
        """The attributes that its events have."""
        return tuple(name for name, _ in self.items)

    @property
    def open(self) -> bool:
        """Whether its events may have others."""
        return False

    def read(self, name: str, form: Form, event: str, reading: Reading) -> str:
        """An attribute is a key, or computed."""
        scalar = dict(self.items).get(name)
        if scalar is None:
            return MISSING
        if isinstance(scalar, Column):
            return computed_text(_FIRST + self.keys.index(scalar.name), scalar, form, event)
        values = computed(self.items)
        place = _FIRST + len(self.keys) + values.index((name, scalar))
        return computed_text(place, scalar, form, event)
