"""The values that conditions and items of event queries have over given events, by their
definitions (patterns-cel.md, section 2), one at a time; no compiled text takes part in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from pattern_stage.algebra import terms
from pattern_stage.algebra.functions import as_json, as_text, greatest, least, matches
from pattern_stage.arithmetic import castable, divide, number_of
from xpath_stage.values import normalize_space
from xscl.documents.attributes import MISSING
from xscl.times import span

__all__ = ["Attributes", "Sight"]

Attributes = Mapping[str, object]
"""JSON values by name; what is missing is not there."""

_COMPARE = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_NUMERIC: dict[str, Callable[..., float]] = {"abs": abs, "max": greatest, "min": least}
_TEXTUAL = {"lower-case": str.lower, "upper-case": str.upper, "normalize-space": normalize_space}


@dataclass(frozen=True, slots=True)
class Sight:
    """What a condition sees: the attributes of each side, how long it lasts (None: the composite),
    and the constants of the query."""

    sides: Mapping[int, Attributes]
    ages: Mapping[int | None, int]
    constants: Sequence[Any]

    # Conditions.

    def holds(self, one: terms.Predicate) -> bool:
        """Whether a condition holds."""
        match one:
            case terms.Truth(value):
                return value
            case terms.Not(operand):
                return not self.holds(operand)
            case terms.And(parts):
                return all(map(self.holds, parts))
            case terms.Or(parts):
                return any(map(self.holds, parts))
            case terms.Test(function, left, right):
                text, other = self.text(left), self.text(right)
                return text is not None and other is not None and _tested(function, text, other)
            case terms.Compare(operator, left, right, mode):
                return self._compared(operator, left, right, mode)

    def _compared(self, sign: str, left: terms.Scalar, right: terms.Scalar, mode: str) -> bool:
        one, other = self.value(left), self.value(right)
        if one is MISSING or other is MISSING:
            return False
        compare = _COMPARE[sign]
        texts = as_text(one) or "", as_text(other) or ""
        numbers = _number(one), _number(other)
        if mode == "either":
            both = castable(texts[0], numbers[0]) and castable(texts[1], numbers[1])
            mode = "number" if both else "text"
        if mode == "text":
            return bool(compare(*texts))
        return numbers[0] == numbers[0] and numbers[1] == numbers[1] and bool(compare(*numbers))

    def shown(self, one: terms.Predicate) -> tuple[list[str], list[str]]:
        """The values on the left and the right of all comparisons in a condition."""
        match one:
            case terms.Truth():
                return [], []
            case terms.Not(operand):
                return self.shown(operand)
            case terms.And(parts) | terms.Or(parts):
                sides = [*map(self.shown, parts)]
                return [v for left, _ in sides for v in left], [v for _, r in sides for v in r]
        ages = isinstance(one.left, terms.Age) or isinstance(one.right, terms.Age)
        left, right = self._shown(one.left, ages=ages), self._shown(one.right, ages=ages)
        return [left], [right]

    def _shown(self, term: terms.Scalar, *, ages: bool) -> str:
        value = self.value(term)
        if ages and isinstance(value, int):
            return span(value)
        return "(none)" if value is MISSING else as_text(value) or ""

    # Values.

    def text(self, term: terms.Scalar) -> str | None:
        """The string value of a term, None where it is missing."""
        value = self.value(term)
        return None if value is MISSING else as_text(value) or ""

    def number(self, term: terms.Scalar) -> float:
        """The number that a term casts to; NaN where there is none."""
        value = self.value(term)
        return nan if value is MISSING else _number(value)

    def kept(self, term: terms.Scalar) -> object:
        """A term as an attribute keeps it."""
        value = self.value(term)
        if isinstance(value, float) and not isfinite(value):
            return MISSING
        return as_json(value)

    def value(self, term: terms.Scalar) -> object:
        """A term; MISSING where something in it is."""
        match term:
            case terms.Constant(place):
                return self.constants[place]
            case terms.Column(side, name):
                return self.sides[side].get(name, MISSING)
            case terms.Age(side):
                return self.ages[side]
            case terms.Negative(operand):
                return MISSING if self.value(operand) is MISSING else -self.number(operand)
            case terms.Operation(operator, left, right):
                if MISSING in (self.value(left), self.value(right)):
                    return MISSING
                return _calculated(operator, self.number(left), self.number(right))
            case terms.Call(function, arguments):
                if any(self.value(one) is MISSING for one in arguments):
                    return MISSING
                return self._called(function, arguments)

    def _called(self, function: str, arguments: Sequence[terms.Scalar]) -> object:
        texts = [self.text(one) or "" for one in arguments]
        if function in _NUMERIC:
            return _NUMERIC[function](*map(self.number, arguments))
        match function:
            case "number":
                return self.number(arguments[0])
            case "string-length":
                return float(len(texts[0]))
            case "concat" | "string":
                return "".join(texts)
        return _TEXTUAL[function](texts[0])


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return number_of(as_text(value) or "")


def _calculated(operator: str, left: float, right: float) -> float:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    return divide(left, right)


def _tested(function: str, text: str, other: str) -> bool:
    match function:
        case "contains":
            return other in text
        case "starts-with":
            return text.startswith(other)
        case "ends-with":
            return text.endswith(other)
    return matches(text, other)
