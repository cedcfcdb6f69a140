"""The definitions of pattern nodes (docs/laws.md#definitions): the input of stage 1.

Nodes that nothing compares or puts out are removed: the first reduction rule removes them, and
their conditions turn into filters of the nodes that stay.
"""

from __future__ import annotations

from typing import Literal

from xscl.dissection.draft import DisjunctDraft
from xscl.dissection.open_constants import OpenConstant, asked_of_node
from xscl.dissection.tree_patterns import PatternNode
from xscl.dissection.xpath_text import tag_test
from xscl.language.conditions import existence
from xscl.language.syntax import Condition, Step
from xscl.templates import JoinGraph, Node
from xscl.templates.reduction import remove_unjoined_leaves
from xscl.xpath_stage import Definition
from xscl.xpath_stage import Step as PatternStep

__all__ = ["define_nodes"]


def define_nodes(draft: DisjunctDraft) -> DisjunctDraft:
    """Adds the definitions of the nodes that stay, and the constants left open in them."""
    nodes = draft.patterns.nodes
    compared = (node for edge in draft.edges for node in (edge.left, edge.right))
    needed = {*draft.put_out, *compared}
    graph = JoinGraph(
        tuple(Node(node.number, node.block, node.parent) for node in nodes), (), frozenset(needed)
    )
    left = {node.number for node in remove_unjoined_leaves(graph).nodes}
    children: dict[int, list[PatternNode]] = {node.number: [] for node in nodes}
    for node in nodes:
        if node.parent is not None:
            children[node.parent].append(node)
    branches: dict[int, list[Condition]] = {}
    for node in nodes:
        if node.number not in left and node.parent in left:
            branches.setdefault(node.parent, []).append(_branch(children, node))
    definitions: dict[int, Definition] = {}
    left_open: list[tuple[int, OpenConstant]] = []
    for node in nodes:
        if node.number in left:
            above = () if node.parent is None else definitions[node.parent]
            if node.step.test == ".":
                definitions[node.number] = above
                continue
            conditions = [*node.conditions, *branches.get(node.number, ())]
            tests, opened = asked_of_node(node.step, conditions)
            left_open += ((node.number, one) for one in opened)
            axis: Literal["child", "descendant"]
            axis = "child" if node.step.axis == "/" else "descendant"
            step = PatternStep(axis, tag_test(node.step.test), tests)
            definitions[node.number] = (*above, step)
    return draft._replace(definitions=definitions, opened=tuple(left_open))


def _branch(children: dict[int, list[PatternNode]], root: PatternNode) -> Condition:
    """The existence of a node with its conditions and its own branches, as a condition."""

    def step(node: PatternNode) -> Step:
        branches = (existence((step(child),)) for child in children[node.number])
        conditions = (*node.conditions, *branches)
        return Step(node.step.axis, node.step.test, None, conditions, node.step.at)

    return existence((step(root),))
