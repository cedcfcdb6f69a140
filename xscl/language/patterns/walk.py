"""Walks over the values and conditions of a pattern, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.syntax import (
    Aggregate,
    Arithmetic,
    Compared,
    Demand,
    Equivalence,
    Minus,
    Read,
    Value,
)

__all__ = ["atoms", "reads"]


def atoms(condition: Demand | None) -> Iterator[Compared[Value] | Equivalence]:
    """The comparisons and tests of a condition."""
    match condition:
        case None:
            return
        case Compared() | Equivalence():
            yield condition
        case _:
            for part in condition.parts:
                yield from atoms(part)


def reads(value: Value) -> Iterator[tuple[Read, Aggregate | None]]:
    """The reads of a value, each with the aggregate that it stands in."""
    match value:
        case Read():
            yield value, None
        case Aggregate():
            yield value.read, value
        case Arithmetic():
            yield from reads(value.left)
            yield from reads(value.right)
        case Minus():
            yield from reads(value.operand)
