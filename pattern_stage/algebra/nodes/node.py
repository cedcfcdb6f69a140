"""What all nodes of a plan have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Self

from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.values.terms import Form

__all__ = ["INPUTS", "NOTHING", "Leaf", "Node", "joined"]

INPUTS = ("input", "left", "right")

Leaf = Callable[[str, "Node", str], str]
"""A variable, the node that has it, and the text of an event of that -> the text of a tuple."""

NOTHING = "()"
"""The text of an empty tuple."""


class _Sum(str):
    """The text of several tuples as one; they are its `parts`."""

    __slots__ = ("parts",)

    parts: tuple[str, ...]


def joined(tuples: Iterable[str]) -> str:
    """The text of several tuples as one, flat: Python reads a few parentheses in each other."""
    some = [
        part
        for one in tuples
        for part in (one.parts if isinstance(one, _Sum) else (one,))
        if part != NOTHING
    ]
    if len(some) < 2:
        return "".join(some) or NOTHING
    text = _Sum(f"({' + '.join(some)})")
    text.parts = tuple(some)
    return text


@dataclass(frozen=True, slots=True)
class Node(ABC):
    """An operator with its inputs, the fields of `INPUTS` that it has."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes that it reads, left to right."""
        return tuple([getattr(self, name) for name in INPUTS if hasattr(self, name)])

    def over(self, inputs: Iterable[Node]) -> Self:
        """The operator over other inputs; itself if they are its own."""
        names = [name for name in INPUTS if hasattr(self, name)]
        other = dict(zip(names, inputs, strict=True))
        if all(getattr(self, name) is one for name, one in other.items()):
            return self
        return replace(self, **other)

    # Composites: what an event consists of.

    @property
    def parts(self) -> tuple[Node, ...]:
        """The inputs whose events are in its events."""
        return self.inputs

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the events in its composites, in order."""
        return tuple([variable for one in self.parts for variable in one.variables])

    def has(self, variable: str) -> bool:
        """Whether each event has an event of a variable."""
        return any(one.has(variable) for one in self.parts)

    def leaves(self, event: str, leaf: Leaf, reading: ReadContext) -> str:
        """The tuple of what `leaf` makes of the events in a composite, in order."""
        return self.parts[0].leaves(event, leaf, reading)

    # Attributes.

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The attributes that its events list."""

    @property
    @abstractmethod
    def open(self) -> bool:
        """Whether its events may have others."""

    @abstractmethod
    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """The text that reads an attribute of an event; None at run time where it is missing."""
