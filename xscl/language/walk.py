"""Walks over a query's parts, in the order of the text: operands, operators, paths of a SELECT.

A chain associates to the left and a group may nest it otherwise; neither is walked by recursion,
so that no chain is too long.  The variables and operands of a sub-query are its own, not the outer
query's (docs/semantics.md#statements-and-names).
"""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.eql.walk import events_of
from xscl.language.events.walk import read_by
from xscl.language.syntax import (
    Block,
    Composition,
    Described,
    Element,
    EventPattern,
    Events,
    Insert,
    Join,
    JSONArray,
    JSONObject,
    JSONValue,
    Query,
    Select,
    Selected,
    Source,
    SubQuery,
    VariablePath,
)

__all__ = [
    "operands",
    "operators",
    "selected_paths",
    "selected_values",
    "selected_variables",
    "with_sub_queries",
]


def operands(source: Source) -> Iterator[Block | SubQuery]:
    """The blocks and sub-queries that a source joins, from left to right; of a pattern the types of
    its components, in order."""
    left = [source]
    while left:
        operand = left.pop()
        if isinstance(operand, Join):
            left += (operand.right, operand.left)
        elif isinstance(operand, EventPattern):
            for component in operand.components:
                yield from component.types
        elif isinstance(operand, Events):
            yield from read_by(operand.expression)
        elif isinstance(operand, Described):
            yield from operand.blocks
        elif isinstance(operand, Composition):
            for event in events_of(operand.pattern):
                assert isinstance(event.block, Block | SubQuery)
                yield event.block
        else:
            yield operand


def operators(source: Source) -> Iterator[tuple[Join, int]]:
    """The operators of a source, each after those in its operands, with the number of operands
    that stand to its left or in its right operand."""
    reached = 0
    left = [(source, False)]
    while left:
        operand, done = left.pop()
        if not isinstance(operand, Join):
            reached += 1
        elif done:
            yield operand, reached
        else:
            left += ((operand, True), (operand.right, False), (operand.left, False))


def with_sub_queries(query: Query) -> Iterator[Query]:
    """A query, the sub-queries in it, those in them, and so on."""
    left = [query]
    while left:
        top = left.pop()
        yield top
        left += (part.query for part in operands(top.source) if isinstance(part, SubQuery))


def selected_paths(select: Select | JSONValue) -> Iterator[VariablePath]:
    """The variables of a SELECT, and the paths from them; of a pattern's there are none."""
    return (one for one in _leaves(select) if isinstance(one, VariablePath))


def selected_values(select: Select) -> Iterator[Selected]:
    """What a SELECT names of a pattern's matches."""
    return (one for one in _leaves(select) if isinstance(one, Selected))


def _leaves(select: Select | JSONValue) -> Iterator[VariablePath | Selected]:
    match select:
        case VariablePath() | Selected():
            yield select
        case Element():
            for parts in (*(value for _, value in select.attributes), select.content):
                for part in parts:
                    if isinstance(part, Insert):
                        yield part.path
                    elif isinstance(part, Element):
                        yield from _leaves(part)
        case JSONObject(members):
            for _, value in members:
                yield from _leaves(value)
        case JSONArray(items):
            for value in items:
                yield from _leaves(value)
        case tuple():
            for item in select:
                yield item.path


def selected_variables(query: Query) -> tuple[str, ...]:
    """The variables that a query's SELECT names, in order, each once.

    >>> from xscl.language import parse
    >>> [query], _ = parse("SELECT y, x/c, y AS z FROM S//a->x[b->y]")
    >>> selected_variables(query)
    ('y', 'x')
    """
    return tuple(dict.fromkeys(path.variable.text for path in selected_paths(query.select)))
