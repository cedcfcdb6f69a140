"""Walks over the expression of an event query, in the order of the text.

A chain associates to the left; it is not walked by recursion, so that no chain is too long.
"""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.syntax import (
    Block,
    Both,
    Element,
    EventCondition,
    Expression,
    Filtered,
    Fold,
    JSONObject,
    Next,
    SubQuery,
    Windowed,
)

__all__ = ["conditions", "is_inlined", "parts", "read_by"]


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all below it but what is in sub-queries: of two operands first the left
    one, each above its own."""
    left: list[Expression] = [expression]
    while left:
        top = left.pop()
        yield top
        match top:
            case Filtered() | Windowed():
                left.append(top.operand)
            case Next() | Fold() | Both():
                left += (top.right, top.left)


def is_inlined(part: SubQuery) -> bool:
    """Whether a sub-query of an event query becomes a part of its plan: it is an event query, and
    its events are no constructed documents."""
    query = part.query
    return query.language.schemas and not isinstance(query.select, Element | JSONObject)


def read_by(expression: Expression) -> Iterator[Block | SubQuery]:
    """The blocks and sub-queries of an expression, from left to right."""
    return (part for part in parts(expression) if isinstance(part, Block | SubQuery))


def conditions(expression: Expression) -> Iterator[EventCondition]:
    """The conditions in the braces of an expression, without those below it."""
    if isinstance(expression, Filtered | Next | Fold) and expression.condition is not None:
        yield expression.condition
    if isinstance(expression, Fold) and expression.continuing is not None:
        yield expression.continuing
