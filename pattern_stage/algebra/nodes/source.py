"""σ₀: the events of a type."""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.node import Node
from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.values.terms import Attribute, Form, Slot
from xscl.pattern_stage.values.texts import NONE

__all__ = ["Source"]


@dataclass(frozen=True, slots=True)
class Source(Node):
    """`listed` is None where the stream is open: then an event has the attributes of its
    document."""

    type: int
    listed: tuple[str, ...] | None

    @property
    def names(self) -> tuple[str, ...]:
        return self.listed or ()

    @property
    def open(self) -> bool:
        return self.listed is None

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is a slot."""
        if self.listed is not None and name not in self.listed:
            return NONE
        slot = Slot(Attribute.named(name), form)
        return f"{event}[{reading.layout.place((self.type,), slot)}]"
