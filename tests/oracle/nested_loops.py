"""Evaluates queries by trying everything: all tuples of documents, all assignments of nodes.

The queries are data (patterns.py), not text, so that no parser is shared with the engine; paths are
XPath 1.0 and evaluated by libxml2.  Of a join's operands every pair of partial matches is tried.  A
predicate is tested as soon as all that it names is bound: a comparison of a group with a block
outside it is tested at that block.

A node is (number of its element in document order from 0, name of the attribute or None).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from lxml import etree

from tests.oracle.composed import composed
from tests.oracle.patterns import (
    Block,
    Document,
    Join,
    Query,
    Side,
    Source,
    Variable,
    blocks_of,
    joins_of,
)

__all__ = [
    "Evaluation",
    "Match",
    "Partial",
    "Row",
    "compare_strings",
]

Node = tuple[int, str | None]


class Row(NamedTuple):
    """One match: a document and an output node for each block, and the selected variables."""

    query: str
    documents: tuple[object, ...]
    nodes: tuple[Node, ...]
    bindings: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """A node, its string value, what lxml's XPath returned (an element or a string), and the
    prefixes of its query."""

    node: Node
    text: str
    raw: Any
    namespaces: Mapping[str, str]


Assignment = dict[str, Found]


@dataclass(frozen=True, eq=False, slots=True)
class Partial:
    """A match of a part of a source: the places of its documents, the earliest and the latest of
    their times, and its assignment."""

    places: tuple[int, ...]
    earliest: float
    latest: float
    bound: Assignment


@dataclass(frozen=True, eq=False, slots=True)
class Match:
    """A row, its time, and its result as XML text."""

    row: Row
    time: float
    result: Callable[[], str]


class Evaluation:
    """A query without sub-queries, over documents; patterns are evaluated once for each text."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.blocks = blocks_of(query.source)
        compared = set().union(*(join.compared for join in joins_of(query.source)))
        self._matter = compared | query.selected
        self._bindings: dict[tuple[Block, str], list[Assignment]] = {}

    def matches(
        self, documents: Sequence[Document], fresh: Collection[int] | None = None
    ) -> list[Match]:
        """Every match once; only those with a document at one of the `fresh` places."""
        found: dict[Row, Match] = {}
        for partial in self.partials(self.query.source, documents):
            if fresh is None or any(place in fresh for place in partial.places):
                match = self._match(partial, documents)
                found.setdefault(match.row, match)
        return list(found.values())

    def partials(self, source: Source, documents: Sequence[Document]) -> Iterator[Partial]:
        """The matches of a part of the source."""
        if isinstance(source, Block):
            for place, document in enumerate(documents):
                if document.stream == source.stream:
                    for bound in self.bindings(source, document):
                        yield Partial((place,), document.timestamp, document.timestamp, bound)
            return
        due = self._due(source)
        rights = list(self.partials(source.right, documents))
        for left in self.partials(source.left, documents):
            for right in rights:
                if not _in_time(source, left, right) or set(left.places) & set(right.places):
                    continue
                bound = left.bound | right.bound
                if all(_satisfied(join, bound) for join in due):
                    yield Partial(
                        left.places + right.places,
                        min(left.earliest, right.earliest),
                        max(left.latest, right.latest),
                        bound,
                    )

    def undecided(self, source: Source) -> bool:
        """Whether a predicate within names a variable of a block outside."""
        bound = self._variables(source)
        return any(not join.compared <= bound for join in joins_of(source))

    def bindings(self, block: Block, document: Document) -> list[Assignment]:
        """The assignments of one block to one document, distinguished by the variables that
        matter."""
        key = (block, document.xml)
        if key not in self._bindings:
            self._bindings[key] = list(self._distinct(block, document.xml))
        return self._bindings[key]

    def _variables(self, source: Source) -> set[str]:
        return {variable.name for block in blocks_of(source) for variable in block.variables}

    def _due(self, join: Join) -> list[Join]:
        """The joins whose predicates can be tested here, and not before."""
        bound = self._variables(join)
        sides = [self._variables(join.left), self._variables(join.right)]
        within = [(one, sides[0]) for one in joins_of(join.left)]
        within += [(one, sides[1]) for one in joins_of(join.right)]
        late = [one for one, side in within if one.compared <= bound and not one.compared <= side]
        return [*late, *([join] if join.compared <= bound else [])]

    def _match(self, partial: Partial, documents: Sequence[Document]) -> Match:
        query = self.query
        outputs = [partial.bound[block.output] for block in self.blocks]
        row = Row(
            query.name,
            tuple(documents[place].id for place in partial.places),
            tuple(found.node for found in outputs),
            tuple((name, partial.bound[name].node) for name in sorted(query.selected)),
        )

        def result() -> str:
            raw = {name: found.raw for name, found in partial.bound.items()}
            nodes = [found.raw for found in outputs]
            return composed(query.select, nodes, raw, query.namespaces)

        return Match(row, partial.latest, result)

    def _distinct(self, block: Block, xml: str) -> Iterator[Assignment]:
        matter = self._matter | {block.output}
        seen = set()
        for whole in self._assignments(block.variables, _tree(xml), {}):
            part = {name: found for name, found in whole.items() if name in matter}
            key = tuple((name, found.node) for name, found in sorted(part.items()))
            if key not in seen:
                seen.add(key)
                yield part

    def _assignments(
        self, variables: Sequence[Variable], tree: Any, bound: Assignment
    ) -> Iterator[Assignment]:
        if not variables:
            yield bound
            return
        first, *others = variables
        context = tree if first.parent is None else bound[first.parent].raw
        namespaces = self.query.namespaces
        for raw in context.xpath(first.path, namespaces=namespaces):
            found = Found(_node(raw), _text(raw), raw, namespaces)
            yield from self._assignments(others, tree, {**bound, first.name: found})


# Nodes.


@lru_cache(1024)
def _tree(xml: str) -> Any:
    return etree.ElementTree(etree.fromstring(xml))


def _node(raw: Any) -> Node:
    """The identity of a node that lxml's XPath returned."""
    attribute = getattr(raw, "attrname", None)
    return _number(raw if attribute is None else raw.getparent()), attribute


def _number(element: Any) -> int:
    """The number of elements before this one in its document."""
    elements = element.getroottree().getroot().iter(etree.Element)
    return next(number for number, other in enumerate(elements) if other is element)


def _text(raw: Any) -> str:
    """XPath's string value."""
    return str(raw) if isinstance(raw, str) else str(raw.xpath("string()"))


# Operators and their predicates.


def _in_time(join: Join, left: Partial, right: Partial) -> bool:
    later = right.latest - left.latest
    if join.kind == "FOLLOWED BY" and right.earliest <= left.latest:
        return False
    return join.window is None or abs(later) <= join.window


def _satisfied(join: Join, bound: Assignment) -> bool:
    return any(
        all(_holds(bound, *comparison) for comparison in joins)
        for joins in (join.joins, *join.alternatives)
    )


def _holds(bound: Assignment, left: Side, op: str, right: Side) -> bool:
    """A path ranges over its nodes separately for each occurrence: some pair of them must
    compare."""
    return any(
        op == "!=" if a is None or b is None else compare_strings(a, op, b)
        for a in _values(bound, left)
        for b in _values(bound, right)
    )


def _values(bound: Assignment, side: Side) -> Sequence[str | None]:
    """The string values of a side's nodes under its functions; None is NaN."""
    if isinstance(side, str):
        return (bound[side].text,)
    values: list[str | None] = [side.constant]
    if side.variable is not None:
        found = bound[side.variable]
        values = [found.text] if side.path == "." else list(_texts(found, side.path))
    for function in side.functions:
        values = [None if value is None else _under(function, value) for value in values]
    return values


@lru_cache(4096)
def _texts(found: Found, path: str) -> tuple[str, ...]:
    if isinstance(found.raw, str):
        return ()  # nothing is below an attribute
    return tuple(map(_text, found.raw.xpath(path, namespaces=found.namespaces)))


DOUBLE = re.compile(
    r"[ \t\r\n]*([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN)[ \t\r\n]*"
)
ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


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
