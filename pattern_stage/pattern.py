"""A pattern as the pattern stage takes it: what a front end makes of a query's text.

Components in order of time, a strategy, and a condition in conjunctive normal form over the
attributes of their events (SASE: Wu et al. 2006, section 2; SASE+: Agrawal et al. 2008, section 2).
Constants stand apart, as places in a tuple: patterns alike but for them are one template.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal

__all__ = [
    "Aggregate",
    "Arithmetic",
    "Attribute",
    "Comparison",
    "Component",
    "Conjunct",
    "Constant",
    "Form",
    "Index",
    "Length",
    "Negative",
    "Pattern",
    "Read",
    "Slot",
    "Strategy",
    "Term",
    "Test",
]


class Strategy(Enum):
    """Which events between two of a match may be ignored (SASE+, section 2.2)."""

    STRICT_CONTIGUITY = auto()
    PARTITION_CONTIGUITY = auto()
    SKIP_TILL_NEXT_MATCH = auto()
    SKIP_TILL_ANY_MATCH = auto()


class Index(Enum):
    """Which event of a Kleene component is read: `a[1]`, `a[i]`, `a[i-1]`, `a[a.LEN]`."""

    FIRST = auto()
    EACH = auto()
    PREVIOUS = auto()
    LAST = auto()


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an event: the names of the steps from its output node, the first of which
    may be a variable of its block, then the name of an XML attribute: `x/y/@z`.

    Neither is the string value of the output node itself.  `own` is what every event has beside:
    the time of its document in seconds, or its document's id.
    """

    steps: tuple[str, ...] = ()
    attribute: str | None = None
    own: Literal["timestamp", "document"] | None = None

    def __post_init__(self) -> None:
        if self.own is not None and (self.steps or self.attribute is not None):
            raise ValueError(f"{self.own} has no path")


class Form(Enum):
    """In which form an attribute is read: its string value, the number that casts to, or (by the
    algebra alone) the JSON value as it is."""

    TEXT = auto()
    NUMBER = auto()
    VALUE = auto()


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the tuple of an event.  Of form TEXT a str; of form NUMBER a float, NaN where the
    text is not castable to xs:double; of form VALUE a JSON value, `algebra.NULL` for null; None
    where the event lacks the attribute."""

    attribute: Attribute
    form: Form


# Terms


@dataclass(frozen=True, slots=True)
class Constant:
    """The constant at a place of the query's tuple of constants: a float where `number`, else a
    str."""

    place: int
    number: bool


@dataclass(frozen=True, slots=True)
class Read:
    """An attribute of the event of a component, by its place; `index` of a Kleene one alone."""

    component: int
    attribute: Attribute
    index: Index | None = None

    @property
    def number(self) -> bool:
        """Whether it is a number by itself."""
        return self.attribute.own == "timestamp"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the events of a Kleene component; with `previous` over those before the
    one that `Index.EACH` reads, `a[..i-1]`.  Only `count` has no attribute."""

    function: Literal["avg", "sum", "min", "max", "count"]
    component: int
    attribute: Attribute | None
    previous: bool = False

    def __post_init__(self) -> None:
        if self.attribute is None and self.function != "count":
            raise ValueError(f"{self.function} is of an attribute")


@dataclass(frozen=True, slots=True)
class Length:
    """The number of events of a Kleene component, `a.LEN`."""

    component: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`+ - * /`, and `%`, the remainder with the sign of the dividend, over xs:double."""

    operator: Literal["+", "-", "*", "/", "%"]
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Negative:
    """`- operand`."""

    operand: Term


Term = Constant | Read | Aggregate | Length | Arithmetic | Negative


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two terms: of numbers where either is one by itself; else `=` and `!=` of
    strings, an order of numbers where both cast, else of strings by codepoint."""

    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    left: Term
    right: Term


Conjunct = tuple[Comparison, ...]
"""Comparisons joined by OR, one at least."""


@dataclass(frozen=True, slots=True)
class Test:
    """An equivalence test: `[x]` over all pairs of events, or `[x = c]` of each event."""

    attribute: Attribute
    constant: Constant | None = None


# The whole


@dataclass(frozen=True, slots=True)
class Component:
    """A component: the number of types that it names, and how it stands.  `any` makes a
    comparison true that reads what its event lacks."""

    name: str
    types: int = 1
    kleene: bool = False
    negated: bool = False
    any: bool = False

    def __post_init__(self) -> None:
        if self.types < 1:
            raise ValueError(f"component {self.name} has no type")
        if self.kleene and self.negated:
            raise ValueError(f"component {self.name} is negated and a Kleene plus")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Components in order, at least one of them positive.

    `within` is in microseconds, at least 1, None for no window.  Every conjunct and test holds;
    a conjunct reads at most one negated component, and runs over the `i` of at most one Kleene
    component.
    """

    components: tuple[Component, ...]
    strategy: Strategy = Strategy.SKIP_TILL_ANY_MATCH
    conjuncts: tuple[Conjunct, ...] = ()
    tests: tuple[Test, ...] = ()
    within: int | None = None
    non_overlapping: bool = False

    def __post_init__(self) -> None:
        if all(component.negated for component in self.components):
            raise ValueError("a pattern has a positive component")
        if self.within is None and self.components[-1].negated:
            raise ValueError("a negated end has a window")
        if self.within is not None and self.within < 1:
            raise ValueError(f"a window of {self.within} microseconds")

    @property
    def monotone(self) -> bool:
        """Whether a further event can only add matches (SASE+, section 2.3)."""
        return (
            self.strategy is Strategy.SKIP_TILL_ANY_MATCH
            and not self.non_overlapping
            and not any(component.negated for component in self.components)
        )
