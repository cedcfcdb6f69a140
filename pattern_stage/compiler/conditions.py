"""A pattern's condition by place: each conjunct on the edge of its last identifier.

In the order begin of k < take of k < proceed of k < begin of k + 1 …
(docs/semantics.md#edges-of-the-automaton).  A test `[x = c]` is a comparison on each begin and
take; conjuncts of negated components are separate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from xscl.pattern_stage.compiler.bound import runs_over
from xscl.pattern_stage.pattern import Conjunct, Pattern
from xscl.pattern_stage.values.terms import (
    Aggregate,
    Comparison,
    Constant,
    Index,
    Leaf,
    Length,
    Read,
    leaves,
)

__all__ = ["Conditions", "Edge", "compared", "edge_of", "placed"]


class Edge(IntEnum):
    """The edge of a component on which a conjunct is tested."""

    BEGIN = 0
    TAKE = 1
    PROCEED = 2


@dataclass(slots=True)
class Conditions:
    """The conjuncts of each edge; those that need all events so far; those of negated ones."""

    edges: dict[tuple[int, Edge], list[Conjunct]] = field(default_factory=dict)
    walks: dict[tuple[int, Edge], list[Conjunct]] = field(default_factory=dict)
    negated: dict[int, list[Conjunct]] = field(default_factory=dict)

    def of_event(self, component: int, edge: Edge) -> tuple[list[Conjunct], list[Conjunct]]:
        """The conjuncts of an edge that read only the event that is taken, and the rest."""
        of_event, rest = list[Conjunct](), list[Conjunct]()
        index = Index.EACH if edge is Edge.TAKE else Index.FIRST
        for conjunct in self.edges.get((component, edge), ()):
            own = all(
                isinstance(leaf, Constant)
                or (
                    isinstance(leaf, Read)
                    and leaf.component == component
                    and leaf.index in (None, index)
                )
                for leaf in leaves(conjunct)
            )
            (of_event if own and edge is not Edge.PROCEED else rest).append(conjunct)
        return of_event, rest


def placed(pattern: Pattern) -> Conditions:
    """A pattern's condition, placed."""
    found = Conditions()
    first = next(place for place, one in enumerate(pattern.components) if not one.negated)
    for place, component in enumerate(pattern.components):
        conjuncts: list[Conjunct] = [
            (Comparison.of("=", Read(place, test.attribute, index), test.constant),)
            for index in ((Index.FIRST, Index.EACH) if component.kleene else (None,))
            for test in pattern.tests
            if test.constant is not None
        ]
        if component.negated:
            found.negated[place] = [*conjuncts]
            continue
        for conjunct in conjuncts:
            read = conjunct[0].left
            assert isinstance(read, Read)
            edge = Edge.TAKE if read.index is Index.EACH else Edge.BEGIN
            found.edges.setdefault((place, edge), []).append(conjunct)
    for conjunct in pattern.conjuncts:
        places = [edge_of(leaf) for leaf in leaves(conjunct) if not isinstance(leaf, Constant)]
        negated = [place for place, _ in places if pattern.components[place].negated]
        if negated:
            found.negated[negated[0]].append(conjunct)
            continue
        last = max(places, default=(first, Edge.BEGIN))
        over = runs_over(conjunct)
        walked = over is not None and last != (over, Edge.TAKE)
        (found.walks if walked else found.edges).setdefault(last, []).append(conjunct)
    return found


def edge_of(leaf: Leaf) -> tuple[int, Edge]:
    """The edge on which a leaf's value is known first."""
    match leaf:
        case Read(component, _, index):
            if index in (None, Index.FIRST):
                return component, Edge.BEGIN
            return component, Edge.PROCEED if index is Index.LAST else Edge.TAKE
        case Aggregate(component=component, previous=previous):
            return component, Edge.TAKE if previous else Edge.PROCEED
        case Length(component):
            return component, Edge.PROCEED
    raise TypeError(leaf)


def compared(conjunct: Conjunct) -> tuple[Comparison, Constant] | None:
    """A conjunct that is one comparison with a constant, turned so that this is on the right."""
    if len(conjunct) != 1:
        return None
    (one,) = conjunct
    if isinstance(one.left, Constant):
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(one.operator, one.operator)
        one = Comparison(turned, one.right, one.left, one.mode)  # type: ignore[arg-type]
    if not isinstance(one.right, Constant):
        return None
    return None if isinstance(one.left, Constant) else (one, one.right)
