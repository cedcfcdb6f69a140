"""From the join graph of each operator to its minor and the plan of its template (section 6.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from join_stage import plan_of
from templates import JoinGraph, Node, minor
from xpath_stage import Definition, Step
from xscl.dissection.draft import DisjunctDraft, OperatorGraph
from xscl.dissection.parts import JoinOperator
from xscl.dissection.tree_patterns import PatternNode

__all__ = ["node_keys", "plan_operators", "planned"]

NodeKey = tuple[int, int, int, list[tuple[str, str, str]], tuple[str, ...]]


def plan_operators(draft: DisjunctDraft) -> DisjunctDraft:
    """Adds the operators, each with its plan."""
    operators: list[JoinOperator] = []
    for one in draft.graphs:
        graph = minor(one.graph)
        keys = node_keys(graph, draft.patterns.nodes, draft.definitions)
        operators.append(planned(one, graph, sorted(keys, key=keys.__getitem__)))
    return draft._replace(operators=tuple(operators))


def planned(
    one: OperatorGraph | JoinOperator, graph: JoinGraph, order: Sequence[int]
) -> JoinOperator:
    """An operator with its plan, given its minor and the order of that one's nodes."""
    composite = (one.sides[0].operator is not None, one.sides[-1].operator is not None)
    nodes = {node.number: node for node in graph.nodes}
    graph = replace(graph, nodes=tuple(nodes[number] for number in order))
    plan, assignment = plan_of(graph, len(one.sides), composite=composite)
    return JoinOperator(
        sides=one.sides,
        constraint=one.constraint,
        graph=one.graph,
        plan=plan,
        assignment=assignment,
        columns=one.columns,
        valued=one.valued,
    )


def node_keys(
    graph: JoinGraph, patterns: Sequence[PatternNode], definitions: Mapping[int, Definition]
) -> dict[int, NodeKey]:
    """The keys of a graph's nodes in an order that does not depend on how the query was written,
    so that queries that say the same have the same row of R_T."""

    def key(node: Node) -> NodeKey:
        pattern = patterns[node.number]
        steps = [step_key(step) for step in definitions[node.number]]
        return node.side, len(graph.chain(node.number)), pattern.block, steps, pattern.functions

    return {node.number: key(node) for node in graph.nodes}


def step_key(step: Step) -> tuple[str, str, str]:
    """The key of a step in that order."""
    return step.axis, step.test, repr(step.filters) if step.filters else ""
