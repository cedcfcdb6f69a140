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
        choices = self._choices(name, form, event, reading)
        if len(choices) == 1:
            return choices[0][0]
        first = " else ".join([f"{text} if {holds}" for text, holds in choices[:-1]])
        return f"({first} else {choices[-1][0]})"

    def _choices(
        self, name: str, form: Form, event: str, reading: ReadContext
    ) -> list[tuple[str, str]]:
        """The reads of the inputs, with when each is the one, if none before is; those of unions on
        the left as well, as Python reads few parentheses in each other."""
        inner = f"{event}[{INNER}]"
        right = self.right.read(name, form, inner, reading)
        if isinstance(self.left, Union):
            choices = self.left._choices(name, form, inner, reading)
        else:
            choices = [(self.left.read(name, form, inner, reading), "")]
        if len(choices) == 1 and choices[0][0] == right:
            return choices
        return [(right, f"{event}[{SIDE}]"), *choices]
