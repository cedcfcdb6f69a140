"""The syntax tree of what every statement is made of: names, constants, paths with their filters,
blocks and windows (docs/semantics.md#blocks, #filters).

A *node test* is a string: `name`, `{uri}name`, `*`, `{*}name` (any namespace), each of
these after `@` for an attribute, `.` for the node itself, `text()` for its text nodes.
A quoted name that would read as one of these is written `{}name`: `{}@type`, `{}*`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol
from typing import Literal as OneOf

from xscl.language.syntax.languages import JOINS, Language

__all__ = [
    "Binary",
    "Block",
    "Condition",
    "Function",
    "Literal",
    "Name",
    "Negative",
    "Nested",
    "Parameter",
    "Path",
    "Step",
    "VariablePath",
    "Window",
]


@dataclass(frozen=True, slots=True)
class Name:
    """One occurrence of a name: a variable (without its `$`), a stream, an alias."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Literal:
    """A string or a number in a filter or a predicate; a number is finite."""

    value: str | float
    at: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """`:name` in place of a constant; `parameters.bind` puts a literal in its stead
    (docs/language-reference.md#parameters).

    One that is left open stands for a string, or for a number where `number` says so.
    """

    name: str
    at: int
    number: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path.

    `axis` is how the step is reached from the one before it: `/` child (or attribute, or
    self, as `test` says), `//` descendant.  The first step of a relative path has `/`.
    `variable` is what `-> v` or `AS v` binds; `filters` are in the order written.
    """

    axis: OneOf["/", "//"]
    test: str
    variable: Name | None
    filters: tuple[Condition, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Path:
    """A relative path in a filter: `./author->x2`, `.//a/b`, `meta/@lang`, `.`.

    A `.` that was written is a step of its own: `./a` has two steps, `a` has one.
    """

    steps: tuple[Step, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Function:
    """A call of a function in a filter; only whitelisted names get here."""

    name: str
    arguments: tuple[Condition, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right` in a filter: `or and = != < <= > >= + - * div mod`.

    A chain of `or` or of `and` is balanced (`(a or b) or (c or d)`), so that no number of
    alternatives makes a deep tree; all other operators associate to the left.
    """

    operator: str
    left: Condition
    right: Condition
    at: int


@dataclass(frozen=True, slots=True)
class Negative:
    """`- operand` in a filter."""

    operand: Condition
    at: int


Condition = Path | Literal | Parameter | Function | Binary | Negative


@dataclass(frozen=True, slots=True)
class Block:
    """A query block: a stream and the path that selects from each of its documents."""

    language: ClassVar[Language] = JOINS

    stream: Name
    steps: tuple[Step, ...]
    at: int


class Nested(Protocol):
    """A query in place of a block."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The path to the nodes of its results."""

    @property
    def at(self) -> int:
        """Where it begins."""


@dataclass(frozen=True, slots=True)
class VariablePath:
    """A variable, or a path from it: `x1`, `x1/author`, `x1//@href`."""

    variable: Name
    steps: tuple[Step, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Window:
    """A time constraint: a number of microseconds, or None for `INF` and for none given.

    Where the number is a parameter, `parameter` is it and `unit` the unit as written (a bare
    number is seconds); binding it gives the length.
    """

    length: int | None
    at: int
    parameter: Parameter | None = None
    unit: str = "s"
