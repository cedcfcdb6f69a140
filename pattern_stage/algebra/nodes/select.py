"""σ: the events for which a condition holds, as they are."""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.node import Node
from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.values.terms import Form, Predicate

__all__ = ["Condition", "Select"]

Condition = tuple[Predicate, ...]
"""Conjuncts; the empty one is TRUE."""


@dataclass(frozen=True, slots=True)
class Select(Node):
    """The condition is over side 0."""

    condition: Condition
    input: Node

    @property
    def names(self) -> tuple[str, ...]:
        return self.input.names

    @property
    def open(self) -> bool:
        return self.input.open

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is the input's."""
        return self.input.read(name, form, event, reading)
