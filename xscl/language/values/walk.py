"""Walks over conditions and values, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xscl.language.syntax import Arithmetic, Either, Every, Minus, Not

__all__ = ["atoms", "leaves"]


def atoms(condition: Any) -> Iterator[Any]:
    """What is between AND, OR and NOT: comparisons and tests; nothing in no condition."""
    match condition:
        case None:
            return
        case Not(operand):
            yield from atoms(operand)
        case Every(parts) | Either(parts):
            for part in parts:
                yield from atoms(part)
        case _:
            yield condition


def leaves(value: Any) -> Iterator[Any]:
    """What is between operators."""
    match value:
        case Arithmetic(_, left, right):
            yield from leaves(left)
            yield from leaves(right)
        case Minus(operand):
            yield from leaves(operand)
        case _:
            yield value
