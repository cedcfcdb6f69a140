"""Evaluates queries by trying everything: all pairs of documents, all assignments of nodes.

The queries are data, not text, so that no parser is shared with the engine; paths are XPath 1.0
and evaluated by libxml2.  A block's variables are the `for` clauses of XQuery, in order:

    S//book->x1[./author->x2]   is   Block("S", [Variable("x1", None, "//book"),
                                                 Variable("x2", "x1", "./author")], output="x1")

A node is (number of its element in document order from 0, name of the attribute or None).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from lxml import etree

Node = tuple[int, str | None]
Assignment = dict[str, Any]  # variable → element, or attribute as lxml's string


@dataclass(frozen=True)
class Variable:
    """Ranges over the nodes that `path` selects from the parent's node, or from the document."""

    name: str
    parent: str | None
    path: str


@dataclass(frozen=True)
class Block:
    """A block over one stream; `output` names the variable of the last step of its main path."""

    stream: str
    variables: Sequence[Variable]
    output: str


@dataclass(frozen=True)
class Term:
    """A side of a comparison that is not just a variable: the nodes of a path (XPath) from one,
    or a constant without a variable, under functions (innermost first)."""

    variable: str | None
    path: str = "."
    functions: tuple[str, ...] = ()
    constant: str = ""


Side = str | Term
Conjuncts = Sequence[tuple[Side, str, Side]]


@dataclass(frozen=True)
class Query:
    """One block, or two under an operator; `joins` compare variables: (left, operator, right).

    All of the `joins` must hold, or all of one of the `alternatives`.
    """

    name: str
    blocks: Sequence[Block]
    kind: Literal["FOLLOWED BY", "JOIN"] | None = None
    joins: Conjuncts = ()
    window: float | None = None
    selected: Sequence[str] = ()
    namespaces: Mapping[str, str] = field(default_factory=dict)
    alternatives: Sequence[Conjuncts] = ()

    @property
    def compared(self) -> set[str]:
        """The variables that any comparison is about."""
        sides = {
            side
            for joins in (self.joins, *self.alternatives)
            for left, _, right in joins
            for side in (left, right)
        }
        names = {side if isinstance(side, str) else side.variable for side in sides}
        return {name for name in names if name is not None}


@dataclass(frozen=True)
class Document:
    """A document of a stream; the time is in seconds."""

    stream: str
    id: str
    timestamp: float
    xml: str


class Row(NamedTuple):
    """One match: a document and an output node for each block, and the selected variables."""

    query: str
    documents: tuple[str, ...]
    nodes: tuple[Node, ...]
    bindings: tuple[tuple[str, Node], ...]


def evaluate(queries: Iterable[Query], documents: Sequence[Document]) -> list[Row]:
    """Every match once."""
    trees = [etree.ElementTree(etree.fromstring(document.xml)) for document in documents]
    rows: list[Row] = []
    for query in queries:
        rows += set(_matches(query, documents, trees))
    return rows


def _matches(query: Query, documents: Sequence[Document], trees: Sequence[Any]) -> Iterator[Row]:
    assignments = [
        [
            list(_distinct(query, block, tree)) if document.stream == block.stream else []
            for document, tree in zip(documents, trees, strict=True)
        ]
        for block in query.blocks
    ]
    for places in _places(query, documents):
        for whole in _combinations([assignments[b][place] for b, place in enumerate(places)]):
            if any(
                all(_holds(whole, *join) for join in joins)
                for joins in (query.joins, *query.alternatives)
            ):
                yield Row(
                    query.name,
                    tuple(documents[place].id for place in places),
                    tuple(node(whole[block.output]) for block in query.blocks),
                    tuple((name, node(whole[name])) for name in sorted(set(query.selected))),
                )


def _places(query: Query, documents: Sequence[Document]) -> Iterator[tuple[int, ...]]:
    """The documents, or ordered pairs of different documents, that the operator allows."""
    if len(query.blocks) == 1:
        yield from ((place,) for place in range(len(documents)))
        return
    window = float("inf") if query.window is None else query.window
    for left, a in enumerate(documents):
        for right, b in enumerate(documents):
            later = b.timestamp - a.timestamp
            in_time = 0 < later <= window if query.kind == "FOLLOWED BY" else abs(later) <= window
            if left != right and in_time:
                yield left, right


def _distinct(query: Query, block: Block, tree: Any) -> Iterator[Assignment]:
    """The assignments of one block to one document, told apart by the variables that matter."""
    matter = {block.output, *query.selected, *query.compared}
    seen = set()
    for whole in _assignments(query, block.variables, tree, {}):
        part = {name: value for name, value in whole.items() if name in matter}
        key = tuple((name, node(value)) for name, value in sorted(part.items()))
        if key not in seen:
            seen.add(key)
            yield part


def _assignments(
    query: Query, variables: Sequence[Variable], tree: Any, bound: Assignment
) -> Iterator[Assignment]:
    if not variables:
        yield bound
        return
    first, *others = variables
    context = tree if first.parent is None else bound[first.parent]
    for found in context.xpath(first.path, namespaces=dict(query.namespaces)):
        yield from _assignments(query, others, tree, {**bound, first.name: found})


def _combinations(sides: Sequence[Sequence[Assignment]]) -> Iterator[Assignment]:
    if len(sides) == 1:
        yield from sides[0]
    else:
        for left in sides[0]:
            for right in sides[1]:
                yield {**left, **right}


def node(found: Any) -> Node:
    """The identity of a node that lxml's XPath returned."""
    attribute = getattr(found, "attrname", None)
    return _number(found if attribute is None else found.getparent()), attribute


def _number(element: Any) -> int:
    """How many elements stand before this one in its document."""
    elements = element.getroottree().getroot().iter(etree.Element)
    return next(number for number, other in enumerate(elements) if other is element)


def string_value(found: Any) -> str:
    """XPath's string value."""
    return str(found) if isinstance(found, str) else str(found.xpath("string()"))


DOUBLE = re.compile(
    r"[ \t\r\n]*([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN)[ \t\r\n]*"
)
ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _holds(whole: Assignment, left: Side, op: str, right: Side) -> bool:
    """A path ranges over its nodes for each occurrence anew: some pair of them must compare."""
    return any(
        op == "!=" if None in (a, b) else compare_strings(a, op, b)
        for a in _values(whole, left)
        for b in _values(whole, right)
    )


def _values(whole: Assignment, side: Side) -> list[Any]:
    """The string values of a side's nodes under its functions; None is NaN."""
    if isinstance(side, str):
        return [string_value(whole[side])]
    values: list[Any] = [side.constant]
    if side.variable is not None:
        found = whole[side.variable]
        nodes = [found]
        if side.path != ".":
            # Nothing is below an attribute.
            nodes = [] if isinstance(found, str) else found.xpath(side.path)
        values = [string_value(one) for one in nodes]
    for function in side.functions:
        values = [None if value is None else _under(function, value) for value in values]
    return values


def _under(function: str, value: str) -> str | None:
    """A value under a function; of numbers only those that JavaScript prints without exponent."""
    if function == "lower-case":
        return value.lower()
    if function == "normalize-space":
        return " ".join(re.split("[ \t\r\n]+", value.strip(" \t\r\n")))
    if not DOUBLE.fullmatch(value) or "N" in value:
        return None
    number = f"{Decimal(repr(float(value))):f}"
    return number.removesuffix(".0")


def compare(left: Any, op: str, right: Any) -> bool:
    """A comparison of a predicate, by the nodes' string values."""
    return compare_strings(string_value(left), op, string_value(right))


def compare_strings(a: str, op: str, b: str) -> bool:
    """`=` and `!=` as strings; an order among numbers where both are, else by codepoint.

    >>> compare_strings("10", "<", "9"), compare_strings("10", "<", "9a")
    (False, True)
    """
    if op == "=":
        return a == b
    if op == "!=":
        return a != b
    if DOUBLE.fullmatch(a) and DOUBLE.fullmatch(b):
        return ORDERS[op](float(a), float(b))  # Python reads INF and NaN, and trims
    return ORDERS[op](a, b)
