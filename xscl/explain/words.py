"""Words for the parts of a query: its nodes, conditions, blocks and windows.

A node is called by its variable; one without, by the way to it from the next node that has one.
Conditions stand as their writer wrote them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xscl.dissection.parts import Disjunct, Dissection, JoinOperator, OperatorSide
from xscl.dissection.tree_patterns import PatternNode
from xscl.language.syntax import Condition, Function, Literal
from xscl.language.unparse import Wording
from xscl.times import span

__all__ = ["Words", "listed", "numbered", "operator", "plain", "shortened", "within"]


class Words:
    """Words for one disjunct of a query."""

    def __init__(self, dissection: Dissection, disjunct: Disjunct) -> None:
        self._disjunct = disjunct
        self._wording = Wording(dissection.query.text)
        self._results_of = {stream: inner.query.name for stream, inner in dissection.subqueries}

    def stream(self, block: int) -> str:
        """The stream of a block."""
        stream = self._disjunct.streams[block]
        inner = self._results_of.get(stream)
        return f"stream {stream}" if inner is None else f"the results of {plain(inner)}"

    def node(self, number: int) -> str:
        """The name of a node, under the functions on its value."""
        node = self._disjunct.patterns[number]
        return _under(node.functions, self._place(node))

    def nodes(self, numbers: Sequence[int]) -> str:
        """The names of some nodes."""
        return ", ".join(self.node(number) for number in numbers) or "none"

    def step(self, node: PatternNode) -> str:
        """A node of a tree pattern: its axis and test, its variables, its filters."""
        axis = "" if node.step.test == "." and node.parent is not None else node.step.axis
        variables = "".join(f" -> {name}" for name in node.variables)
        filters = "".join(f"[{condition}]" for condition in self.conditions(node))
        step = f"{axis}{plain(self._wording.test(node.step))}{variables}"
        return _under(node.functions, f"{step} {filters}" if filters else step)

    def conditions(self, node: PatternNode) -> list[str]:
        """The filters of a node, without their brackets."""
        return [plain(self._condition(condition)) for condition in node.conditions]

    def side(self, side: OperatorSide) -> str:
        """A side of a stage."""
        if side.operator is None:
            return numbered("block", side.blocks)
        found = ", ".join(str(block + 1) for block in side.blocks)
        return f"what stage {side.operator + 1} found (blocks {found})"

    def stage(self, stage: JoinOperator) -> str:
        """The sides of a stage, its operator and its window."""
        left, right = (self.side(side) for side in stage.sides)
        return f"{left} {operator(stage)} {right}, {within(stage.constraint.window)}"

    def _place(self, node: PatternNode) -> str:
        way = ""
        while not node.variables:
            if node.step.test != "." or node.parent is None:
                way = f"{node.step.axis}{plain(self._wording.test(node.step))}{way}"
            if node.parent is None:
                several = len(self._disjunct.streams) > 1
                return f"{way} of block {node.block + 1}" if several else way
            node = self._disjunct.patterns[node.parent]
        return node.variables[0] + way

    def _condition(self, condition: Condition) -> str:
        match condition:
            # A comparison of a predicate that was pushed into the block (xpath_text.compared_with).
            case Function(
                "compare",
                (_, Literal(str(functions)), Literal(str(sign)), Literal(str(constant))),
            ):
                quoted = constant.replace("'", "''")
                return f"{_under(functions.split(), '.')} {sign} '{quoted}'"
        return self._wording.condition(condition)


def operator(stage: JoinOperator) -> str:
    """The operator of a stage that joins."""
    return "FOLLOWED BY" if stage.constraint.after else "JOIN"


def within(window: int | None) -> str:
    """A window, in microseconds.

    >>> within(604_800_000_000), within(None)
    ('within 7 days', 'at any time')
    """
    return "at any time" if window is None else f"within {span(window)}"


def numbered(noun: str, indices: Sequence[int]) -> str:
    """Things by their numbers, which count from 1.

    >>> numbered("block", (0,)), numbered("block", (0, 2))
    ('block 1', 'blocks 1 and 3')
    """
    numbers = [str(index + 1) for index in indices]
    return f"{noun}{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


def listed(items: Sequence[str]) -> str:
    """
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def shortened(names: Sequence[str], most: int = 5) -> str:
    """Names of queries, some of them if there are many.

    >>> shortened(["q1", "q2", "q3"], most=1)
    'q1 and 2 more'
    """
    if len(names) <= most:
        return listed([plain(name) for name in names])
    return f"{', '.join(map(plain, names[:most]))} and {len(names) - most:,} more"


def plain(text: str) -> str:
    """A text on one line: what cannot be printed is escaped.

    >>> plain("dc creator\\n")
    'dc creator\\\\n'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def _under(functions: Sequence[str], inner: str) -> str:
    for function in functions:
        inner = f"{function}({inner})"
    return inner
