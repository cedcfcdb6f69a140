"""∪: the events of either input, `(start, end, number, side, inner)` with side 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pattern_stage.algebra.reading import Reading
from pattern_stage.pattern import Form

if TYPE_CHECKING:
    from pattern_stage.algebra.nodes import Node

__all__ = ["Union"]


@dataclass(frozen=True, slots=True)
class Union:
    """It is closed where both inputs are."""

    left: Node
    right: Node

    @property
    def names(self) -> tuple[str, ...]:
        """What both inputs list."""
        right = frozenset(self.right.names)
        return tuple(name for name in self.left.names if name in right)

    @property
    def open(self) -> bool:
        """Whether its events may have other attributes."""
        return self.left.open or self.right.open

    def read(self, name: str, form: Form, event: str, reading: Reading) -> str:
        """An attribute is that of the input that the event is of."""
        inner = f"{event}[4]"
        left, right = (one.read(name, form, inner, reading) for one in (self.left, self.right))
        if left == right:
            return left
        return f"({right} if {event}[3] else {left})"
