"""Patterns back to text: their values, conditions and components as their writers wrote them.

The law: the printed text parses to the printed tree.
"""

from __future__ import annotations

import re

from xscl.language.checks.names import WORD
from xscl.language.syntax import (
    Aggregate,
    Attribute,
    Block,
    Call,
    Compared,
    Component,
    Equivalence,
    Read,
    Value,
)
from xscl.language.unparse import Wording
from xscl.language.values.unparse import value_text

__all__ = ["PatternWording"]

_WORD = re.compile(WORD)


class PatternWording:
    """Prints the pattern of one query; `text` is what the query was read from."""

    def __init__(self, text: str) -> None:
        self._blocks = Wording(text)

    def component(self, component: Component) -> str:
        """A component as it is in SEQ."""
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


def value(one: Value) -> str:
    """A value of a condition, or of SELECT."""
    return value_text(one, _leaf)


def _leaf(one: Read | Aggregate | Call) -> str:
    match one:
        case Aggregate():
            return f"{one.function}({read(one.read)})"
        case Call():
            return f"{one.function}({', '.join(map(value, one.arguments))})"
    return read(one)


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
