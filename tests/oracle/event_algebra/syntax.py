"""Event queries as data: expressions, conditions, items, as they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "And",
    "Binding",
    "Block",
    "Compare",
    "Condition",
    "Constructor",
    "Declared",
    "Dur",
    "Expression",
    "Filter",
    "Fold",
    "Function",
    "Item",
    "Length",
    "Next",
    "Not",
    "Number",
    "Operation",
    "Or",
    "Query",
    "Ref",
    "Scalar",
    "Star",
    "String",
    "Test",
    "Truth",
    "Union",
    "Window",
]

Deco = Literal["$1", "$2", "$"]


# Values


@dataclass(frozen=True)
class Number:
    value: float
    per_cent: bool = False


@dataclass(frozen=True)
class String:
    value: str


@dataclass(frozen=True)
class Length:
    """A duration in microseconds; `unit` is how it is written."""

    value: int
    unit: str = "s"


@dataclass(frozen=True)
class Ref:
    deco: Deco | None
    name: str


@dataclass(frozen=True)
class Dur:
    deco: Deco | None = None


@dataclass(frozen=True)
class Operation:
    """With `left` None the minus before one operand."""

    sign: str
    left: Scalar | None
    right: Scalar


@dataclass(frozen=True)
class Star:
    pass


@dataclass(frozen=True)
class Function:
    """A function or an aggregate, in lower case."""

    name: str
    arguments: tuple[Scalar, ...]


Scalar = Number | String | Length | Ref | Dur | Operation | Function | Star


# Conditions


@dataclass(frozen=True)
class Compare:
    sign: Literal["=", "!=", "<", "<=", ">", ">="]
    left: Scalar
    right: Scalar


@dataclass(frozen=True)
class Test:
    __test__ = False  # pytest's word

    name: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True)
class Truth:
    value: bool


@dataclass(frozen=True)
class Not:
    operand: Condition


@dataclass(frozen=True)
class And:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Condition, ...]


Condition = Compare | Test | Truth | Not | And | Or


# Expressions


@dataclass(frozen=True)
class Binding:
    """`[./a/b->name]`: a variable for each node of the path."""

    path: str
    name: str


@dataclass(frozen=True)
class Block:
    """A stream; with a path `//item` the nodes of that name, and their bindings."""

    stream: str
    path: str = ""
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True)
class Filter:
    condition: Condition | None
    operand: Expression


@dataclass(frozen=True)
class Window:
    """`length` None is INF."""

    length: Length | None
    operand: Expression


@dataclass(frozen=True)
class Next:
    condition: Condition | None
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Fold:
    condition: Condition | None
    continuing: Condition | None
    aggregates: tuple[tuple[Scalar, str], ...]
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Union:
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Item:
    value: Scalar
    alias: str | None = None


@dataclass(frozen=True)
class Constructor:
    """`{"member": x}`, or with `tag` an element of it with children: `<hit><a>{x}</a></hit>`."""

    members: tuple[tuple[str, str], ...]
    tag: str | None = None


@dataclass(frozen=True)
class Query:
    """`items` None is no SELECT, and `(Item(Star()),)` is `SELECT *`."""

    name: str
    expression: Expression
    items: tuple[Item, ...] | Constructor | None = None
    groups: tuple[str, ...] = ()
    publish: str | None = None
    weak: bool = False


Expression = Block | Filter | Window | Next | Fold | Union | Query


@dataclass(frozen=True)
class Declared:
    """A text: its declarations, and its queries."""

    streams: dict[str, tuple[str, ...]] = field(default_factory=dict)
    queries: tuple[Query, ...] = ()
