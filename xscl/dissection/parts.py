"""A dissected query: disjuncts of tree patterns and operators (section 6.1).

A query of one or two blocks has one operator: a filter, or a join with its join graph.  A chain has
one for each of its own, the innermost first.  The matches of an operator are *composites*, which
the operator above joins like documents, by the few nodes that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from xscl.dissection.open_constants import OpenConstant
from xscl.dissection.tree_patterns import PatternNode
from xscl.join_stage import Chain, Plan, TimeConstraint
from xscl.language.syntax import Block, Query
from xscl.stream_names import is_internal
from xscl.templates import JoinGraph
from xscl.xpath_stage import Definition, Spine

__all__ = ["Disjunct", "Dissection", "JoinOperator", "OperatorSide", "SpineAsked"]


@dataclass(frozen=True, slots=True)
class OperatorSide:
    """One side of an operator: a block (`operator` is None), or the matches of an earlier operator
    of the disjunct; `blocks` are the blocks that it covers, in text order."""

    blocks: tuple[int, ...]
    operator: int | None = None

    def __post_init__(self) -> None:
        if not self.blocks or any(one >= after for one, after in pairwise(self.blocks)):
            raise ValueError(f"not blocks in text order: {self.blocks}")
        if (self.operator is None) != (len(self.blocks) == 1):
            raise ValueError("a side is one block, or what an operator found of several")


@dataclass(frozen=True, slots=True)
class JoinOperator:
    """One operator of a disjunct, or its only block.

    `graph` is the join graph over the pattern nodes of its sides, with output nodes kept; `plan`
    evaluates it, `assignment[i]` being the pattern node of the plan's node i.  `columns` are the
    pattern nodes that it passes to the operator above or, the last one, to the matches; the
    operator above compares the string values of those in `valued`.
    """

    sides: tuple[OperatorSide, ...]
    constraint: TimeConstraint
    graph: JoinGraph
    plan: Plan
    assignment: tuple[int, ...]
    columns: tuple[int, ...]
    valued: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.sides) != self.plan.sides:
            raise ValueError(f"the plan has {self.plan.sides} sides, not {len(self.sides)}")
        if any(one >= after for one, after in pairwise(self.blocks)):
            raise ValueError(f"the sides share blocks, or are in another order: {self.blocks}")
        if len(self.assignment) != len(self.plan.graph.nodes):
            raise ValueError("the plan has not as many nodes as are assigned to it")
        if lost := set(self.valued).difference(self.columns):
            raise ValueError(f"valued, but no columns: {sorted(lost)}")

    @property
    def thresholds(self) -> tuple[int, ...]:
        """The thresholds of the plan's likenesses, in millionths; of several for the same nodes,
        the highest."""
        node = self.assignment
        return tuple(
            max(
                one.threshold
                for one in self.graph.edges
                if one.operator == edge.operator
                and {one.left, one.right} == {node[edge.left], node[edge.right]}
            )
            for edge in self.plan.likenesses
        )

    @property
    def blocks(self) -> tuple[int, ...]:
        """The blocks that it covers, in text order."""
        return tuple(block for side in self.sides for block in side.blocks)


@dataclass(frozen=True, slots=True)
class Disjunct:
    """One disjunct of a query: tree patterns and operators, the last of which finds the matches.

    `patterns` are the nodes of all blocks; `outputs` are the blocks' output nodes, `selected` the
    nodes of the variables that the SELECT names.  `definitions` are those of the needed nodes;
    `opened` the constants that are left open in these, each with its node, which is put out, too.
    `labels` are the names of nodes that have any: for each, its first variable's.
    """

    streams: tuple[str, ...]
    patterns: tuple[PatternNode, ...]
    operators: tuple[JoinOperator, ...]
    outputs: tuple[int, ...]
    selected: Mapping[str, int]
    definitions: Mapping[int, Definition]
    opened: tuple[tuple[int, OpenConstant], ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        blocks = tuple(range(len(self.streams)))
        if not self.operators or self.operators[-1].blocks != blocks:
            raise ValueError("the last operator does not cover all blocks")
        if tuple(self.patterns[output].block for output in self.outputs) != blocks:
            raise ValueError("not one output node for each block")
        put_out = {*self.outputs, *self.selected.values(), *(node for node, _ in self.opened)}
        if lost := put_out.difference(self.operators[-1].columns):
            raise ValueError(f"put out, but no columns of the last operator: {sorted(lost)}")
        for number, operator in enumerate(self.operators):
            if any(s.operator is not None and s.operator >= number for s in operator.sides):
                raise ValueError(f"operator {number} joins what a later one finds")
            if unknown := set(operator.assignment).difference(self.definitions):
                raise ValueError(f"nodes without a definition: {sorted(unknown)}")

    def spine(self, operator: JoinOperator, chain: Chain) -> Spine:
        """The spine that stage 1 must find for a chain of an operator's plan, on a block's side."""
        return self.asked(operator, chain).spine(self)

    def asked(self, operator: JoinOperator, chain: Chain) -> SpineAsked:
        """The same without names."""
        nodes = [operator.assignment[node] for node in chain.nodes]
        marks = tuple(len(self.definitions[node]) - 1 for node in nodes)
        leaf = self.patterns[nodes[-1]]
        value = leaf.functions if chain.value else None
        return SpineAsked(leaf.block, leaf.number, marks, value, chain.distinct)


class SpineAsked(NamedTuple):
    """A spine as it is in the disjuncts of all queries that differ in names only: its block, the
    node of its leaf, and all else but its steps."""

    block: int
    leaf: int
    marks: tuple[int, ...]
    value: tuple[str, ...] | None
    distinct: bool

    def spine(self, disjunct: Disjunct) -> Spine:
        """The spine in the names of a disjunct."""
        block, leaf, marks, value, distinct = self
        return Spine(disjunct.streams[block], disjunct.definitions[leaf], marks, value, distinct)


@dataclass(frozen=True, slots=True)
class Dissection:
    """A query as its disjuncts; none if it can never match.

    `streams` are the streams that its blocks read; `subqueries` the dissections of its sub-queries,
    each with the internal stream that its results feed; `publishing` the same of event queries
    written in place in another that also publish.  For a subscribed pattern or event query,
    `compiled` is its compiled form: a CompiledPattern or CompiledEvents.
    """

    query: Query
    streams: tuple[str, ...]
    variables: tuple[str, ...]
    disjuncts: tuple[Disjunct, ...]
    subqueries: tuple[tuple[str, Dissection], ...] = ()
    publishing: tuple[tuple[str, Dissection], ...] = ()
    compiled: object = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if any(disjunct.streams != self.streams for disjunct in self.disjuncts):
            raise ValueError("a disjunct reads other streams than its query")
        internal = [*filter(is_internal, self.streams)]
        # A block alone may be one of a query whose sub-query it reads.
        alone = isinstance(self.query.source, Block)
        if not alone and internal != [stream for stream, _ in self.subqueries]:
            raise ValueError("not one sub-query for each internal stream")

    @property
    def feeds(self) -> str | None:
        """The stream that the query publishes."""
        return None if self.query.publish is None else self.query.publish.text

    def everything(self) -> Iterator[Dissection]:
        """This dissection after the dissections of its sub-queries, the innermost first."""
        for _, inner in (*self.subqueries, *self.publishing):
            yield from inner.everything()
        yield self
