"""How far back an event query looks: its bounds on DUR, and the lengths of its windows."""

from __future__ import annotations

from collections.abc import Container, Iterator

from xscl.pattern_stage.algebra import nodes
from xscl.pattern_stage.algebra.nodes import Condition
from xscl.pattern_stage.values.terms import Age, Comparison, Constant

__all__ = ["bounds", "lengths"]

_ANY_SIDE = (0, 1, 2, None)


def bounds(condition: Condition, sides: Container[int | None] = _ANY_SIDE) -> Iterator[int]:
    """The places of the constants that bound the DUR of a side, or of the composite (None), from
    above."""
    for conjunct in condition:
        match conjunct:
            case Comparison("<" | "<=" | "=", Age(side), Constant(place)) if side in sides:
                yield place
            case Comparison(">" | ">=" | "=", Constant(place), Age(side)) if side in sides:
                yield place


def lengths(node: nodes.Node) -> Iterator[int]:
    """The places of the constants that are lengths of time, in microseconds; that of a window is 0
    in aggregates of one time, which look back for nothing."""
    match node:
        case nodes.Aggregate(window=int(place)):
            yield place
        case nodes.Select(condition) | nodes.Sequence(condition):
            yield from bounds(condition)
        case nodes.Iterate(condition, continuing):
            yield from bounds((*condition, *continuing))
    for below in node.inputs:
        yield from lengths(below)
