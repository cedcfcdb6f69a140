"""The plan of an event query in words: each operator by its sign and its terms, a plan as a tree or
as an expression of the language."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Many

from xscl.event_queries.terms import Known
from xscl.event_queries.wording import OF_ONE, OF_TWO, TermWording, name
from xscl.language.syntax import Block
from xscl.pattern_stage.algebra.nodes import (
    Aggregate,
    Iterate,
    Map,
    Node,
    Select,
    Sequence,
    Source,
    Union,
)
from xscl.printable import printable
from xscl.stream_names import public_name

__all__ = ["PlanWords", "operator_text", "plan_lines"]


class PlanWords:
    """The words for one query's plan."""

    def __init__(self, constants: Many[Known], blocks: Many[Block]) -> None:
        self.constants = constants
        self.blocks = blocks
        self.terms = TermWording(constants)
        # Streams of their own, by their plans; what makes them, in the order in which it was found.
        self.streams: dict[Node, str] = {}

    # Expressions.

    def expression(self, node: Node) -> str:
        """A plan as an expression of the language, each operand in it by its stream."""
        match node:
            case Source(type_):
                block = self.blocks[type_]
                steps = "" if not block.steps else "//…"
                return printable(public_name(block.stream.text)) + steps
            case Select(condition, of):
                return f"FILTER{{{self.terms.condition(condition, OF_ONE)}}}({self.expression(of)})"
            case Map():
                return f"(SELECT {self.terms.listed(node)} FROM {self.expression(node.input)})"
            case _:
                return self.streams.setdefault(node, f"({len(self.streams) + 1})")


def plan_lines(
    root: Node, constants: Many[Known], blocks: Many[Block]
) -> Iterator[tuple[str, Node]]:
    """The operators of a plan as a tree, each with its words."""
    words = PlanWords(constants, blocks)
    left: list[tuple[Node, str, str]] = [(root, "", "")]
    while left:
        node, branch, below = left.pop()
        yield branch + _operator(node, words), node
        under = node.inputs
        for one in reversed(under):
            last = one is under[-1]
            left.append(
                (one, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))
            )


def operator_text(node: Node, constants: Many[Known], blocks: Many[Block]) -> str:
    """An operator alone."""
    return _operator(node, PlanWords(constants, blocks))


def _operator(node: Node, words: PlanWords) -> str:
    terms = words.terms
    match node:
        case Source():
            return words.expression(node)
        case Select(condition):
            return f"σ {terms.condition(condition, OF_ONE)}"
        case Map():
            return f"π {terms.listed(node)}"
        case Union():
            return "∪"
        case Sequence(condition):
            return f"; {terms.condition(condition, OF_TWO)}"
        case Iterate():
            return f"µ {terms.fold(node)}"
        case Aggregate(window, keys, items):
            by = f" by {', '.join(map(name, keys))}" if keys else ""
            return f"α {terms.window(window)}{by}: {terms.items(items, OF_ONE)}"
    raise TypeError(node)
