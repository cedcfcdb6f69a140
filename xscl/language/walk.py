"""What a source is made of, in the order of the text: its operands and its operators.

A chain associates to the left and a group may nest it otherwise; neither is walked by recursion,
so that no chain is too long.  What stands within a sub-query is none of the outer query's
(language.md, section 1).
"""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.syntax import Block, Join, Query, Source, SubQuery

__all__ = ["operands", "operators", "with_sub_queries"]


def operands(source: Source) -> Iterator[Block | SubQuery]:
    """The blocks and sub-queries that a source joins, from left to right."""
    left = [source]
    while left:
        operand = left.pop()
        if isinstance(operand, Join):
            left += (operand.right, operand.left)
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
