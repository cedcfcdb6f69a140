"""What conditions and items of event queries see of given events
(docs/semantics.md#sets-of-events)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xscl.documents.attributes import MISSING
from xscl.pattern_stage.values.interpreter import Interpreter
from xscl.pattern_stage.values.terms import Age, Column, Leaf

__all__ = ["Attributes", "Sight"]

Attributes = Mapping[str, object]
"""JSON values by name; what is missing is not there."""


@dataclass(frozen=True)
class Sight(Interpreter):
    """The attributes of each side, how long it lasts (None: the composite), and the constants of
    the query."""

    sides: Mapping[int, Attributes]
    ages: Mapping[int | None, int]
    constants: Sequence[Any]

    def leaf(self, leaf: Leaf) -> object:
        match leaf:
            case Column(side, name):
                return self.sides[side].get(name, MISSING)
            case Age(side):
                return self.ages[side]
        raise TypeError(leaf)
