"""From the join graph of each operator to its minor and the plan of its template (section 6.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xscl.dissection.draft import DisjunctDraft, OperatorGraph
from xscl.dissection.parts import JoinOperator
from xscl.dissection.tree_patterns import PatternNode
from xscl.join_stage import plan_of
from xscl.templates import JoinGraph, minor
from xscl.xpath_stage import Definition, Step

__all__ = ["in_order", "places", "plan_operators", "planned", "step_key"]

Place = tuple[tuple[int, int, int], tuple[str, ...]]
Key = tuple[tuple[str, str, str], ...]


def plan_operators(draft: DisjunctDraft) -> DisjunctDraft:
    """Adds the operators, each with its plan."""
    operators: list[JoinOperator] = []
    for one in draft.graphs:
        graph = minor(one.graph)
        keys = {node: definition_key(steps) for node, steps in draft.definitions.items()}
        order = in_order(places(graph, draft.patterns.nodes), keys)
        operators.append(planned(one, graph, order))
    return draft._replace(operators=tuple(operators))


def planned(
    one: OperatorGraph | JoinOperator, graph: JoinGraph, order: Sequence[int]
) -> JoinOperator:
    """An operator with its plan, given its minor and the order of that one's nodes."""
    composite = (one.sides[0].operator is not None, one.sides[-1].operator is not None)
    plan, assignment = plan_of(graph, len(one.sides), composite, order)
    return JoinOperator(
        sides=one.sides,
        constraint=one.constraint,
        graph=one.graph,
        plan=plan,
        assignment=assignment,
        columns=one.columns,
        valued=one.valued,
    )


def places(graph: JoinGraph, patterns: Sequence[PatternNode]) -> dict[int, Place]:
    """The nodes of a graph, each with what precedes its definition in their order: its side, depth
    and block; and with its functions."""
    return {
        node.number: (
            (node.side, len(graph.chain(node.number)), patterns[node.number].block),
            patterns[node.number].functions,
        )
        for node in graph.nodes
    }


def in_order(places: Mapping[int, Place], keys: Mapping[int, Key]) -> tuple[int, ...]:
    """Nodes in an order that does not depend on how the query was written, so that equivalent
    queries have the same row of R_T."""

    def key(node: int) -> tuple[tuple[int, int, int], Key, tuple[str, ...]]:
        place, functions = places[node]
        return place, keys[node], functions

    return tuple(sorted(places, key=key))


def definition_key(definition: Definition) -> Key:
    """The key of a definition in that order."""
    return tuple([step_key(step) for step in definition])


def step_key(step: Step) -> tuple[str, str, str]:
    """The key of a step in that order."""
    return step.axis, step.test, repr(step.filters) if step.filters else ""
