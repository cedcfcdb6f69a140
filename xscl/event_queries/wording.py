"""Terms of the algebra in the words of the language, with the constants of one query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from xscl.event_queries.terms import Known, Open
from xscl.pattern_stage.algebra.nodes import Item, Iterate, Map
from xscl.pattern_stage.algebra.nodes.aggregate import is_aggregate
from xscl.pattern_stage.values.terms import (
    RANGES,
    Age,
    And,
    Arithmetic,
    Call,
    Column,
    Comparison,
    Constant,
    ForAll,
    Negative,
    Not,
    Or,
    Predicate,
    Term,
    TextTest,
    Truth,
)
from xscl.printable import printable

__all__ = ["OF_ONE", "OF_TWO", "TermWording", "length", "name"]

OF_ONE: Mapping[int, str] = {0: ""}
"""The decorators of the sides of an operator with one input."""

OF_TWO: Mapping[int, str] = {0: "$1.", 1: "$2.", 2: "$."}

_WORD = re.compile(r"[^\W\d]\w*")
_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2}
_UNITS = (
    (604_800_000_000, "weeks"),
    (86_400_000_000, "days"),
    (3_600_000_000, "h"),
    (60_000_000, "min"),
    (1_000_000, "s"),
    (1_000, "ms"),
)
_AS_SAID: Mapping[float, str] = {86_400_000_000: "1 day", 604_800_000_000: "7 days"}


def length(microseconds: float) -> str:
    """A duration as a query has it.

    >>> length(600_000_000), length(1_500_000), length(0), length(86_400_000_000)
    ('10 min', '1500 ms', '0 s', '1 day')
    """
    if not microseconds:
        return "0 s"
    if microseconds in _AS_SAID:
        return _AS_SAID[microseconds]
    for unit, word in _UNITS:
        if microseconds % unit == 0:
            return f"{microseconds // unit:g} {word}"
    return f"{microseconds / 1_000_000:g} s"


def name(written: str) -> str:
    """The name of an attribute, in quotes where it is no word."""
    if _WORD.fullmatch(written):
        return printable(written)
    return "'" + printable(written.replace("'", "''")).replace("\n", " ") + "'"


class TermWording:
    """Words for the terms of one query."""

    def __init__(self, constants: Sequence[Known]) -> None:
        self._constants = constants

    def condition(self, conjuncts: Sequence[Predicate], sides: Mapping[int, str]) -> str:
        """Conjuncts, as one condition."""
        if len(conjuncts) == 1:
            return self.predicate(conjuncts[0], sides)
        return " AND ".join(self.predicate(one, sides, 2) for one in conjuncts) or "TRUE"

    def predicate(self, one: Predicate, sides: Mapping[int, str], tightness: int = 0) -> str:
        """A predicate, in parentheses where it binds less than what it is in."""
        match one:
            case Comparison(operator, left, right):
                ages = isinstance(left, Age) or isinstance(right, Age)
                first, second = (self.scalar(side, sides, age=ages) for side in (left, right))
                return f"{first} {operator} {second}"
            case TextTest(function, left, right):
                return f"{function}({self.scalar(left, sides)}, {self.scalar(right, sides)})"
            case Truth(value):
                return "TRUE" if value else "FALSE"
            case Not(operand):
                return f"NOT {self.predicate(operand, sides, 3)}"
            case And(parts) | Or(parts):
                level = 2 if isinstance(one, And) else 1
                word = " AND " if isinstance(one, And) else " OR "
                text = word.join(self.predicate(part, sides, level + 1) for part in parts)
                return f"({text})" if level < tightness else text
            case ForAll(ranges, part):
                said = dict(sides)
                for place, range_ in enumerate(ranges, RANGES):
                    word = "ALL" if range_.which == "all" else "PREV"
                    said[place] = f"{word} {sides[range_.side]}"
                return self.predicate(part, said, tightness)

    def scalar(
        self, one: Term, sides: Mapping[int, str], tightness: int = 0, *, age: bool = False
    ) -> str:
        """A value."""
        match one:
            case Constant(place):
                return self.constant(self._constants[place], age=age)
            case Column(side, of):
                return sides[side] + name(of)
            case Age(side):
                return "DUR" if side is None else f"{sides[side]}DUR"
            case Negative(operand):
                inner = self.scalar(operand, sides, 3)
                return f"- {inner}" if inner.startswith("-") else f"-{inner}"
            case Arithmetic(operator, left, right):
                level = _LEVELS[operator]
                sign = operator if level == 2 else f" {operator} "
                first = self.scalar(left, sides, level)
                text = f"{first}{sign}{self.scalar(right, sides, level + 1)}"
                return f"({text})" if level < tightness else text
            case Call("kept", (inner,)):
                # What a list computes, where a condition reads it (normal form).
                return self.scalar(inner, sides, tightness)
            case Call(function, arguments):
                if function == "count" and not arguments:
                    return "COUNT(*)"
                shown = function.upper() if is_aggregate(function, len(arguments)) else function
                return f"{shown}({', '.join(self.scalar(each, sides) for each in arguments)})"
        raise TypeError(one)

    def constant(self, value: Known, *, age: bool = False) -> str:
        """A constant; alongside DUR, and of WINDOW, a duration."""
        match value:
            case Open(of):
                return f":{of}"
            case str():
                return "'" + printable(value.replace("'", "''")).replace("\n", " ") + "'"
            case _ if age:
                return length(value)
            case _:
                number = cast(float, value)
                return str(int(number)) if number == int(number) else repr(number)

    def window(self, place: int | None) -> str:
        """The length of a window, which is the constant at a place."""
        return "INF" if place is None else self.constant(self._constants[place], age=True)

    def listed(self, node: Map) -> str:
        """A list of SELECT."""
        return ", ".join(["*"] * node.star + [self.items(node.items, OF_ONE)] * bool(node.items))

    def fold(self, node: Iterate) -> str:
        """What is in FOLD's braces."""
        parts = [self.condition(one, OF_TWO) for one in (node.condition, node.continuing)]
        return ", ".join(parts + [self.items(node.aggregates, OF_TWO)] * bool(node.aggregates))

    def items(self, items: Sequence[Item], sides: Mapping[int, str]) -> str:
        """The items of a list."""
        return ", ".join(
            name(alias)
            if isinstance(one, Column) and one.name == alias and not sides[one.side]
            else f"{self.scalar(one, sides)} AS {name(alias)}"
            for alias, one in items
        )
