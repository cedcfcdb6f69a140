r"""`\\`: the composites in whose scope no event of another input lies (NEXT CEP's EQL)."""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.node import Node
from xscl.pattern_stage.algebra.nodes.select import Condition
from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.values.terms import Form

__all__ = ["Except"]


@dataclass(frozen=True, slots=True)
class Except(Node):
    """The condition is over sides 0 (the composite) and 1 (the event of the exception).

    That event is in the scope if it is after the end of `low` and before that of `high`: the places
    that lead to an event in the composite; empty: after the start, before the end of the composite.
    `window` is the place of the longest duration of a composite, None where that is not known.
    """

    condition: Condition
    low: tuple[int, ...]
    high: tuple[int, ...]
    window: int | None
    left: Node
    right: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.left,)

    @property
    def names(self) -> tuple[str, ...]:
        return self.left.names

    @property
    def open(self) -> bool:
        return self.left.open

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is the composite's."""
        return self.left.read(name, form, event, reading)
