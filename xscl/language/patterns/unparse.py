"""Patterns back to text: their values, conditions and components as their writers wrote them.

The law: the printed text parses to the printed tree.
"""

from __future__ import annotations

import re

from xscl.language.checks.names import WORD
from xscl.language.syntax import (
    Aggregate,
    Arithmetic,
    Attribute,
    Block,
    Compared,
    Component,
    Equivalence,
    Literal,
    Minus,
    Parameter,
    PerCent,
    Read,
    Value,
)
from xscl.language.unparse import Wording, literal

__all__ = ["PatternWording"]

_WORD = re.compile(WORD)
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}


class PatternWording:
    """Prints the pattern of one query; `text` is what the query was read from."""

    def __init__(self, text: str) -> None:
        self._blocks = Wording(text)

    def component(self, component: Component) -> str:
        """A component as it stands in SEQ."""
        types = ", ".join(map(self.type, component.types))
        variable = "" if component.variable is None else f" {component.variable.text}"
        plus = "+" if component.plus else ""
        brackets = "[]" if plus and variable else ""
        return (
            ("!" if component.negated else "")
            + (f"ANY({types})" if component.any else types)
            + plus
            + variable
            + brackets
        )

    def type(self, block: Block) -> str:
        """A type: a stream, in quotes where it is no name, and a path."""
        return self._blocks.block(block)

    def atom(self, atom: Compared[Value] | Equivalence) -> str:
        """A comparison, or a test in brackets."""
        if isinstance(atom, Compared):
            return f"{value(atom.left)} {atom.operator} {value(atom.right)}"
        return f"[{attribute(atom.attribute)}{_against(atom)}]"


def _against(test: Equivalence) -> str:
    match test.constant:
        case None:
            return ""
        case Attribute():
            return f" = {attribute(test.constant)}"
        case _:
            return f" = {value(test.constant)}"


def value(one: Value, tightness: int = 0) -> str:
    """A value of a condition, or of SELECT."""
    match one:
        case Literal():
            return literal(one)
        case PerCent(number):
            return f"{literal(number)}%"
        case Parameter(name):
            return f":{name}"
        case Read():
            return read(one)
        case Aggregate(function, of):
            return f"{function}({read(of)})"
        case Minus(operand):
            inner = value(operand, 3)
            # `--` would begin a comment.
            return f"- {inner}" if inner.startswith("-") else f"-{inner}"
        case Arithmetic(operator, left, right):
            level = _LEVELS[operator]
            # A `/` that touches a name would be a step, a `%` behind a number per cent.
            text = f"{value(left, level)} {operator} {value(right, level + 1)}"
            return (
                f"( {text})"
                if level < tightness and text.startswith(":")
                else (f"({text})" if level < tightness else text)
            )


def read(one: Read) -> str:
    """A read."""
    if one.variable is None:
        assert one.attribute is not None
        return attribute(one.attribute)
    index = "" if one.index is None else f"[{one.index}]"
    if one.attribute is None:
        return one.variable.text + index
    return f"{one.variable.text}{index}.{attribute(one.attribute)}"


def attribute(one: Attribute) -> str:
    """An attribute of an event, without its variable."""
    steps = [_named(step, quoted=one.quoted and not place) for place, step in enumerate(one.steps)]
    xml = [] if one.attribute is None else [f"@{one.attribute}"]
    return "/".join(steps + xml)


def _named(step: str, *, quoted: bool) -> str:
    if quoted or _WORD.fullmatch(step) is None:
        return "'" + step.replace("'", "''") + "'"
    return step
