"""From a join graph to its minor: the three reduction rules of section 6.4.2, in order.

Stage 1 has evaluated the structure of each block.  So the join needs only the nodes that are
compared and, of the structure, how these are connected.  Each rule takes a join graph and returns
one with fewer nodes; nodes keep their numbers.  With `kept` nodes the same rules yield the graph
that a query is evaluated by, which also binds its output nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xscl.templates.join_graph import JoinGraph, Node

__all__ = [
    "RULES",
    "contract_only_children",
    "minor",
    "remove_above_common_ancestors",
    "remove_unjoined_leaves",
]


def remove_unjoined_leaves(graph: JoinGraph) -> JoinGraph:
    """Recursively removes the leaf nodes that no comparison or output needs."""
    needed = graph.needed
    children = graph.children()
    staying: set[int] = set()
    for node in reversed(graph.nodes):
        if node.number in needed or any(child in staying for child in children[node.number]):
            staying.add(node.number)
    return replace(graph, nodes=tuple(n for n in graph.nodes if n.number in staying))


def remove_above_common_ancestors(graph: JoinGraph) -> JoinGraph:
    """Removes the nodes above the least common ancestor of each side's remaining leaves."""
    needed = graph.needed
    children = graph.children()
    gone: set[int] = set()
    for root in (node.number for node in graph.nodes if node.parent is None):
        at = root
        while at not in needed and len(children[at]) == 1:
            gone.add(at)
            at = children[at][0]
    return _without(graph, gone)


def contract_only_children(graph: JoinGraph) -> JoinGraph:
    """Removes the intermediate nodes with one child, unless they are needed."""
    needed = graph.needed
    children = graph.children()
    gone = {
        node.number
        for node in graph.nodes
        if node.parent is not None and node.number not in needed and len(children[node.number]) == 1
    }
    return _without(graph, gone)


RULES: tuple[Callable[[JoinGraph], JoinGraph], ...] = (
    remove_unjoined_leaves,
    remove_above_common_ancestors,
    contract_only_children,
)


def minor(graph: JoinGraph) -> JoinGraph:
    """The minor of a join graph: all three rules, one after the other."""
    for rule in RULES:
        graph = rule(graph)
    return graph


def _without(graph: JoinGraph, gone: set[int]) -> JoinGraph:
    """The graph without some nodes, their children hung below the next ancestor left."""
    parents = {node.number: node.parent for node in graph.nodes}

    def above(number: int) -> int | None:
        parent = parents[number]
        while parent is not None and parent in gone:
            parent = parents[parent]
        return parent

    nodes = (Node(n.number, n.side, above(n.number)) for n in graph.nodes if n.number not in gone)
    return replace(graph, nodes=tuple(nodes))
