"""Terms and predicates of event queries, over the attributes of one or two events.

A *side* is the event that a term reads: 0 the left or only input (`$1`), 1 the right one (`$2`),
2 the last iteration of an Iterate (`$`).  Constants stand apart, as places in a tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

__all__ = [
    "Age",
    "And",
    "Call",
    "Column",
    "Compare",
    "Constant",
    "Negative",
    "Not",
    "Operation",
    "Or",
    "Predicate",
    "Scalar",
    "Test",
    "Truth",
    "rebuilt",
]

Side = Literal[0, 1, 2]


@dataclass(frozen=True, slots=True)
class Constant:
    """The constant at a place of the query's tuple: a float where `number` (microseconds, an int,
    beside an `Age`), else a str."""

    place: int
    number: bool


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute of the event on a side, by the name that the input's schema has for it."""

    side: Side
    name: str


@dataclass(frozen=True, slots=True)
class Age:
    """DUR in microseconds: of the event on a side, or None for the composite (of a Select's
    input: side 0)."""

    side: Side | None


@dataclass(frozen=True, slots=True)
class Operation:
    """`+ - * /` over xs:double; what is no finite number is missing where it is kept."""

    operator: Literal["+", "-", "*", "/"]
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Negative:
    """`- operand`."""

    operand: Scalar


@dataclass(frozen=True, slots=True)
class Call:
    """A function: `string-length lower-case upper-case normalize-space concat string number abs
    min max`; within normal forms `kept`, a number that is missing where it is not finite."""

    function: str
    arguments: tuple[Scalar, ...]


Scalar = Constant | Column | Age | Operation | Negative | Call


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison, false where a side is missing.  `mode` is decided by the query's text: of
    numbers; of strings (`=`, `!=`); or an order of `either`: numbers where both cast, else strings
    by codepoint."""

    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    left: Scalar
    right: Scalar
    mode: Literal["number", "text", "either"]


@dataclass(frozen=True, slots=True)
class Test:
    """`contains starts-with ends-with matches`, false where a side is missing."""

    function: Literal["contains", "starts-with", "ends-with", "matches"]
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class Not:
    """Two-valued: true where the operand is false for a missing attribute."""

    operand: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """Two predicates or more."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Two predicates or more."""

    parts: tuple[Predicate, ...]


Predicate = Compare | Test | Truth | Not | And | Or


def rebuilt(term: Any, instead: Callable[[Any], Any]) -> Any:
    """A term, predicate or condition, in which parts are replaced by what stands `instead` of them;
    None where a part stays, and those in it are looked at."""
    found = instead(term)
    if found is not None:
        return found
    if isinstance(term, tuple):
        return tuple(rebuilt(one, instead) for one in term)
    if is_dataclass(term):
        return type(term)(*(rebuilt(getattr(term, one.name), instead) for one in fields(term)))  # type: ignore[misc]
    return term
