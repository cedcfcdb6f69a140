"""How far back an event query looks: its bounds on DUR, and the lengths of its windows."""

from __future__ import annotations

from collections.abc import Container, Iterator

from pattern_stage.algebra import nodes
from pattern_stage.algebra.localised import inputs
from pattern_stage.algebra.nodes import Condition
from pattern_stage.algebra.terms import Age, Compare, Constant, Predicate, Scalar

__all__ = ["bounds", "either_way", "lengths"]

_TURNED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

_ANY_SIDE = (0, 1, 2, None)


def either_way(one: Predicate) -> Iterator[tuple[Scalar, str, Scalar]]:
    """A comparison, read from either side."""
    if isinstance(one, Compare):
        yield one.left, one.operator, one.right
        yield one.right, _TURNED[one.operator], one.left


def bounds(condition: Condition, sides: Container[int | None] = _ANY_SIDE) -> Iterator[int]:
    """The places of the constants that bound the DUR of a side, or of the composite (None), from
    above."""
    for conjunct in condition:
        for left, operator, right in either_way(conjunct):
            bound = isinstance(left, Age) and left.side in sides and operator in ("<", "<=", "=")
            if bound and isinstance(right, Constant):
                yield right.place


def lengths(node: nodes.Node) -> Iterator[int]:
    """The places of the constants that are lengths of time, in microseconds; that of a window is 0
    in aggregates of one time, which look back for nothing."""
    match node:
        case nodes.Aggregate(window=int(place)):
            yield place
        case nodes.Select(condition) | nodes.Sequence(condition):
            yield from bounds(condition)
        case nodes.Iterate(condition, going_on):
            yield from bounds((*condition, *going_on))
    for below in inputs(node):
        yield from lengths(below)
