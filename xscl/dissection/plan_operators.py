"""From the join graph of each operator to its minor and the plan of its template (section 6.4)."""

from __future__ import annotations

from dataclasses import replace

from join_stage import plan_of
from templates import JoinGraph, Node, minor
from xscl.dissection.draft import DisjunctDraft
from xscl.dissection.parts import JoinOperator

__all__ = ["plan_operators"]


def plan_operators(draft: DisjunctDraft) -> DisjunctDraft:
    """Adds the operators, each with its plan."""
    planned: list[JoinOperator] = []
    for one in draft.graphs:
        composite = (one.sides[0].operator is not None, one.sides[-1].operator is not None)
        graph = _in_order(minor(one.graph), draft)
        plan, assignment = plan_of(graph, len(one.sides), composite=composite)
        planned.append(
            JoinOperator(
                sides=one.sides,
                constraint=one.constraint,
                graph=one.graph,
                plan=plan,
                assignment=assignment,
                columns=one.columns,
                valued=one.valued,
            )
        )
    return draft._replace(operators=tuple(planned))


def _in_order(graph: JoinGraph, draft: DisjunctDraft) -> JoinGraph:
    """The graph with its nodes in an order that does not depend on how the query was written,
    so that queries that say the same have the same row of R_T."""

    def key(node: Node) -> tuple[int, int, int, str, tuple[str, ...]]:
        depth = len(graph.chain(node.number))
        pattern = draft.patterns.nodes[node.number]
        definition = repr(draft.definitions[node.number])
        return node.side, depth, pattern.block, definition, pattern.functions

    return replace(graph, nodes=tuple(sorted(graph.nodes, key=key)))
