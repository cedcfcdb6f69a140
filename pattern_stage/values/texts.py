"""Terms and conditions to Python text: the rules of numbers, NaN and missing values.

A comparison is false where a value is missing, or true if that is of an ANY component.  A text is
built from the plan only: a user's text is in it as places.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from xscl.pattern_stage.values.terms import (
    Age,
    Aggregate,
    And,
    Arithmetic,
    Call,
    Column,
    Comparison,
    Constant,
    ForAll,
    Form,
    Length,
    Negative,
    Not,
    Or,
    Predicate,
    Read,
    Register,
    Spread,
    Term,
    TextTest,
    Truth,
    is_number,
)

__all__ = ["NONE", "TermTexts"]

NONE = "None"
"""The text of a missing value."""

_SIMPLE = re.compile(r"[a-z]\w*(\[[^\[\]()]+\])*")

_ORDER = {"<": ("less", 1), "<=": ("at_most", 1), ">": ("less", -1), ">=": ("at_most", -1)}

_TEXTUAL = {
    "canonical": "canonical_url({})",
    "lower-case": "{}.lower()",
    "normalize-space": "normalize_space({})",
    "string": "{}",
    "upper-case": "{}.upper()",
}

_NUMERIC = {"abs": "abs", "max": "greatest", "min": "least"}

_CALLED = {"/": "divide", "%": "remainder"}

_TESTS = {
    "contains": "{1} in {0}",
    "ends-with": "{0}.endswith({1})",
    "matches": "matches({0}, {1})",
    "starts-with": "{0}.startswith({1})",
}


@dataclass(frozen=True, slots=True)
class _Value:
    """A text, and its guards in order: that the values it reads are there."""

    guards: tuple[str, ...]
    text: str
    wild: tuple[str, ...] = ()
    """A condition that makes a comparison true, whatever the guards are."""

    @classmethod
    def of(cls, values: Sequence[_Value], text: str, *guards: str) -> _Value:
        """A text of others, with guards of its own."""
        theirs = tuple(guard for value in values for guard in value.guards)
        wild = tuple(one for value in values for one in value.wild)
        return cls((*theirs, *guards), text, wild)

    def guarded(self, otherwise: str) -> str:
        """The text, or another where something is missing."""
        if NONE in self.guards:
            return otherwise
        guards = " and ".join(dict.fromkeys(self.guards))
        return f"({self.text} if {guards} else {otherwise})" if guards else self.text


class TermTexts(ABC):
    """The texts of one function: a subclass says where to find the values of leaves."""

    @abstractmethod
    def read(self, leaf: Any, form: Form) -> str:
        """An attribute, `Column` or `Read`; None at run time where the event lacks it."""

    @abstractmethod
    def computed(self, leaf: Any) -> str:
        """A number that no event lacks: `Age`, `Aggregate`, `Length`; `Spread`, NaN where it is
        missing."""

    @abstractmethod
    def constant(self, constant: Constant, form: Form) -> str:
        """A constant."""

    @abstractmethod
    def fresh(self) -> str:
        """A variable that is not used yet."""

    def for_all(self, predicate: ForAll) -> str:
        """A predicate over values of several events."""
        raise TypeError("only composites have them")

    def wild(self, leaf: Any) -> bool:
        """Whether a comparison is true whose event lacks this, as in an ANY component."""
        return False

    def present(self, leaf: Any) -> bool:
        """Whether no event lacks this."""
        return isinstance(leaf, Read) and leaf.number

    def condition(self, condition: Iterable[Predicate]) -> str:
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
            case TextTest(function, left, right):
                sides = [self._text(left), self._text(right)]
                holds = _TESTS[function].format(*(side.text for side in sides))
                return _holds(sides, holds)
            case Comparison():
                return self._comparison(predicate)
            case ForAll():
                return self.for_all(predicate)

    def value(self, term: Term) -> str:
        """A term as the JSON value that is stored, None where it is missing."""
        if isinstance(term, Column):
            return self.read(term, Form.VALUE)
        if not is_number(term):
            return self._text(term).guarded(NONE)
        if isinstance(term, Constant):
            return self.constant(term, Form.NUMBER)
        number = self._number(term)
        return _Value(number.guards, f"kept({number.text})").guarded(NONE)

    def filled(self, term: Term) -> str:
        """A term as a number, None where it is none or missing."""
        number = self._number(term)
        text = number.text if _is_filled(term) else f"filled({number.text})"
        return _Value(number.guards, text).guarded(NONE)

    def number(self, term: Term) -> str:
        """A term as a number, NaN where it is none or missing: the value that `number`, and any
        order with a number, compare."""
        return self._number(term).guarded("nan")

    def text(self, term: Term) -> str:
        """A term as a string, None where it is missing."""
        return self._text(term).guarded(NONE)

    def compared(self, term: Term, other: Constant, operator: str) -> str:
        """The value that is compared with a constant, with its number where that is an order of
        `either`: None if it is missing, PASS if that makes the comparison true."""
        if is_number(term) or other.number:
            value = self._number(term)
        else:
            value = self._text(term)
            if operator not in ("=", "!="):
                pair = f"({value.text}, {self._number(term).text})"
                value = _Value(value.guards, pair, value.wild)
        missing = value.guards == (f"{value.text} is not None",)
        text = value.text if missing else value.guarded(NONE)
        return f"(PASS if {' or '.join(value.wild)} else {text})" if value.wild else text

    def _comparison(self, one: Comparison) -> str:
        operator = "==" if one.operator == "=" else one.operator
        if one.mode == "number":
            sides = [self._number(one.left), self._number(one.right)]
            if operator == "!=":
                return _holds(sides, f"differ({sides[0].text}, {sides[1].text})")
        elif one.mode == "text":
            sides = [self._text(one.left), self._text(one.right)]
        else:
            return self._order(one)
        return _holds(sides, f"{sides[0].text} {operator} {sides[1].text}")

    def _order(self, one: Comparison) -> str:
        if one.operator in ("=", "!="):
            raise ValueError(f"{one.operator} is of numbers or of texts")
        name, direction = _ORDER[one.operator]
        terms = (one.left, one.right)[::direction]
        pairs = [(self._text(term), self._number(term)) for term in terms]
        values = [value for pair in pairs for value in pair]
        # A number is there if its text is; its variable is bound by the guard.
        needed = [
            _Value(number.guards if ":=" in "".join(number.guards) else (), "")
            for _, number in pairs
        ]
        holds = f"{name}({', '.join(value.text for value in values)})"
        return _holds([text for text, _ in pairs] + needed, holds)

    def _leaf(self, leaf: Column | Read | Register, form: Form) -> _Value:
        """What is read, with the guard that it is there."""
        text = self.read(leaf, form)
        if self.present(leaf):
            return _Value((), text)
        if text == NONE:
            return _Value((NONE,), NONE)
        if self.wild(leaf):
            return _Value((), text, (f"{text} is None",))
        if _SIMPLE.fullmatch(text):
            return _Value((f"{text} is not None",), text)
        variable = self.fresh()
        return _Value((f"({variable} := {text}) is not None",), variable)

    def _text(self, term: Term) -> _Value:
        match term:
            case Column() | Read() | Register():
                return self._leaf(term, Form.TEXT)
            case Constant():
                return _Value((), self.constant(term, Form.TEXT))
            case Call("concat", arguments):
                values = [self._text(one) for one in arguments]
                variable = self.fresh()
                inside = "".join(f"{value.text}, " for value in values)
                guard = f"({variable} := concatenated(({inside}))) is not None"
                return _Value.of(values, variable, guard)
            case Call(function, arguments) if function in _TEXTUAL:
                values = [self._argument(one) for one in arguments]
                inside = ", ".join(value.text for value in values)
                return _Value.of(values, _TEXTUAL[function].format(inside))
            case _:
                return self._text_of_number(term)

    def _argument(self, term: Term) -> _Value:
        """What a function of a text gets: of a time, too, its text."""
        own = isinstance(term, Read) and term.number
        return self._text_of_number(term) if own else self._text(term)

    def _text_of_number(self, term: Term) -> _Value:
        number = self._kept(term)
        return _Value(number.guards, f"number_text({number.text})")

    def _kept(self, term: Term) -> _Value:
        """A number that is missing where it is not finite."""
        value, variable = self._number(term), self.fresh()
        guard = f"({variable} := kept({value.text})) is not None"
        return _Value.of([value], variable, guard)

    def _number(self, term: Term) -> _Value:
        match term:
            case Column() | Read() | Register():
                return self._leaf(term, Form.NUMBER)
            case Constant():
                return _Value((), self.constant(term, Form.NUMBER))
            case Age() | Aggregate() | Length() | Spread():
                return _Value((), self.computed(term))
            case Negative(operand):
                value = self._number(operand)
                return _Value.of([value], f"(-{value.text})")
            case Arithmetic(operator, left, right):
                values = [self._number(left), self._number(right)]
                texts = [value.text for value in values]
                if operator in _CALLED:
                    return _Value.of(values, f"{_CALLED[operator]}({', '.join(texts)})")
                return _Value.of(values, f"({texts[0]} {operator} {texts[1]})")
            case Call("string-length", (argument,)):
                value = self._text(argument)
                return _Value.of([value], f"len({value.text})")
            case Call("similar", arguments):
                values = [self._argument(one) for one in arguments]
                inside = ", ".join(value.text for value in values)
                return _Value.of(values, f"share({inside})")
            case Call("number", (argument,)):
                return self._number(argument)
            case Call("kept", (argument,)):
                return self._kept(argument)
            case Call(called, arguments) if called in _NUMERIC:
                values = [self._number(one) for one in arguments]
                inside = ", ".join(value.text for value in values)
                return _Value.of(values, f"{_NUMERIC[called]}({inside})")
            case _:
                value = self._text(term)
                return _Value.of([value], f"number_of({value.text})")


def _is_filled(term: Term) -> bool:
    """Whether a term is a number wherever what it reads is there."""
    match term:
        case Constant(number=True) | Register(number=True):
            return True
        case Arithmetic("+" | "-", Register(number=True), Constant(number=True)):
            return True
    return False


def _holds(sides: Sequence[_Value], holds: str) -> str:
    whole = _Value.of(sides, holds)
    if NONE in whole.guards:
        return "False"
    there = f"({' and '.join(dict.fromkeys((*whole.guards, holds)))})"
    wild = dict.fromkeys(whole.wild)
    return f"({' or '.join((*wild, there))})" if wild else there
