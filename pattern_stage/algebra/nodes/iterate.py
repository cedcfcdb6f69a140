"""µ: a left event and one right event after the other, with aggregates that are carried on.

An event is `(start, end, None, None, first, last, *aggregates)`: the left event, the latest right
one.  Before the first iteration an instance is its left event itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pattern_stage.algebra.nodes.map import Item
from pattern_stage.algebra.nodes.select import Condition
from pattern_stage.algebra.nodes.sequence import SUFFIX
from pattern_stage.algebra.reading import MISSING, Reading, chain, computed_text
from pattern_stage.pattern import Form

if TYPE_CHECKING:
    from pattern_stage.algebra.nodes import Node

__all__ = ["FIRST", "LAST", "Iterate", "Iteration"]

FIRST, LAST, _AGGREGATES = 4, 5, 6


@dataclass(frozen=True, slots=True)
class Iterate:
    """θ is `condition`, ρ `going_on`, F `aggregates`: terms over sides 0 (`$1`), 1 (`$2`), 2 (`$`).

    `common` are the left's attributes that become a_1; None, where both sides are open: all but
    `kept`.  `right_names` are the attributes that the right event gives; None: all that it has.
    """

    condition: Condition
    going_on: Condition
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
        """The attributes that its events list."""
        left = (self.outer(name) for name in self.left.names)
        right = self.right.names if self.right_names is None else self.right_names
        return tuple(dict.fromkeys((*left, *right, *(name for name, _ in self.aggregates))))

    @property
    def open(self) -> bool:
        """Whether its events may have others."""
        return self.left.open or self.right_names is None

    def is_common(self, name: str) -> bool:
        """Whether an attribute of the left becomes a_1."""
        return name not in self.kept if self.common is None else name in self.common

    def outer(self, name: str) -> str:
        """How an attribute of the left is named."""
        return name + SUFFIX if self.is_common(name) else name

    def inners(self, name: str) -> tuple[str, ...]:
        """The left's attributes that may have a name, the one that stands first: one that keeps
        its name before one that gets it, which an open left may show besides."""
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
                return computed_text(_AGGREGATES + place, scalar, form, event)
        return None

    def read(self, name: str, form: Form, event: str, reading: Reading) -> str:
        """An attribute is an aggregate, else the latest event's, else the first one's."""
        computed = self.computed(name, form, event)
        if computed is not None:
            return computed
        left = right = MISSING
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

    def read(self, name: str, form: Form, event: str, reading: Reading) -> str:
        """An attribute is an aggregate; of a common name the latest event's, else the left's."""
        computed = self.of.computed(name, form, event)
        if computed is not None:
            return computed
        if self.of.is_common(name):
            return self.of.right.read(name, form, f"{event}[{LAST}]", reading)
        return self.of.left.read(name, form, f"{event}[{FIRST}]", reading)
