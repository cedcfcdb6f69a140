"""Walks over the values of a pattern, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator

from xscl.language.syntax import (
    Aggregate,
    Call,
    Read,
    Value,
)
from xscl.language.values.walk import leaves

__all__ = ["reads"]


def reads(value: Value) -> Iterator[tuple[Read, Aggregate | None]]:
    """The reads of a value, each with the aggregate that it is in."""
    for leaf in leaves(value):
        match leaf:
            case Read():
                yield leaf, None
            case Aggregate():
                yield leaf.read, leaf
            case Call(_, arguments):
                for argument in arguments:
                    yield from reads(argument)
