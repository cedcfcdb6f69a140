"""σ₀: the events of a type."""

from __future__ import annotations

from dataclasses import dataclass

from pattern_stage.algebra.reading import MISSING, Reading
from pattern_stage.pattern import Form

__all__ = ["Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """`listed` is None where the stream is open: then an event has whatever its document has."""

    type: int
    listed: tuple[str, ...] | None

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that its events list."""
        return self.listed or ()

    @property
    def open(self) -> bool:
        """Whether its events may have others."""
        return self.listed is None

    def read(self, name: str, form: Form, event: str, reading: Reading) -> str:
        """An attribute is a slot."""
        if self.listed is not None and name not in self.listed:
            return MISSING
        return f"{event}[{reading.layout.place(self.type, name, form)}]"
