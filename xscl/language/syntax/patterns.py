"""The syntax tree of EVENT and PATTERN: components in order of time, a strategy, a condition over
the attributes of their events (docs/semantics.md#reading-a-pattern).

Everything is as it was written; what a name reads, and whether it may, is checked later.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Generic, TypeVar, Union
from typing import Literal as OneOf

from xscl.language.syntax.languages import PATTERNS, Language
from xscl.language.syntax.paths import Block, Literal, Name, Parameter, Window

_Value = TypeVar("_Value", covariant=True)
_Demand = TypeVar("_Demand", covariant=True)

__all__ = [
    "Aggregate",
    "Arithmetic",
    "Attribute",
    "Call",
    "Compared",
    "Component",
    "Consistency",
    "Demand",
    "Either",
    "Equivalence",
    "EventPattern",
    "Every",
    "Minus",
    "Not",
    "PerCent",
    "Read",
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

    `index` is what is in the brackets, without white space: an empty text for `a[]`, None for
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

    @property
    def share(self) -> float:
        """The number that it is."""
        return self.of(self.number.value)

    @staticmethod
    def of(number: object) -> float:
        """A hundredth of a number as it is written: exactly 0.011 of 1.1, which 1.1 / 100 is not.

        >>> PerCent.of(1.1)
        0.011
        """
        return float(Decimal(repr(number)).scaleb(-2))


@dataclass(frozen=True, slots=True)
class Arithmetic(Generic[_Value]):
    """`left operator right`; all operators associate to the left."""

    operator: OneOf["+", "-", "*", "/", "%"]
    left: _Value
    right: _Value
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function, a test or an aggregate by its name as written in lower case: `canonical(x)`,
    `contains(a, b)`, `argmax(x, y)`, `count(*)`."""

    function: str
    arguments: tuple[Any, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Minus(Generic[_Value]):
    """`- operand`."""

    operand: _Value
    at: int


Value = Union[
    Literal, Parameter, PerCent, Read, Aggregate, Call, "Arithmetic[Value]", "Minus[Value]"
]


# Conditions.


@dataclass(frozen=True, slots=True)
class Compared(Generic[_Value]):
    """`left operator right`, the operator in its plain spelling."""

    operator: OneOf["=", "!=", "<", "<=", ">", ">="]
    left: _Value
    right: _Value
    at: int


@dataclass(frozen=True, slots=True)
class Equivalence:
    """`[x]`, or `[x = c]`; of `[x, y]` each stands for itself."""

    attribute: Attribute
    constant: Literal | Parameter | Attribute | None
    at: int


@dataclass(frozen=True, slots=True)
class Every(Generic[_Demand]):
    """Two or more conditions joined by AND; none of them is of this kind itself."""

    parts: tuple[_Demand, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Either(Generic[_Demand]):
    """Two or more conditions joined by OR; none of them is of this kind itself."""

    parts: tuple[_Demand, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Not(Generic[_Demand]):
    """`NOT operand`."""

    operand: _Demand
    at: int


Demand = Union["Compared[Value]", Equivalence, "Every[Demand]", "Either[Demand]"]


# The whole.


@dataclass(frozen=True, slots=True)
class Consistency:
    """`CONSISTENCY strong`; `window` is what follows `middle` in parentheses."""

    level: OneOf["strong", "middle", "weak"]
    window: Window | None
    at: int


@dataclass(frozen=True, slots=True)
class EventPattern:
    """`EVENT structure WHERE condition …`, or PATTERN."""

    language: ClassVar[Language] = PATTERNS

    kind: OneOf["EVENT", "PATTERN"]
    components: tuple[Component, ...]
    selection: Selection | None
    condition: Demand | None
    window: Window | None
    non_overlapping: bool
    consistency: Consistency | None
    at: int
