"""The values of terms and conditions over given events, by their definitions
(docs/semantics.md#values-and-missing-attributes, #sets-of-events), one at a time; no compiled text
is involved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import isfinite, nan
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from xscl.pattern_stage.algebra.functions import as_json, as_text, greatest, least, matches
from xscl.pattern_stage.values.numbers import castable, divide, number_of, remainder
from xscl.pattern_stage.values.terms import (
    MISSING,
    And,
    Arithmetic,
    Call,
    Comparison,
    Constant,
    ForAll,
    Leaf,
    Negative,
    Not,
    Or,
    Predicate,
    Term,
    TextTest,
    Truth,
    leaves,
)
from xscl.xpath_stage.texts.likeness import share
from xscl.xpath_stage.values import canonical_url, normalize_space

__all__ = ["Interpreter"]

_COMPARE = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_NUMERIC: dict[str, Callable[..., float]] = {"abs": abs, "max": greatest, "min": least}
_TEXTUAL = {
    "canonical": canonical_url,
    "lower-case": str.lower,
    "normalize-space": normalize_space,
    "upper-case": str.upper,
}


class Interpreter(ABC):
    """Evaluates conditions; a subclass has the values of leaves, and the constants of the query."""

    constants: Sequence[Any]

    @abstractmethod
    def leaf(self, leaf: Leaf) -> object:
        """The value of a leaf that is no constant; MISSING where its event lacks it."""

    def lenient(self, leaf: Leaf) -> bool:
        """Whether a comparison is true when this is missing, as in an ANY component."""
        return False

    # Conditions.

    def holds(self, one: Predicate) -> bool:
        """Whether a condition holds."""
        match one:
            case Truth(value):
                return value
            case Not(operand):
                return not self.holds(operand)
            case And(parts):
                return all(map(self.holds, parts))
            case Or(parts):
                return any(map(self.holds, parts))
            case TextTest(function, left, right):
                text, other = self.text(left), self.text(right)
                return text is not None and other is not None and _tested(function, text, other)
            case Comparison(operator, left, right, mode):
                return self._compared(operator, left, right, mode)
            case ForAll():
                return self.for_all(one)

    def for_all(self, one: ForAll) -> bool:
        """Whether a predicate holds for all values of its ranges."""
        raise TypeError("only composites have them")

    def _compared(self, sign: str, left: Term, right: Term, mode: str) -> bool:
        if any(map(self.lenient, leaves((left, right)))):
            return True
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

    # Values.

    def text(self, term: Term) -> str | None:
        """The string value of a term, None where it is missing."""
        value = self.value(term)
        return None if value is MISSING else as_text(value) or ""

    def number(self, term: Term) -> float:
        """The number that a term casts to; NaN where there is none."""
        value = self.value(term)
        return nan if value is MISSING else _number(value)

    def kept(self, term: Term) -> object:
        """A term as an attribute stores it."""
        value = self.value(term)
        if isinstance(value, float) and not isfinite(value):
            return MISSING
        return as_json(value)

    def value(self, term: Term) -> object:
        """A term; MISSING where a part of it is."""
        match term:
            case Constant(place):
                return self.constants[place]
            case Negative(operand):
                return MISSING if self.value(operand) is MISSING else -self.number(operand)
            case Arithmetic(operator, left, right):
                if MISSING in (self.value(left), self.value(right)):
                    return MISSING
                return _calculated(operator, self.number(left), self.number(right))
            case Call(function, arguments):
                if any(self.value(one) is MISSING for one in arguments):
                    return MISSING
                return self._called(function, arguments)
            case _:
                return self.leaf(term)

    def _called(self, function: str, arguments: Sequence[Term]) -> object:
        texts = [self.text(one) or "" for one in arguments]
        if function in _NUMERIC:
            return _NUMERIC[function](*map(self.number, arguments))
        match function:
            case "kept":
                number = self.number(arguments[0])
                return number if isfinite(number) else MISSING
            case "number":
                return self.number(arguments[0])
            case "string-length":
                return float(len(texts[0]))
            case "similar":
                return share(*texts)
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
        case "%":
            return remainder(left, right)
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
