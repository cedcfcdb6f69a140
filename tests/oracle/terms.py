"""The terms of a query as data, from which its XSCL text and its XQuery are written.

Steps are XPath's; a path in a filter starts at the step's node, one of a block at the document,
one of a predicate or SELECT at a variable.  Nothing here knows how a query is evaluated.
"""

from __future__ import annotations

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
    "Step",
    "Text",
    "VariablePath",
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


@dataclass(frozen=True)
class Block:
    """A stream and a main path, empty for whole documents."""

    stream: str
    path: Path


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
"""A JSON object as `json.loads` gives it, where a VariablePath may stand for a value."""

Select = Literal["", "*"] | tuple[Item, ...] | Constructor | JSONConstructor

# Queries and documents.


@dataclass(frozen=True)
class JoinedBy:
    """The operator of a join; the window in seconds and as written, None for none."""

    kind: Literal["FOLLOWED BY", "JOIN"]
    predicate: Predicate | None = None
    window: float | None = None
    written: str | None = None


@dataclass(frozen=True)
class Query:
    """One block, or two under an operator; `style` decides between ways to write the same."""

    blocks: tuple[Block, ...]
    operator: JoinedBy | None = None
    select: Select = ""
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
