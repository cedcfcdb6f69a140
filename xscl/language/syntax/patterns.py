"""The syntax tree of EVENT and PATTERN: components in order of time, a strategy, a condition over
the attributes of their events (patterns-sase.md, section 1).

Everything stands as it was written: what a name reads, and whether it may, is seen to later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from xscl.language.syntax.paths import Block, Literal, Name, Parameter, Window

__all__ = [
    "Aggregate",
    "Arithmetic",
    "Attribute",
    "Compared",
    "Component",
    "Consistency",
    "Demand",
    "Either",
    "Equivalence",
    "EventPattern",
    "Every",
    "Minus",
    "PerCent",
    "Read",
    "Selected",
    "Selection",
    "Value",
]


@dataclass(frozen=True, slots=True)
class Component:
    """`!(ANY(A, B) z)`, `Stock+ a[]`: types, and the variable of their events.

    `at` is the first of its types, behind `!`, or the parenthesis there.
    """

    types: tuple[Block, ...]
    any: bool
    plus: bool
    negated: bool
    variable: Name | None
    brackets: bool
    at: int


@dataclass(frozen=True, slots=True)
class Selection:
    """An event selection strategy, with underscores, and the variables that are listed behind
    it."""

    strategy: str
    listed: tuple[Name, ...] | None
    at: int


# Values.


@dataclass(frozen=True, slots=True)
class Attribute:
    """`x`, `x/y/@z`, `@z`, `'dc creator'`: the names of the steps, then the name of an XML
    attribute.  `quoted` says whether the first name is."""

    steps: tuple[str, ...]
    attribute: str | None
    quoted: bool
    at: int


@dataclass(frozen=True, slots=True)
class Read:
    """`x`, `x.p`, `a[i-1].p`, `a[].p`; without a variable a bare attribute.

    `index` is what stands in the brackets, without white space: an empty text for `a[]`, None for
    no brackets.
    """

    variable: Name | None
    index: str | None
    attribute: Attribute | None
    at: int


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`avg(a[..i-1].price)`; the function in lower case."""

    function: str
    read: Read
    at: int


@dataclass(frozen=True, slots=True)
class PerCent:
    """`80%`."""

    number: Literal
    at: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left operator right`; all operators associate to the left."""

    operator: OneOf["+", "-", "*", "/", "%"]
    left: Value
    right: Value
    at: int


@dataclass(frozen=True, slots=True)
class Minus:
    """`- operand`."""

    operand: Value
    at: int


Value = Literal | Parameter | PerCent | Read | Aggregate | Arithmetic | Minus


@dataclass(frozen=True, slots=True)
class Selected:
    """What SELECT names of a pattern's match, in a list or a constructor."""

    value: Value
    at: int


# Conditions.


@dataclass(frozen=True, slots=True)
class Compared:
    """`left operator right`, the operator in its plain spelling."""

    operator: OneOf["=", "!=", "<", "<=", ">", ">="]
    left: Value
    right: Value
    at: int


@dataclass(frozen=True, slots=True)
class Equivalence:
    """`[x]`, or `[x = c]`; of `[x, y]` each stands for itself."""

    attribute: Attribute
    constant: Literal | Parameter | Attribute | None
    at: int


@dataclass(frozen=True, slots=True)
class Every:
    """Two or more conditions joined by AND; none of them is of this kind itself."""

    parts: tuple[Demand, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Either:
    """Two or more conditions joined by OR; none of them is of this kind itself."""

    parts: tuple[Demand, ...]
    at: int


Demand = Compared | Equivalence | Every | Either


# The whole.


@dataclass(frozen=True, slots=True)
class Consistency:
    """`CONSISTENCY strong`; `window` is what stands behind `middle` in parentheses."""

    level: OneOf["strong", "middle", "weak"]
    window: Window | None
    at: int


@dataclass(frozen=True, slots=True)
class EventPattern:
    """`EVENT structure WHERE condition …`, or PATTERN."""

    kind: OneOf["EVENT", "PATTERN"]
    components: tuple[Component, ...]
    selection: Selection | None
    condition: Demand | None
    window: Window | None
    non_overlapping: bool
    consistency: Consistency | None
    at: int
