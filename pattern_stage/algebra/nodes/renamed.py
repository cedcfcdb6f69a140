"""Composites whose variables have other names: what is the same up to names is one node below."""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.node import Leaf, Node
from xscl.pattern_stage.algebra.nodes.variable import Variable
from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.values.terms import STEP, Form
from xscl.pattern_stage.values.texts import NONE

__all__ = ["Renamed"]


@dataclass(frozen=True, slots=True)
class Renamed(Node):
    """The variable of the input that is called by a number has the name at that place."""

    called: tuple[str, ...]
    input: Node

    @property
    def names(self) -> tuple[str, ...]:
        some = (name.partition(STEP) for name in self.input.names)
        return tuple(f"{self.called[int(variable)]}{step}{rest}" for variable, step, rest in some)

    @property
    def open(self) -> bool:
        return self.input.open

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(self.called[int(one)] for one in self.input.variables)

    def has(self, variable: str) -> bool:
        return variable in self.called and self.input.has(self._inner(variable))

    def leaves(self, event: str, leaf: Leaf, reading: ReadContext) -> str:
        """Those of the input, each under its name."""

        def renamed(variable: str, of: Node, one: str) -> str:
            name = self.called[int(variable)]
            assert isinstance(of, Variable)
            return leaf(name, Variable(name, of.input), one)

        return self.input.leaves(event, renamed, reading)

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute of a variable is the input's."""
        variable, step, rest = name.partition(STEP)
        if variable not in self.called:
            return NONE
        return self.input.read(f"{self._inner(variable)}{step}{rest}", form, event, reading)

    def _inner(self, variable: str) -> str:
        return str(self.called.index(variable))
