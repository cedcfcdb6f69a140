"""`;`: a left event and the first right one after it, `(start, end, None, left, right)`."""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.node import Leaf, Node, joined
from xscl.pattern_stage.algebra.nodes.select import Condition
from xscl.pattern_stage.algebra.reading import ReadContext, chain
from xscl.pattern_stage.layouts import SLOTS
from xscl.pattern_stage.values.terms import Form

__all__ = ["LEFT", "RIGHT", "SUFFIX", "Sequence"]

LEFT, RIGHT = SLOTS, SLOTS + 1

SUFFIX = "_1"
"""The suffix for the name of a left attribute where both inputs might have it."""


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """The condition is over sides 0 (left) and 1 (right).

    With `renamed` every attribute a of the left becomes a_1.  Where both events have a name, the
    right one's value counts.  Of several right events that end together all are the first one, or
    with `by_history` those that come first in the order of histories.
    """

    condition: Condition
    renamed: bool
    left: Node
    right: Node
    by_history: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        left = (self.outer(name) for name in self.left.names)
        return tuple(dict.fromkeys((*left, *self.right.names)))

    @property
    def open(self) -> bool:
        return self.left.open or self.right.open

    def leaves(self, event: str, leaf: Leaf, reading: ReadContext) -> str:
        """Those of the left, then those of the right."""
        left = self.left.leaves(f"{event}[{LEFT}]", leaf, reading)
        return joined([left, self.right.leaves(f"{event}[{RIGHT}]", leaf, reading)])

    def outer(self, name: str) -> str:
        """The name of an attribute of the left."""
        return name + SUFFIX if self.renamed else name

    def inner(self, name: str) -> str | None:
        """The left's attribute of a name."""
        if not self.renamed:
            return name
        return name.removesuffix(SUFFIX) if name.endswith(SUFFIX) else None

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is the right event's if that has it, else the left one's."""
        right = self.right.read(name, form, f"{event}[{RIGHT}]", reading)
        inner = self.inner(name)
        if inner is None:
            return right
        return chain(right, self.left.read(inner, form, f"{event}[{LEFT}]", reading), reading)
