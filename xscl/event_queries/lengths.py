"""How far back an event query looks: the lengths of its windows, and of its bounds on DUR."""

from __future__ import annotations

from collections.abc import Iterator

from pattern_stage.algebra import nodes
from pattern_stage.algebra.localised import inputs
from pattern_stage.algebra.terms import Age, Constant, Predicate
from xscl.event_queries.automaton import either_way
from xscl.event_queries.compile import CompiledEvents

__all__ = ["lengths"]


def lengths(compiled: CompiledEvents) -> set[int]:
    """The lengths that end, in microseconds, but for those that each subscription has of its
    own, and for aggregates of one time, which look back for nothing."""
    constants = [compiled.constants[place] for place in _places(compiled.root)]
    return {one for one in constants if isinstance(one, int) and one}


def _places(node: nodes.Node) -> Iterator[int]:
    conditions: tuple[Predicate, ...] = ()
    match node:
        case nodes.Aggregate(window=int(place)):
            yield place
        case nodes.Select(condition) | nodes.Sequence(condition):
            conditions = condition
        case nodes.Iterate(condition, going_on):
            conditions = (*condition, *going_on)
    for one in conditions:
        for left, operator, right in either_way(one):
            bound = isinstance(left, Age) and operator in ("<", "<=", "=")
            if bound and isinstance(right, Constant):
                yield right.place
    for below in inputs(node):
        yield from _places(below)
