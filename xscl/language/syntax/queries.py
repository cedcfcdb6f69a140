"""The syntax tree of queries: joins and their predicates, SELECT and its constructors
(docs/semantics.md#joins)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar
from typing import Literal as OneOf

from xscl.language.syntax.eql import (
    Alternatives,
    Composition,
    EventOf,
    Excepted,
    Quantified,
    Repeated,
    Sequenced,
    Structure,
)
from xscl.language.syntax.events import (
    Both,
    Events,
    Expression,
    Filtered,
    Fold,
    Next,
    Scalar,
    Star,
    Windowed,
)
from xscl.language.syntax.languages import AUTOMATA, JOINS, Language
from xscl.language.syntax.paths import Block, Literal, Name, Parameter, Step, VariablePath, Window
from xscl.language.syntax.patterns import EventPattern, Value

__all__ = [
    "Comparison",
    "Conjunction",
    "Described",
    "Disjunction",
    "Element",
    "Insert",
    "Item",
    "JSONArray",
    "JSONConstant",
    "JSONObject",
    "JSONValue",
    "Join",
    "Predicate",
    "Query",
    "Select",
    "Selected",
    "Side",
    "Source",
    "SubQuery",
    "Wrapped",
]


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A side in a function: `canonical`, `lower-case`, `normalize-space` or `number`."""

    function: str
    operand: Side
    at: int


Side = VariablePath | Literal | Parameter | Wrapped


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a join predicate: `= != < <= > >=`, or a measure of likeness, which is to
    be at least `least`."""

    operator: str
    left: Side
    right: Side
    at: int
    least: Literal | Parameter | None = None


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Two or more predicates joined by AND; none of them is a conjunction itself."""

    parts: tuple[Predicate, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Disjunction:
    """Two or more predicates joined by OR; none of them is a disjunction itself."""

    parts: tuple[Predicate, ...]
    at: int


Predicate = Comparison | Conjunction | Disjunction


@dataclass(frozen=True, slots=True)
class SubQuery:
    """`(query) path`: the result documents of a query as a stream of its own, and the path that
    selects from each of them.

    The inner query has the name of the outer one; its variables are its own.
    """

    language: ClassVar[Language] = JOINS

    query: Query
    steps: tuple[Step, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Join:
    """`left FOLLOWED BY {predicate, window} right`, or `JOIN`; `{}` has no predicate.

    A chain associates to the left; a group `(source)` is the source in it.
    """

    language: ClassVar[Language] = JOINS

    operator: OneOf["FOLLOWED BY", "JOIN"]
    left: Source
    right: Source
    predicate: Predicate | None
    window: Window
    at: int


@dataclass(frozen=True, slots=True)
class Described:
    """`AUTOMATON { … }`: the `Automaton` that it describes, None of a bad one, and the blocks of
    its event types, in order; with SELECT, the fields of a result and what they are called
    there."""

    language: ClassVar[Language] = AUTOMATA

    automaton: Any
    blocks: tuple[Block, ...]
    at: int
    fields: tuple[tuple[str, str], ...] | None = None


Source = Block | SubQuery | Join | EventPattern | Events | Described | Composition


@dataclass(frozen=True, slots=True)
class Selected:
    """What SELECT names of a pattern's match or of an event, in a list or a constructor."""

    value: Value | Scalar | Star | Quantified
    at: int


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a SELECT list: `x1`, `x4/title`, `x3 AS headline`.

    The alias is a Clark name; `written` is how it is in the text.  Of a pattern a value is
    selected, here and in constructors.
    """

    path: VariablePath | Selected
    alias: Name | None
    written: str | None = None


@dataclass(frozen=True, slots=True)
class Insert:
    """`{x3}`, `{x3/title}` or (`string`) `{string(x3)}` in an XML constructor."""

    path: VariablePath | Selected
    string: bool


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an XML constructor.

    `tag` and attribute names are Clark names; `namespaces` are the declarations written on
    it, as (prefix or None, uri).  An attribute's value and the content are parts in order;
    a comment or processing instruction is its markup as (`"comment"`, text) or
    (`"pi"`, target, text).  White space between tags is gone already.
    """

    tag: str
    namespaces: tuple[tuple[str | None, str], ...]
    attributes: tuple[tuple[str, tuple[str | Insert, ...]], ...]
    content: tuple[str | Insert | Element | tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class JSONConstant:
    """A string, a number (an integer exactly, as int), `true`, `false` or `null`."""

    value: str | int | float | bool | None
    at: int


@dataclass(frozen=True, slots=True)
class JSONArray:
    """`[x2]`, `[x2/a, "v", {}]` in a JSON constructor."""

    items: tuple[JSONValue, ...]
    at: int


@dataclass(frozen=True, slots=True)
class JSONObject:
    """A JSON constructor, or an object in one: its members in the order written."""

    members: tuple[tuple[str, JSONValue], ...]
    at: int


JSONValue = JSONObject | JSONArray | JSONConstant | Parameter | VariablePath | Selected

Select = None | tuple[Item, ...] | Element | JSONObject
"""None is `*`, or no SELECT at all."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query: its name, what it selects, what it reads; `text` is all that it was read from."""

    name: str
    select: Select
    source: Source
    text: str
    at: int
    named_at: int | None
    """Where `-- name:` gives the name; None where the name is `qN`."""
    publish: Name | None = None
    """The stream that its results feed."""

    @property
    def language(self) -> Language:
        """The language that it is written in, without its sub-queries."""
        return self.source.language

    def renamed(self, name: str) -> Query:
        """The same query under another name, with its sub-queries."""
        return replace(self, name=name, source=_renamed(self.source, name))


def _renamed(source: Source, name: str) -> Source:
    match source:
        case Join(left=left, right=right):
            left, right = _renamed(left, name), _renamed(right, name)
            return replace(source, left=left, right=right)
        case SubQuery():
            return replace(source, query=source.query.renamed(name))
        case Events():
            return replace(source, expression=_named(source.expression, name))
        case Composition():
            return replace(source, pattern=_of_structure(source.pattern, name))
        case Block() | EventPattern() | Described():
            return source


def _of_structure(structure: Structure, name: str) -> Structure:
    match structure:
        case EventOf(block):
            if not isinstance(block, SubQuery):
                return structure
            return replace(structure, block=replace(block, query=block.query.renamed(name)))
        case Sequenced(parts) | Alternatives(parts):
            return replace(structure, parts=tuple([_of_structure(one, name) for one in parts]))
        case Repeated(operand):
            return replace(structure, operand=_of_structure(operand, name))
        case Excepted(left, right):
            left, right = _of_structure(left, name), _of_structure(right, name)
            return replace(structure, left=left, right=right)


def _named(expression: Expression, name: str) -> Expression:
    match expression:
        case SubQuery():
            return replace(expression, query=expression.query.renamed(name))
        case Filtered() | Windowed():
            return replace(expression, operand=_named(expression.operand, name))
        case Next() | Fold() | Both():
            left, right = _named(expression.left, name), _named(expression.right, name)
            return replace(expression, left=left, right=right)
        case Block():
            return expression
