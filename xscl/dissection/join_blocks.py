"""The operators of a disjunct with their join graphs, the innermost operator first.

Law: a comparison is made at the innermost operator that has all of its variables, regardless of
where it was written.
"""

from __future__ import annotations

from collections.abc import Sequence

from xscl.dissection.draft import DisjunctDraft, OperatorGraph
from xscl.dissection.parts import OperatorSide
from xscl.join_stage import TimeConstraint
from xscl.language.walk import operators
from xscl.templates import Edge, JoinGraph, Node

__all__ = ["join_blocks"]


def join_blocks(draft: DisjunctDraft) -> DisjunctDraft:
    """Adds the join graphs; a query without operators has one for its only block."""
    nodes = draft.patterns.nodes
    left = draft.edges
    graphs: list[OperatorGraph] = []
    open_sides: list[OperatorSide] = []
    block = 0
    for join, reached in operators(draft.query.source):
        open_sides += (OperatorSide((number,)) for number in range(block, reached))
        block = reached
        sides = open_sides[-2], open_sides[-1]
        covered = (*sides[0].blocks, *sides[1].blocks)
        here = tuple(
            edge
            for edge in left
            if nodes[edge.left].block in covered and nodes[edge.right].block in covered
        )
        left = tuple(edge for edge in left if edge not in here)
        constraint = TimeConstraint(join.operator == "FOLLOWED BY", join.window.length)
        open_sides[-2:] = [OperatorSide(covered, len(graphs))]
        graphs.append(_operator_graph(draft, sides, constraint, here, left, graphs))
    if not graphs:
        alone = TimeConstraint(False, None)
        graphs.append(_operator_graph(draft, (OperatorSide((0,)),), alone, (), (), ()))
    return draft._replace(graphs=tuple(graphs))


def _operator_graph(
    draft: DisjunctDraft,
    sides: tuple[OperatorSide, ...],
    constraint: TimeConstraint,
    edges: tuple[Edge, ...],
    above: tuple[Edge, ...],
    earlier: Sequence[OperatorGraph],
) -> OperatorGraph:
    """The join graph of an operator with these edges, given those of the operators above it."""
    block_of = {node.number: node.block for node in draft.patterns.nodes}
    side_of = {block: index for index, side in enumerate(sides) for block in side.blocks}
    asked_above = {node for node in _ends(above) if block_of[node] in side_of}
    columns = [node for node in draft.put_out if block_of[node] in side_of]
    columns += sorted(asked_above.difference(columns))
    nodes: list[Node] = []
    kept: set[int] = set()
    valued: set[int] = set()
    for index, side in enumerate(sides):
        if side.operator is None:
            (block,) = side.blocks
            nodes += (
                Node(node.number, index, node.parent)
                for node in draft.patterns.nodes
                if node.block == block and node.number in draft.definitions
            )
            kept.update(node for node in columns if block_of[node] == block)
            valued.update(node for node in asked_above if block_of[node] == block)
        else:
            # A composite has each of its nodes once: nodes that are not compared are known with it.
            asked = sorted(node for node in _ends(edges) if side_of[block_of[node]] == index)
            if not asked:
                below = earlier[side.operator]
                asked = [(below.valued or below.columns)[0]]
                kept.update(asked)
            nodes += (Node(node, index, None) for node in asked)
    graph = JoinGraph(tuple(nodes), edges, frozenset(kept), frozenset(valued))
    return OperatorGraph(sides, constraint, graph, tuple(columns), tuple(sorted(asked_above)))


def _ends(edges: Sequence[Edge]) -> set[int]:
    return {node for edge in edges for node in (edge.left, edge.right)}
