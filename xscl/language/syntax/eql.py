"""The syntax tree of EQL, NEXT CEP's event query language: patterns of events, each the next one,
and qualifications (docs/semantics.md#reading-eql).

Everything is as it was written; what a name reads, and whether it may, is checked later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Union
from typing import Literal as OneOf

from xscl.language.syntax.languages import EQL, Language
from xscl.language.syntax.paths import Block, Name, Nested, Window
from xscl.language.syntax.patterns import Compared, Consistency, Either, Every, Not, Read, Value

__all__ = [
    "Alternatives",
    "Composition",
    "Contained",
    "EventOf",
    "Excepted",
    "Occurring",
    "Qualification",
    "Qualified",
    "Quantified",
    "Repeated",
    "Sequenced",
    "Structure",
]


# Patterns.


@dataclass(frozen=True, slots=True)
class EventOf:
    """`t A`, `t//item AS A`: a block, and the variable of its events, that of a bare stream its
    name where none is written."""

    block: Block | Nested
    variable: Name | None
    at: int


@dataclass(frozen=True, slots=True)
class Sequenced:
    """`(A; B; C)`: two parts or more, each the next one after those before it."""

    parts: tuple[Structure, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Alternatives:
    """`A | B | C`."""

    parts: tuple[Structure, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """`A+`."""

    operand: Structure
    at: int


@dataclass(frozen=True, slots=True)
class Excepted:
    r"""`left \\ right`; `at` is that of the left one."""

    left: Structure
    right: Structure
    at: int


Structure = EventOf | Sequenced | Alternatives | Repeated | Excepted


# Qualifications.


@dataclass(frozen=True, slots=True)
class Quantified:
    """`PREV(v.x)`, `ALL(v.x)`."""

    quantifier: OneOf["PREV", "ALL"]
    read: Read
    at: int


@dataclass(frozen=True, slots=True)
class Contained:
    """`v.x CONTAINS 'text'`; anything else on either side is refused later."""

    left: Value | Quantified
    right: Value | Quantified
    at: int


@dataclass(frozen=True, slots=True)
class Occurring:
    """`(a, b) OCCURS WITHIN 12 hours`."""

    one: Name
    other: Name
    window: Window
    at: int


Qualified = Union[
    "Compared[Value]",
    Contained,
    Occurring,
    "Not[Qualified]",
    "Every[Qualified]",
    "Either[Qualified]",
]
"""A condition; `Quantified` is a value in it."""


@dataclass(frozen=True, slots=True)
class Qualification:
    """One of WHERE, between commas; `filters` where it stands in FILTER."""

    condition: Qualified
    filters: bool
    at: int


@dataclass(frozen=True, slots=True)
class Composition:
    """`pattern WHERE qualification, qualification`."""

    language: ClassVar[Language] = EQL

    pattern: Structure
    qualifications: tuple[Qualification, ...]
    consistency: Consistency | None
    at: int
