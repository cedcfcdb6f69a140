"""The syntax tree of XSCL: what the parser makes of a query's text.

Immutable nodes.  `at` is always the offset of the node's first character in the text that
was parsed; `QueryError` turns it into line and column.  Names are resolved (prefixes are
replaced by their namespaces), nothing else is: paths in predicates, bindings and filters
stand where they were written (section 6.2 of the thesis; language.md, sections 1 to 5).

A *node test* is a string: `name`, `{uri}name`, `*`, `{*}name` (any namespace), each of
these after `@` for an attribute, `.` for the node itself, `text()` for its text nodes.
A quoted name that would read as one of these is written `{}name`: `{}@type`, `{}*`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal as OneOf

__all__ = [
    "Binary",
    "Block",
    "Comparison",
    "Condition",
    "Conjunction",
    "Disjunction",
    "Element",
    "Function",
    "Insert",
    "Item",
    "JSONArray",
    "JSONConstant",
    "JSONObject",
    "JSONValue",
    "Join",
    "Literal",
    "Name",
    "Negative",
    "Parameter",
    "Path",
    "Predicate",
    "Query",
    "Select",
    "Side",
    "Source",
    "Step",
    "SubQuery",
    "VariablePath",
    "Window",
    "Wrapped",
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
    """`:name` in place of a constant; `parameters.bind` puts a literal in its stead (section 9).

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
    `variable` is what `-> v` or `AS v` binds; `filters` stand in the order written.
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

    stream: Name
    steps: tuple[Step, ...]
    at: int


@dataclass(frozen=True, slots=True)
class VariablePath:
    """A variable, or a path from it: `x1`, `x1/author`, `x1//@href`."""

    variable: Name
    steps: tuple[Step, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A side in a function: `lower-case`, `normalize-space` or `number`."""

    function: str
    operand: Side
    at: int


Side = VariablePath | Literal | Parameter | Wrapped


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a join predicate: `= != < <= > >=`."""

    operator: str
    left: Side
    right: Side
    at: int


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
class Window:
    """A time constraint: a number of microseconds, or None for `INF` and for none given.

    Where the number is a parameter, `parameter` is it and `unit` the unit as written (a bare
    number is seconds); binding it gives the length.
    """

    length: int | None
    at: int
    parameter: Parameter | None = None
    unit: str = "s"


@dataclass(frozen=True, slots=True)
class SubQuery:
    """`(query) path`: the result documents of a query as a stream of its own, and the path that
    selects from each of them.

    The inner query bears the name of the outer one; its variables are its own.
    """

    query: Query
    steps: tuple[Step, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Join:
    """`left FOLLOWED BY {predicate, window} right`, or `JOIN`; `{}` has no predicate.

    A chain associates to the left; a group `(source)` is the source in it.
    """

    operator: OneOf["FOLLOWED BY", "JOIN"]
    left: Source
    right: Source
    predicate: Predicate | None
    window: Window
    at: int


Source = Block | SubQuery | Join


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a SELECT list: `x1`, `x4/title`, `x3 AS headline`.

    The alias is a Clark name; `written` is how it stands in the text.
    """

    path: VariablePath
    alias: Name | None
    written: str | None = None


@dataclass(frozen=True, slots=True)
class Insert:
    """`{x3}`, `{x3/title}` or (`string`) `{string(x3)}` in an XML constructor."""

    path: VariablePath
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


JSONValue = JSONObject | JSONArray | JSONConstant | Parameter | VariablePath

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
        case Block():
            return source
