"""µ: a left event and one right event after the other, with aggregates carried along.

An event is `(start, end, None, first, last, *aggregates)`: the left event, the latest right one.
Before the first iteration an instance is its left event itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from xscl.pattern_stage.algebra.nodes.map import Item
from xscl.pattern_stage.algebra.nodes.node import Node
from xscl.pattern_stage.algebra.nodes.select import Condition
from xscl.pattern_stage.algebra.nodes.sequence import LEFT, RIGHT, SUFFIX
from xscl.pattern_stage.algebra.reading import ReadContext, chain, computed_text
from xscl.pattern_stage.values.terms import Form
from xscl.pattern_stage.values.texts import NONE

__all__ = ["AGGREGATES", "FIRST", "LAST", "Iterate", "Iteration"]

FIRST, LAST, AGGREGATES = LEFT, RIGHT, RIGHT + 1


@dataclass(frozen=True, slots=True)
class Iterate(Node):
    """θ is `condition`, ρ `continuing`, F `aggregates`: terms over sides 0 (`$1`), 1 (`$2`) and 2
    (`$`).

    `common` are the left's attributes that become a_1; None, where both sides are open: all but
    `kept`.  `right_names` are the attributes from the right event; None: all that it has.
    """

    condition: Condition
    continuing: Condition
    aggregates: tuple[Item, ...]
    common: tuple[str, ...] | None
    kept: tuple[str, ...]
    right_names: tuple[str, ...] | None
    left: Node
    right: Node

    def __post_init__(self) -> None:
        if self.kept and self.common is not None:
            raise ValueError("where common names are listed, the others are kept")

    @property
    def names(self) -> tuple[str, ...]:
        left = (self.outer(name) for name in self.left.names)
        right = self.right.names if self.right_names is None else self.right_names
        return tuple(dict.fromkeys((*left, *right, *(name for name, _ in self.aggregates))))

    @property
    def open(self) -> bool:
        return self.left.open or self.right_names is None

    def is_common(self, name: str) -> bool:
        """Whether an attribute of the left becomes a_1."""
        return name not in self.kept if self.common is None else name in self.common

    def outer(self, name: str) -> str:
        """The name of an attribute of the left."""
        return name + SUFFIX if self.is_common(name) else name

    def inners(self, name: str) -> tuple[str, ...]:
        """The left's attributes that may have a name: first the one that keeps its name, then one
        that gets it, which an open left may have in addition."""
        common = name.removesuffix(SUFFIX)
        renamed = (common,) if common != name and self.is_common(common) else ()
        keeps = not self.is_common(name) and (self.left.open or name in self.left.names)
        return (name, *renamed) if keeps else renamed

    def inner(self, name: str) -> str | None:
        """The left's attribute of a name; None where none or more than one may have it."""
        inners = self.inners(name)
        return inners[0] if len(inners) == 1 else None

    def computed(self, name: str, form: Form, event: str) -> str | None:
        """An aggregate of an iteration."""
        for place, (one, scalar) in enumerate(self.aggregates):
            if one == name:
                return computed_text(AGGREGATES + place, scalar, form, event)
        return None

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is an aggregate, else the latest event's, else the first one's."""
        computed = self.computed(name, form, event)
        if computed is not None:
            return computed
        left = right = NONE
        for inner in reversed(self.inners(name)):
            first = self.left.read(inner, form, f"{event}[{FIRST}]", reading)
            left = chain(first, left, reading)
        if self.right_names is None or name in self.right_names:
            right = self.right.read(name, form, f"{event}[{LAST}]", reading)
        return chain(right, left, reading)


@dataclass(frozen=True, slots=True)
class Iteration:
    """`$`, from the second iteration on: the Iterate's event under the names of its left."""

    of: Iterate

    def read(self, name: str, form: Form, event: str, reading: ReadContext) -> str:
        """An attribute is an aggregate; of a common name the latest event's, else the left's."""
        computed = self.of.computed(name, form, event)
        if computed is not None:
            return computed
        if self.of.is_common(name):
            return self.of.right.read(name, form, f"{event}[{LAST}]", reading)
        return self.of.left.read(name, form, f"{event}[{FIRST}]", reading)
