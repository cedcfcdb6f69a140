"""∪: the events of either input, `(start, end, number, side, inner)` with side 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.node import Leaf, Node
from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.layouts import SLOTS
from xscl.pattern_stage.values.terms import Form

__all__ = ["INNER", "SIDE", "Union"]

SIDE, INNER = SLOTS, SLOTS + 1


@dataclass(frozen=True, slots=True)
class Union(Node):
    """It is closed where both inputs are."""

    left: Node
    right: Node

    @property
    def names(self) -> tuple[str, ...]:
        """The names that both inputs list."""
        right = frozenset(self.right.names)
        return tuple(name for name in self.left.names if name in right)

    @property
    def open(self) -> bool:
        return self.left.open or self.right.open

    def has(self, variable: str) -> bool:
        """Where both have it."""
        return self.left.has(variable) and self.right.has(variable)

    def leaves(self, event: str, leaf: Leaf, reading: ReadContext) -> str:
        """Those of the input that the event is of."""
        inner = f"{event}[{INNER}]"
        left, right = (one.leaves(inner, leaf, reading) for one in (self.left, self.right))
        return left if left == right else f"({right} if {event}[{SIDE}] else {left})"

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is that of the input that the event is of."""
        inner = f"{event}[{INNER}]"
        left, right = (one.read(name, form, inner, reading) for one in (self.left, self.right))
        if left == right:
            return left
        return f"({right} if {event}[{SIDE}] else {left})"
