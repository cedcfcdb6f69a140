"""Whether a join says the same with its sides exchanged, so that it finds each pair twice.

Subtrees of the tree patterns are numbered, equal ones alike.  A node's *place*
is what distinguishes it then: the numbers from its root down to it.  Where no two compared nodes
of a block have one place, the comparisons alone decide.
"""

from __future__ import annotations

from xscl.dissection.parts import Disjunct, JoinOperator
from xscl.dissection.xpath_text import filters_of
from xscl.templates import flipped

__all__ = ["finds_both_orders"]

_Place = tuple[int, ...]


def finds_both_orders(disjunct: Disjunct, stage: JoinOperator) -> bool:
    """Whether a stage surely finds each pair of documents in both orders: a JOIN of two blocks
    over one stream that have one tree pattern and are compared alike both ways."""
    left, right = stage.sides
    if stage.constraint.after or left.operator is not None or right.operator is not None:
        return False
    (first,), (second,) = left.blocks, right.blocks
    if disjunct.streams[first] != disjunct.streams[second]:
        return False
    places = _places(disjunct)
    if places[disjunct.outputs[first]] != places[disjunct.outputs[second]]:
        return False
    compared = {number for edge in stage.graph.edges for number in (edge.left, edge.right)}
    if len({(disjunct.patterns[n].block, places[n]) for n in compared}) < len(compared):
        return False
    other = {first: second, second: first}

    def said(*, exchanged: bool) -> set[tuple[object, ...]]:
        found: set[tuple[object, ...]] = set()
        for edge in stage.graph.edges:
            blocks = [disjunct.patterns[number].block for number in (edge.left, edge.right)]
            if exchanged:
                blocks = [other[block] for block in blocks]
            ends = list(zip(blocks, (places[edge.left], places[edge.right]), strict=True))
            found.add((edge.sign, *ends))
            found.add((flipped(edge.sign), *reversed(ends)))
        return found

    return said(exchanged=False) == said(exchanged=True)


def _places(disjunct: Disjunct) -> dict[int, _Place]:
    """The place of each node; nodes of different blocks may have one."""
    children: dict[int | None, list[int]] = {}
    for node in disjunct.patterns:
        children.setdefault(node.parent, []).append(node.number)
    numbers: dict[tuple[object, ...], int] = {}
    subtrees: dict[int, int] = {}
    for node in reversed(disjunct.patterns):
        step = node.step
        below = sorted(subtrees[child] for child in children.get(node.number, ()))
        filters = filters_of(step, node.conditions)
        subtree = (step.axis, step.test, filters, node.functions, tuple(below))
        subtrees[node.number] = numbers.setdefault(subtree, len(numbers))
    places: dict[int, _Place] = {}
    for node in disjunct.patterns:
        above = () if node.parent is None else places[node.parent]
        places[node.number] = (*above, subtrees[node.number])
    return places
