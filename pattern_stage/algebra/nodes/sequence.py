"""`;`: a left event and the first right one after it, `(start, end, None, None, left, right)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pattern_stage.algebra.nodes.select import Condition
from pattern_stage.algebra.reading import Reading, chain
from pattern_stage.pattern import Form

if TYPE_CHECKING:
    from pattern_stage.algebra.nodes import Node

__all__ = ["SUFFIX", "Sequence"]

SUFFIX = "_1"
"""What is added to the name of a left attribute where both inputs might show it."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """The condition is over sides 0 (left) and 1 (right).

    With `renamed` every attribute a of the left becomes a_1.  Where both events show a name,
    the right one's value stands.
    """

    condition: Condition
    renamed: bool
    left: Node
    right: Node

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that its events list."""
        left = (self.outer(name) for name in self.left.names)
        return tuple(dict.fromkeys((*left, *self.right.names)))

    @property
    def open(self) -> bool:
        """Whether its events may have others."""
        return self.left.open or self.right.open

    def outer(self, name: str) -> str:
        """How an attribute of the left is named."""
        return name + SUFFIX if self.renamed else name

    def inner(self, name: str) -> str | None:
        """The left's attribute of a name."""
        if not self.renamed:
            return name
        return name.removesuffix(SUFFIX) if name.endswith(SUFFIX) else None

    def read(self, name: str, form: Form, event: str, reading: Reading) -> str:
        """An attribute is the right event's if that has it, else the left one's."""
        right = self.right.read(name, form, f"{event}[5]", reading)
        inner = self.inner(name)
        if inner is None:
            return right
        return chain(right, self.left.read(inner, form, f"{event}[4]", reading), reading)
