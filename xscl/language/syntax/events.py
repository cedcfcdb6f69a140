"""The syntax tree of event queries: FILTER, NEXT, FOLD, UNION and WINDOW over streams and
sub-queries (docs/semantics.md#reading-an-event-query).

Everything is as it was written; what a name reads, and whether it may, is checked later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Union
from typing import Literal as OneOf

from xscl.language.syntax.languages import EVENT_QUERIES, Language
from xscl.language.syntax.paths import Block, Literal, Name, Parameter, Window
from xscl.language.syntax.patterns import (
    Arithmetic,
    Call,
    Compared,
    Consistency,
    Either,
    Every,
    Minus,
    Not,
    PerCent,
)

if TYPE_CHECKING:
    from xscl.language.syntax.queries import SubQuery

__all__ = [
    "Both",
    "Computed",
    "Declared",
    "Deco",
    "Duration",
    "EventCondition",
    "Events",
    "Expression",
    "Filtered",
    "Fold",
    "Grouping",
    "Named",
    "Next",
    "Scalar",
    "Star",
    "Truth",
    "Windowed",
]

Deco = OneOf["$1", "$2", "$"]


# Values.


@dataclass(frozen=True, slots=True)
class Named:
    """`x`, `$2.x`, `$.'dc creator'`: an attribute, and whose it is."""

    deco: Deco | None
    name: str
    quoted: bool
    at: int


@dataclass(frozen=True, slots=True)
class Duration:
    """`DUR`, `$1.DUR`; in a comparison its other side is a `Window`."""

    deco: Deco | None
    at: int


@dataclass(frozen=True, slots=True)
class Star:
    """`*` as an item of a list alongside others, or in `COUNT(*)`."""

    at: int


Scalar = Union[
    Literal,
    Parameter,
    PerCent,
    Named,
    Duration,
    Window,
    Call,
    "Arithmetic[Scalar]",
    "Minus[Scalar]",
]


# Conditions.


@dataclass(frozen=True, slots=True)
class Truth:
    """`TRUE` or `FALSE`."""

    value: bool
    at: int


EventCondition = Union[
    "Compared[Scalar]",
    Call,
    "Not[EventCondition]",
    Truth,
    "Every[EventCondition]",
    "Either[EventCondition]",
]
"""A test is a `Call`."""


# Expressions.


@dataclass(frozen=True, slots=True)
class Filtered:
    """`FILTER{condition}(operand)`."""

    condition: EventCondition | None
    operand: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Windowed:
    """`WINDOW{60 s}(operand)`; the length None is INF."""

    window: Window
    operand: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Next:
    """`left NEXT{condition} right`; `at` is the operator's."""

    left: Expression
    right: Expression
    condition: EventCondition | None
    at: int


@dataclass(frozen=True, slots=True)
class Computed:
    """An aggregate of FOLD's third part: `$.cnt + 1 AS cnt`."""

    value: Scalar
    alias: Name
    at: int


@dataclass(frozen=True, slots=True)
class Fold:
    """`left FOLD{condition, going on, aggregates} right`; `at` is the operator's."""

    left: Expression
    right: Expression
    condition: EventCondition | None
    continuing: EventCondition | None
    aggregates: tuple[Computed, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Both:
    """`left UNION right`; `at` is the operator's."""

    left: Expression
    right: Expression
    at: int


Expression = Union[Block, "SubQuery", Filtered, Windowed, Next, Fold, Both]


@dataclass(frozen=True, slots=True)
class Grouping:
    """`GROUP BY name, name`."""

    names: tuple[Name, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Declared:
    """`DECLARE STREAM stream (name, name)`."""

    stream: Name
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Events:
    """An event query's source: its expression, and what follows it.

    `declared` are the streams that the text before has declared and that the expression reads
    without a path.
    """

    language: ClassVar[Language] = EVENT_QUERIES

    expression: Expression
    grouping: Grouping | None
    consistency: Consistency | None
    declared: tuple[Declared, ...]
    at: int
