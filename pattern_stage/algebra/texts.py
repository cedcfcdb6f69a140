"""Terms and conditions to Python text, over `a`, `b`, `i` (sides 0, 1, 2) and the constants `c`.

A text is built from the plan alone: what a user wrote is in it as places.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pattern_stage.algebra.layout import Layout
from pattern_stage.algebra.nodes import Condition, Node
from pattern_stage.algebra.nodes.iterate import Iterate, Iteration
from pattern_stage.algebra.reading import MISSING, Reading, is_number
from pattern_stage.algebra.terms import (
    Age,
    And,
    Call,
    Column,
    Compare,
    Constant,
    Negative,
    Not,
    Operation,
    Or,
    Predicate,
    Scalar,
    Test,
    Truth,
)
from pattern_stage.pattern import Form

__all__ = ["Reader", "Texts"]

_SIMPLE = re.compile(r"[a-z]\w*(\[\d+\])*")

_ORDER = {"<": ("less", 1), "<=": ("at_most", 1), ">": ("less", -1), ">=": ("at_most", -1)}

_TEXTUAL = {
    "lower-case": "{}.lower()",
    "normalize-space": "normalize_space({})",
    "string": "{}",
    "upper-case": "{}.upper()",
}

_NUMERIC = {"abs": "abs", "max": "greatest", "min": "least"}

_TESTS = {
    "contains": "{1} in {0}",
    "ends-with": "{0}.endswith({1})",
    "matches": "matches({0}, {1})",
    "starts-with": "{0}.startswith({1})",
}


class Reader(Protocol):
    """What a side is: a node, or an iteration."""

    def read(self, name: str, form: Form, event: str, reading: Reading) -> str:
        """The text that reads an attribute of an event."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A text, and what must hold before it, in order: that what it reads is there."""

    guards: tuple[str, ...]
    text: str

    def guarded(self, otherwise: str) -> str:
        """The text, or another where something is missing."""
        if MISSING in self.guards:
            return otherwise
        guards = " and ".join(dict.fromkeys(self.guards))
        return f"({self.text} if {guards} else {otherwise})" if guards else self.text


class Texts:
    """The texts of one function; `sides` are the nodes by side, with their variables."""

    def __init__(self, sides: Mapping[int, tuple[Reader, str]], layout: Layout) -> None:
        self.sides, self.reading = sides, Reading(layout)

    @classmethod
    def over(cls, node: Node, layout: Layout) -> Texts:
        """Over one event, `a`: of a Select's input, or a Map's."""
        return cls({0: (node, "a")}, layout)

    @classmethod
    def between(cls, left: Node, right: Node, layout: Layout) -> Texts:
        """Over two events, `a` and `b`: of a Sequence."""
        return cls({0: (left, "a"), 1: (right, "b")}, layout)

    @classmethod
    def within(cls, node: Iterate, first: bool, layout: Layout) -> Texts:
        """Over `a`, `b` and an iteration `i`; in the `first`, `$` is the left event `a`."""
        latest: tuple[Reader, str] = (node.left, "a") if first else (Iteration(node), "i")
        return cls({0: (node.left, "a"), 1: (node.right, "b"), 2: latest}, layout)

    def condition(self, condition: Condition) -> str:
        """All conjuncts."""
        return " and ".join(map(self.predicate, condition)) or "True"

    def predicate(self, predicate: Predicate) -> str:
        """A predicate, in parentheses where it needs them."""
        match predicate:
            case Truth(value):
                return str(value)
            case Not(operand):
                return f"(not {self.predicate(operand)})"
            case And(parts):
                return f"({' and '.join(map(self.predicate, parts))})"
            case Or(parts):
                return f"({' or '.join(map(self.predicate, parts))})"
            case Test(function, left, right):
                sides = [self._text(left), self._text(right)]
                holds = _TESTS[function].format(*(side.text for side in sides))
                return _holds(sides, holds)
            case Compare():
                return self._comparison(predicate)

    def value(self, scalar: Scalar) -> str:
        """A term as the JSON value that is kept, None where it is missing."""
        if isinstance(scalar, Column):
            return self.read(scalar, Form.VALUE)
        if not is_number(scalar):
            return self._text(scalar).guarded(MISSING)
        if isinstance(scalar, Constant):
            return f"c[{scalar.place}]"
        number = self._number(scalar)
        return _Value(number.guards, f"kept({number.text})").guarded(MISSING)

    def number(self, scalar: Scalar) -> str:
        """A term as a number, NaN where it is none or missing: what `number`, and any order with
        a number, compare."""
        return self._number(scalar).guarded("nan")

    def text(self, scalar: Scalar) -> str:
        """A term as a string, None where it is missing."""
        return self._text(scalar).guarded(MISSING)

    def read(self, column: Column, form: Form) -> str:
        """An attribute, None where it is missing."""
        side, event = self.sides[column.side]
        return side.read(column.name, form, event, self.reading)

    def age(self, age: Age) -> str:
        """A duration in microseconds."""
        if age.side is None:
            last = self.sides[1 if 1 in self.sides else 0][1]
            return f"({last}[1] - {self.sides[0][1]}[0])"
        event = self.sides[age.side][1]
        return f"({event}[1] - {event}[0])"

    def _comparison(self, one: Compare) -> str:
        operator = "==" if one.operator == "=" else one.operator
        if one.mode == "number":
            sides = [self._number(one.left), self._number(one.right)]
            if (
                operator == "!="
                and not isinstance(one.left, Age)
                and not isinstance(one.right, Age)
            ):
                return _holds(sides, f"differ({sides[0].text}, {sides[1].text})")
        elif one.mode == "text":
            sides = [self._text(one.left), self._text(one.right)]
        else:
            return self._order(one)
        return _holds(sides, f"{sides[0].text} {operator} {sides[1].text}")

    def _order(self, one: Compare) -> str:
        if one.operator in ("=", "!="):
            raise ValueError(f"{one.operator} is of numbers or of texts")
        name, direction = _ORDER[one.operator]
        terms = (one.left, one.right)[::direction]
        pairs = [(self._text(term), self._number(term)) for term in terms]
        values = [value for pair in pairs for value in pair]
        return _holds(values, f"{name}({', '.join(value.text for value in values)})")

    def _leaf(self, text: str) -> _Value:
        """What is read, with the guard that it is there."""
        if text == MISSING:
            return _Value((MISSING,), MISSING)
        if _SIMPLE.fullmatch(text):
            return _Value((f"{text} is not None",), text)
        variable = self.reading.fresh()
        return _Value((f"({variable} := {text}) is not None",), variable)

    def _text(self, scalar: Scalar) -> _Value:
        match scalar:
            case Column():
                return self._leaf(self.read(scalar, Form.TEXT))
            case Constant(place, is_float):
                return _Value((), f"number_text(c[{place}])" if is_float else f"c[{place}]")
            case Call("concat", arguments):
                values = [self._text(one) for one in arguments]
                variable = self.reading.fresh()
                inside = "".join(f"{value.text}, " for value in values)
                guard = f"({variable} := concatenated(({inside}))) is not None"
                return _Value((*_guards(values), guard), variable)
            case Call(function, arguments) if function in _TEXTUAL:
                values = [self._text(one) for one in arguments]
                inside = ", ".join(value.text for value in values)
                return _Value(_guards(values), _TEXTUAL[function].format(inside))
            case _:
                number = self._kept(scalar)
                return _Value(number.guards, f"number_text({number.text})")

    def _kept(self, scalar: Scalar) -> _Value:
        """A number that is missing where it is not finite."""
        value, variable = self._number(scalar), self.reading.fresh()
        guard = f"({variable} := kept({value.text})) is not None"
        return _Value((*value.guards, guard), variable)

    def _number(self, scalar: Scalar) -> _Value:
        match scalar:
            case Column():
                return self._leaf(self.read(scalar, Form.NUMBER))
            case Constant(place, is_float):
                return _Value((), f"c[{place}]" if is_float else f"number_of(c[{place}])")
            case Age():
                return _Value((), self.age(scalar))
            case Negative(operand):
                value = self._number(operand)
                return _Value(value.guards, f"(-{value.text})")
            case Operation(operator, left, right):
                values = [self._number(left), self._number(right)]
                texts = [value.text for value in values]
                if operator == "/":
                    return _Value(_guards(values), f"divide({', '.join(texts)})")
                return _Value(_guards(values), f"({texts[0]} {operator} {texts[1]})")
            case Call("string-length", (argument,)):
                value = self._text(argument)
                return _Value(value.guards, f"len({value.text})")
            case Call("number", (argument,)):
                return self._number(argument)
            case Call("kept", (argument,)):
                return self._kept(argument)
            case Call(called, arguments) if called in _NUMERIC:
                values = [self._number(one) for one in arguments]
                name = _NUMERIC[called]
                inside = ", ".join(value.text for value in values)
                return _Value(_guards(values), f"{name}({inside})")
            case _:
                value = self._text(scalar)
                return _Value(value.guards, f"number_of({value.text})")


def _guards(values: list[_Value]) -> tuple[str, ...]:
    return tuple(guard for value in values for guard in value.guards)


def _holds(sides: list[_Value], holds: str) -> str:
    guards = _guards(sides)
    if MISSING in guards:
        return "False"
    return f"({' and '.join(dict.fromkeys((*guards, holds)))})"
