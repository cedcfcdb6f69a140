"""The events of an input as those of a variable, as composites name them (NEXT CEP's EQL,
section 2.2 of Schultz-Møller et al.): renaming alone."""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.node import Leaf, Node
from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.values.terms import STEP, Form
from xscl.pattern_stage.values.texts import NONE

__all__ = ["Variable"]


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """The attribute `a` of the input is the attribute `variable STEP a`; it has no others."""

    variable: str
    input: Node

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.variable}{STEP}{name}" for name in self.input.names)

    @property
    def open(self) -> bool:
        return self.input.open

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    def has(self, variable: str) -> bool:
        return variable == self.variable

    def leaves(self, event: str, leaf: Leaf, reading: ReadContext) -> str:
        return leaf(self.variable, self, event)

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute of this variable is the input's; others are missing."""
        variable, _, own = name.partition(STEP)
        if variable != self.variable:
            return NONE
        return self.input.read(own, form, event, reading)
