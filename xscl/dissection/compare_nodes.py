"""The comparisons of a disjunct between the nodes of its tree patterns.

A comparison with a constant is pushed into the block, as a filter of the node.  A comparison of two
nodes is an edge between them; each occurrence of a path or of functions is a node of its own.
"""

from __future__ import annotations

from xscl.dissection.draft import DisjunctDraft
from xscl.dissection.tree_patterns import Growing
from xscl.language.normal_form import ConstantTest
from xscl.templates import Edge
from xscl.xpath_stage import alike_of

__all__ = ["compare_nodes"]


def compare_nodes(draft: DisjunctDraft) -> DisjunctDraft:
    """Adds the edges, and to the patterns the nodes and filters of the comparisons."""
    growing = Growing(draft.patterns)
    edges: list[Edge] = []
    for conjunct in draft.conjuncts:
        if isinstance(conjunct, ConstantTest):
            growing.test(conjunct)
            continue
        left, right = growing.operand(conjunct.left), growing.operand(conjunct.right)
        # A node is always equal to itself.
        if conjunct.operator == "=" and left == right:
            continue
        alike = alike_of(conjunct.operator)
        if alike is None:
            edges.append(Edge(conjunct.operator, left, right))
        else:
            edges.append(Edge(f"similar({alike.measure})", left, right, alike.threshold))
    return draft._replace(patterns=growing.grown(), edges=tuple(edges))
