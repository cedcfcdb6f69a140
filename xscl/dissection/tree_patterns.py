"""Tree patterns: each block of a query as a tree of its steps (section 6.1).

A step becomes a node, with the conditions of its filters and the variables bound to it; a path
or a function in a predicate gives a node of its own for each occurrence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from xscl.dissection.xpath_text import compared_with
from xscl.language.conditions import as_filter, binds, conjuncts_of, counts_positions, existence
from xscl.language.normal_form import ConstantTest, Operand
from xscl.language.syntax import Binary, Block, Condition, Path, Step, SubQuery

__all__ = ["Growing", "PatternNode", "TreePatterns"]


@dataclass(frozen=True, slots=True)
class PatternNode:
    """A step of a block as a node of its tree pattern, and the variables bound to it.

    With `functions` the node's string value is compared under them; the step may then be `.`, a
    separate pattern node for the same node of the document.
    """

    number: int
    block: int
    parent: int | None
    step: Step
    conditions: tuple[Condition, ...] = ()
    variables: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.parent is not None and not 0 <= self.parent < self.number:
            raise ValueError(f"node {self.number} precedes its parent {self.parent}")


class TreePatterns(NamedTuple):
    """The tree patterns of all blocks: the nodes by number, the node of each variable, and the
    output node of each block."""

    nodes: tuple[PatternNode, ...] = ()
    variables: Mapping[str, int] = MappingProxyType({})
    outputs: tuple[int, ...] = ()


class Growing:
    """Tree patterns to which nodes and conditions are added."""

    def __init__(self, patterns: TreePatterns) -> None:
        self._nodes = list(patterns.nodes)
        self._variables = dict(patterns.variables)
        self._outputs = list(patterns.outputs)

    def grown(self) -> TreePatterns:
        """The tree patterns so far."""
        return TreePatterns(tuple(self._nodes), self._variables.copy(), tuple(self._outputs))

    def block(self, index: int, block: Block | SubQuery) -> None:
        """Adds a block's tree pattern."""
        # A stream without a path means the root elements of its documents.
        steps = block.steps or (Step("/", "*", None, (), block.at),)
        self._outputs.append(self._path(index, None, steps))

    def operand(self, operand: Operand) -> int:
        """The node of a side of a comparison: a variable's, or one of its own for this occurrence
        of a path or of functions."""
        at = self._variables[operand.variable]
        block = self._nodes[at].block
        if operand.steps:
            at = self._path(block, at, operand.steps)
        elif operand.functions:
            at = self._new(block, at, Step("/", ".", None, (), operand.at))
        if operand.functions:
            self._nodes[at] = replace(self._nodes[at], functions=operand.functions)
        return at

    def test(self, test: ConstantTest) -> None:
        """Pushes a comparison with a constant into the block, as a filter of the node."""
        operand = test.operand
        at = self._variables[operand.variable]
        if operand.steps:
            at = self._path(self._nodes[at].block, at, operand.steps)
        if test.constant is not None:
            self._ask(
                at, compared_with(operand.functions, test.operator, test.constant, operand.at)
            )

    def _new(self, block: int, parent: int | None, step: Step) -> int:
        number = len(self._nodes)
        self._nodes.append(PatternNode(number, block, parent, step))
        return number

    def _ask(self, number: int, condition: Condition) -> None:
        node = self._nodes[number]
        self._nodes[number] = replace(node, conditions=(*node.conditions, condition))

    def _bind(self, number: int, variable: str) -> None:
        node = self._nodes[number]
        self._nodes[number] = replace(node, variables=(*node.variables, variable))
        self._variables[variable] = number

    def _path(self, block: int, parent: int | None, steps: tuple[Step, ...]) -> int:
        """Adds a path below a node; returns the node of its last step."""
        at = parent
        for step in steps:
            # `.` is the node itself: the conditions of the step are the node's.
            if at is None or step.test != ".":
                at = self._new(block, at, step)
            if step.variable is not None:
                self._bind(at, step.variable.text)
            # In a position, `.` is the first of one, whatever its siblings.
            alone = step.test == "." and any(map(counts_positions, step.filters))
            asked_alone: list[Condition] = []
            for condition in step.filters:
                asked, binding = _split(condition)
                if asked is not None:
                    if alone:
                        asked_alone.append(asked)
                    else:
                        self._ask(at, asked)
                for path in binding:
                    self._path(block, at, path.steps)
            if alone:
                itself = Step("/", ".", None, tuple(asked_alone), step.at)
                self._ask(at, existence((itself,)))
        assert at is not None
        return at


def _split(condition: Condition) -> tuple[Condition | None, list[Path]]:
    """A filter without its conjuncts that bind variables, and these: paths."""
    conjuncts = list(conjuncts_of(condition))
    binding = [one for one in conjuncts if isinstance(one, Path) and binds(one)]
    if not binding:
        return condition, []
    rest = [one for one in conjuncts if one not in binding]
    if not rest:
        return None, binding
    # Joined by one `and`: by itself, a number among them would be a position.
    whole: Condition = rest[0]
    for conjunct in rest[1:]:
        whole = Binary("and", whole, conjunct, conjunct.at)
    return as_filter(whole), binding
