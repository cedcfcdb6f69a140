"""σ: the events for which a condition holds, as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pattern_stage.algebra.reading import Reading
from pattern_stage.algebra.terms import Predicate
from pattern_stage.pattern import Form

if TYPE_CHECKING:
    from pattern_stage.algebra.nodes import Node

__all__ = ["Condition", "Select"]

Condition = tuple[Predicate, ...]
"""Conjuncts; the empty one is TRUE."""


@dataclass(frozen=True, slots=True)
class Select:
    """The condition is over side 0."""

    condition: Condition
    input: Node

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that its events list."""
        return self.input.names

    @property
    def open(self) -> bool:
        """Whether its events may have others."""
        return self.input.open

    def read(self, name: str, form: Form, event: str, reading: Reading) -> str:
        """An attribute is the input's."""
        return self.input.read(name, form, event, reading)
