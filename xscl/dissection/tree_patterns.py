"""Tree patterns: each block of a query as a tree of its steps (section 6.1).

A step becomes a node, with the conditions of its filters and the variables bound to it; a path
or a function in a predicate gives a node of its own for each occurrence.  The nodes that nothing
asks for are no nodes in the end: the first reduction rule removes them, and what they say turns
into filters of the nodes that stay.  Their *definitions* (law 4) are what stage 1 is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from templates import JoinGraph, Node
from templates.reduction import remove_unjoined_leaves
from xpath_stage import Definition
from xpath_stage import Step as PatternStep
from xscl.dissection.open_constants import Open, asked_of_node
from xscl.dissection.xpath_text import (
    compared_with,
    conjuncts_of,
    counts_positions,
    existence,
    is_number,
    tag_test,
)
from xscl.language.checks.check import binds
from xscl.language.normal_form import ConstantTest, Operand
from xscl.language.syntax import Binary, Block, Condition, Function, Path, Step, SubQuery

Axis = Literal["child", "descendant"]

__all__ = ["PatternNode", "TreePatterns", "definitions_of"]


@dataclass(slots=True)
class PatternNode:
    """A step of a block as a node of its tree pattern, and the variables bound to it.

    With `functions` the node's string value is compared under them; the step may then be `.`, a
    node of its own for what is the same node of the document.
    """

    number: int
    block: int
    parent: int | None
    step: Step
    conditions: list[Condition] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    functions: tuple[str, ...] = ()


class TreePatterns:
    """The tree patterns of a query's blocks, as they are read."""

    def __init__(self) -> None:
        self.nodes: list[PatternNode] = []
        self.variables: dict[str, int] = {}

    def block(self, index: int, block: Block | SubQuery) -> int:
        """Adds a block's tree pattern; returns its output node."""
        # A stream alone stands for the root elements of its documents.
        steps = block.steps or (Step("/", "*", None, (), block.at),)
        return self._path(index, None, steps)

    def operand(self, operand: Operand) -> int:
        """The node of a side of a comparison: a variable's, or one of its own for this occurrence
        of a path or of functions."""
        at = self.variables[operand.variable]
        block = self.nodes[at].block
        if operand.steps:
            at = self._path(block, at, operand.steps)
        elif operand.functions:
            at = self._new(block, at, Step("/", ".", None, (), operand.at)).number
        self.nodes[at].functions = operand.functions
        return at

    def test(self, test: ConstantTest) -> None:
        """Pushes a comparison with a constant into the block, as a filter of the node."""
        operand = test.operand
        at = self.variables[operand.variable]
        if operand.steps:
            at = self._path(self.nodes[at].block, at, operand.steps)
        if test.constant is not None:
            self.nodes[at].conditions.append(
                compared_with(operand.functions, test.operator, test.constant, operand.at)
            )

    def _new(self, block: int, parent: int | None, step: Step) -> PatternNode:
        node = PatternNode(len(self.nodes), block, parent, step)
        self.nodes.append(node)
        return node

    def _path(self, block: int, parent: int | None, steps: tuple[Step, ...]) -> int:
        at = parent
        for step in steps:
            if step.test == "." and at is not None:
                # The node itself: what the step says of it, its node says.
                node = self.nodes[at]
            else:
                node = self._new(block, at, step)
            if step.variable is not None:
                node.variables.append(step.variable.text)
                self.variables[step.variable.text] = node.number
            # A position says of `.` that it is the first of one, whatever its siblings.
            alone = step.test == "." and any(map(counts_positions, step.filters))
            conditions: list[Condition] = [] if alone else node.conditions
            for condition in step.filters:
                self._filter(node, condition, conditions)
            if alone:
                itself = Step("/", ".", None, tuple(conditions), step.at)
                node.conditions.append(existence((itself,)))
            at = node.number
        assert at is not None
        return at

    def _filter(self, node: PatternNode, condition: Condition, conditions: list[Condition]) -> None:
        """Adds what a filter of a node binds, and what it asks for to the conditions."""
        conjuncts = list(conjuncts_of(condition))
        binding = [c for c in conjuncts if isinstance(c, Path) and binds(c)]
        if not binding:
            conditions.append(condition)
            return
        rest = [c for c in conjuncts if c not in binding]
        if rest:
            # Together, under one `and`: alone, a number among them would be a position.
            whole: Condition = rest[0]
            for conjunct in rest[1:]:
                whole = Binary("and", whole, conjunct, conjunct.at)
            if is_number(whole):
                whole = Function("boolean", (whole,), whole.at)
            conditions.append(whole)
        for path in binding:
            assert isinstance(path, Path)
            self._path(node.block, node.number, path.steps)


def definitions_of(
    nodes: Sequence[PatternNode], needed: Collection[int]
) -> tuple[dict[int, Definition], list[tuple[int, Open]]]:
    """The definitions of the nodes that the first reduction rule leaves, given those that are
    compared or put out; what it removes are filters.  And the parameters that are left open in
    them, each with its node."""
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
    left_open: list[tuple[int, Open]] = []
    for node in nodes:
        if node.number in left:
            above = () if node.parent is None else definitions[node.parent]
            if node.step.test == ".":
                definitions[node.number] = above
                continue
            conditions = [*node.conditions, *branches.get(node.number, ())]
            tests, opened = asked_of_node(node.step, conditions)
            left_open += ((node.number, one) for one in opened)
            axis: Axis = "child" if node.step.axis == "/" else "descendant"
            step = PatternStep(axis, tag_test(node.step.test), tests)
            definitions[node.number] = (*above, step)
    return definitions, left_open


def _branch(children: dict[int, list[PatternNode]], root: PatternNode) -> Condition:
    """The existence of a node with its conditions and its own branches, as a condition."""

    def step(node: PatternNode) -> Step:
        branches = (existence((step(child),)) for child in children[node.number])
        conditions = (*node.conditions, *branches)
        return Step(node.step.axis, node.step.test, None, conditions, node.step.at)

    return existence((step(root),))
