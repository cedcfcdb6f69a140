"""The terms of a query as data, from which its XSCL text and its XQuery are written.

Steps are XPath's; a path in a filter starts at the step's node, one of a block at the document,
one of a predicate or SELECT at a variable.  A chain is a tree of joins that leans to the left, a
group is a join to the right of another.  Nothing here knows how a query is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "Block",
    "Branch",
    "Call",
    "Compared",
    "Condition",
    "Constant",
    "Constructor",
    "Document",
    "Filter",
    "Insert",
    "Item",
    "Join",
    "JoinedBy",
    "Logical",
    "Negation",
    "Number",
    "Operation",
    "Path",
    "Predicate",
    "Query",
    "Select",
    "Side",
    "Source",
    "Step",
    "Text",
    "VariablePath",
    "blocks_of",
    "bound",
    "operators_of",
    "selected_paths",
]

# Paths and filters.


@dataclass(frozen=True)
class Step:
    """A node test (`a`, `p:a`, `*:a`, `*`, `@k`, `.`, `text()`, or a quoted key) with filters."""

    axis: Literal["/", "//"]
    test: str
    variable: str | None = None
    filters: tuple[Filter, ...] = ()


Path = tuple[Step, ...]


@dataclass(frozen=True)
class Text:
    """A string."""

    value: str


@dataclass(frozen=True)
class Number:
    """A number as it is written."""

    written: str


@dataclass(frozen=True)
class Operation:
    """Two operands under `and`, `or`, a comparison, or arithmetic."""

    sign: str
    left: Condition
    right: Condition


@dataclass(frozen=True)
class Negation:
    """A minus sign."""

    operand: Condition


@dataclass(frozen=True)
class Call:
    """A function of the whitelist."""

    name: str
    arguments: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Branch:
    """A path that binds: a conjunct of a filter."""

    path: Path


Condition = Path | Text | Number | Operation | Negation | Call


@dataclass(frozen=True)
class Filter:
    """Conjuncts, joined by `and` where there are several."""

    parts: tuple[Condition | Branch, ...]


def bound(path: Path) -> list[str]:
    """The variables of a path, in order."""
    found = []
    for step in path:
        found += [step.variable] if step.variable else []
        for filter in step.filters:
            for part in filter.parts:
                if isinstance(part, Branch):
                    found += bound(part.path)
    return found


# Predicates.


@dataclass(frozen=True)
class VariablePath:
    """A path from a variable; without steps, the variable."""

    variable: str
    path: Path = ()


Constant = Text | Number


@dataclass(frozen=True)
class Side:
    """A side of a comparison under functions, the innermost first."""

    value: VariablePath | Constant
    functions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Compared:
    """A comparison."""

    left: Side
    sign: str
    right: Side


@dataclass(frozen=True)
class Logical:
    """Predicates joined by AND or OR."""

    sign: Literal["AND", "OR"]
    parts: tuple[Predicate, ...]


Predicate = Compared | Logical

# SELECT.


@dataclass(frozen=True)
class Item:
    """An item of a list."""

    path: VariablePath
    alias: str | None = None


@dataclass(frozen=True)
class Insert:
    """Copies of nodes, or their string value."""

    path: VariablePath
    string: bool = False


@dataclass(frozen=True)
class Constructor:
    """An XML element; strings are literal text as written, but for braces."""

    name: str
    namespaces: tuple[tuple[str, str], ...] = ()
    attributes: tuple[tuple[str, tuple[str | Insert, ...]], ...] = ()
    content: tuple[str | Insert | Constructor, ...] = ()


JSONConstructor = dict[str, object]
"""A JSON object as `json.loads` returns it, where a VariablePath may replace a value."""

Select = Literal["", "*"] | tuple[Item, ...] | Constructor | JSONConstructor


def selected_paths(select: object) -> Iterator[VariablePath]:
    """The paths of a SELECT, in its order."""
    match select:
        case VariablePath():
            yield select
        case Item(path) | Insert(path):
            yield path
        case Constructor():
            for _, parts in select.attributes:
                yield from selected_paths(parts)
            yield from selected_paths(select.content)
        case dict():
            yield from selected_paths(tuple(select.values()))
        case tuple() | list():
            for part in select:
                yield from selected_paths(part)


# Queries and documents.


@dataclass(frozen=True)
class Block:
    """A stream, or a query whose results are read as one, and a main path, empty for whole
    documents."""

    stream: str | Query
    path: Path


@dataclass(frozen=True)
class JoinedBy:
    """The operator of a join; the window in seconds and as written, None for none."""

    kind: Literal["FOLLOWED BY", "JOIN"]
    predicate: Predicate | None = None
    window: float | None = None
    written: str | None = None


@dataclass(frozen=True)
class Join:
    """Two sources under an operator."""

    left: Source
    operator: JoinedBy
    right: Source


Source = Block | Join


def blocks_of(source: Source) -> list[Block]:
    """The blocks of a source, in order of the text, without those of its sub-queries."""
    if isinstance(source, Block):
        return [source]
    return blocks_of(source.left) + blocks_of(source.right)


def operators_of(source: Source) -> list[JoinedBy]:
    """The operators of a source, in order of the text."""
    if isinstance(source, Block):
        return []
    return [*operators_of(source.left), source.operator, *operators_of(source.right)]


@dataclass(frozen=True)
class Query:
    """What is selected from a source, and the stream that the results feed; `style` decides
    between ways to write the same."""

    source: Source
    select: Select = ""
    publish: str | None = None
    style: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Document:
    """A document of a stream: XML text, or a JSON value where `json` is true; the timestamp in
    seconds, and as it is `written` in its envelope."""

    stream: str
    id: str
    timestamp: float
    content: object
    json: bool = False
    written: object = None

    def envelope(self) -> dict[str, object]:
        """As the engine takes it."""
        form = "json" if self.json else "xml"
        return {
            "stream": self.stream,
            "id": self.id,
            "timestamp": self.timestamp if self.written is None else self.written,
            form: self.content,
        }
