"""A stage, as explain calls an operator: its comparisons by kind, its join graph after each
reduction rule (section 6.4.2), and which of its sides wait for later documents
(docs/laws.md#time)."""

from __future__ import annotations

from dataclasses import dataclass

from xscl.dissection.parts import Disjunct, Dissection, JoinOperator
from xscl.templates import RULES, Edge, JoinGraph, Node

__all__ = ["RULE_NAMES", "Compared", "comparisons", "joins", "reduced", "roles", "waiting"]

RULE_NAMES = ("leaves that join nothing", "above common ancestors", "inner nodes with one child")
"""The nodes that each of the reduction rules removes, in their order."""


@dataclass(frozen=True, slots=True)
class Compared:
    """An edge of a join graph between pattern nodes; `kind` is `value join`, `residual comparison`
    or `within one side`."""

    edge: Edge
    kind: str


def joins(dissection: Dissection) -> list[JoinOperator]:
    """The stages of a query that join, without the stages of its sub-queries."""
    return [
        stage
        for disjunct in dissection.disjuncts
        for stage in disjunct.operators
        if len(stage.sides) == 2
    ]


def comparisons(stage: JoinOperator) -> list[Compared]:
    """The edges of a stage's join graph, in the order of its nodes."""
    sides = {node.number: node.side for node in stage.graph.nodes}
    value_joins = frozenset(stage.graph.value_joins)

    def kind(edge: Edge) -> str:
        if edge in value_joins:
            return "value join"
        across = sides[edge.left] != sides[edge.right]
        return "residual comparison" if across else "within one side"

    edges = sorted(stage.graph.edges, key=lambda edge: (edge.left, edge.right))
    return [Compared(edge, kind(edge)) for edge in edges]


def reduced(disjunct: Disjunct, stage: JoinOperator) -> tuple[JoinGraph, ...]:
    """A stage's join graph with all nodes of its blocks, then what is left of it after each of
    the reduction rules: the last is its minor.

    Of a composite the join graph has the nodes that are compared.
    """
    compared = {number for edge in stage.graph.edges for number in (edge.left, edge.right)}
    nodes: list[Node] = []
    for index, side in enumerate(stage.sides):
        if side.operator is None:
            nodes += (
                Node(node.number, index, node.parent)
                for node in disjunct.patterns
                if node.block in side.blocks
            )
        else:
            nodes += (n for n in stage.graph.nodes if n.side == index and n.number in compared)
    graphs = [JoinGraph(tuple(nodes), stage.graph.edges)]
    for rule in RULES:
        graphs.append(rule(graphs[-1]))
    return tuple(graphs)


def roles(disjunct: Disjunct, number: int) -> tuple[str, ...]:
    """The roles of a pattern node: `output`, `selected`, `compared`; a `filter` if it is no more
    than a condition of the node above it."""
    compared = any(
        number in (edge.left, edge.right)
        for stage in disjunct.operators
        for edge in stage.graph.edges
    )
    holds = {
        "output": number in disjunct.outputs,
        "selected": number in disjunct.selected.values(),
        "compared": compared,
        "filter": number not in disjunct.definitions,
    }
    return tuple(role for role, held in holds.items() if held)


def waiting(stage: JoinOperator) -> tuple[bool, ...]:
    """For each side, whether its documents wait for later ones of the other side; if not, no later
    document asks for them."""
    return tuple(
        len(stage.sides) == 2 and (index == 0 or not stage.constraint.after)
        for index in range(len(stage.sides))
    )
