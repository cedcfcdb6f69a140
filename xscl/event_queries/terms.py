"""From the conditions and values of an event query to terms of the algebra, their constants apart
(docs/semantics.md#names, #refused-event-queries).

How a comparison compares is decided by its form: numbers where one side is a number literal or
computed, else strings, and in an order what both sides are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal as OneOf
from typing import cast

from xscl.event_queries.functions import NUMERIC, OWN, bad_call
from xscl.event_queries.scope import Scope
from xscl.language.checks.functions import NO_PATTERN, bad_pattern
from xscl.language.problems import Problem
from xscl.language.syntax import (
    Arithmetic,
    Call,
    Compared,
    Duration,
    Either,
    EventCondition,
    Every,
    Literal,
    Minus,
    Named,
    Not,
    Parameter,
    PerCent,
    Scalar,
    Star,
    Truth,
    Window,
)
from xscl.pattern_stage.algebra.nodes.aggregate import is_aggregate
from xscl.pattern_stage.values import terms as algebra
from xscl.times import microseconds

__all__ = ["Known", "Open", "Terms", "named_in"]

_NOTHING = algebra.Constant(0, True)
"""Stands where a problem was found."""


@dataclass(frozen=True, slots=True)
class Open:
    """A constant that a parameter leaves open: `make` has it of the parameter's value."""

    name: str
    make: Callable[[object], str | float | int]


Known = str | float | int | Open
"""A constant, or what makes it of a parameter's value."""


def named_in(*parts: EventCondition | Scalar | Star | None) -> Iterator[Named]:
    """The names in conditions and values, in the order of the text."""
    left: list[object] = list(reversed(parts))
    while left:
        match left.pop():
            case Named() as named:
                yield named
            case Compared(_, one, other) | Arithmetic(_, one, other):
                left += (other, one)
            case Call(function, ()) as call if function in OWN:
                yield _own(call)
            case Call(_, some) | Every(some) | Either(some):
                left += reversed(some)
            case Not(operand) | Minus(operand):
                left.append(operand)


@dataclass(slots=True)
class Terms:
    """The constants of a query so far, and its problems."""

    constants: list[Known] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def note(self, at: int, problem: str) -> None:
        """Adds a problem."""
        self.problems.append(Problem(at, problem))

    def constant(self, value: Known, *, number: bool) -> algebra.Constant:
        """A constant at the next place."""
        self.constants.append(value)
        return algebra.Constant(len(self.constants) - 1, number)

    # Conditions.

    def condition(
        self, condition: EventCondition | None, scope: Scope
    ) -> tuple[algebra.Predicate, ...]:
        """The conjuncts of a condition."""
        match condition:
            case None | Truth(True):
                return ()
            case Every(parts):
                return tuple(one for part in parts for one in self.condition(part, scope))
            case _:
                return (self.predicate(condition, scope),)

    def predicate(self, condition: EventCondition, scope: Scope) -> algebra.Predicate:
        """A condition as one predicate."""
        match condition:
            case Compared():
                return self.comparison(condition, scope)
            case Truth(value):
                return algebra.Truth(value)
            case Not(operand):
                return algebra.Not(self.predicate(operand, scope))
            case Every(parts):
                return algebra.And(tuple(self.predicate(part, scope) for part in parts))
            case Either(parts):
                return algebra.Or(tuple(self.predicate(part, scope) for part in parts))
            case Call():
                return self.test(condition, scope)

    def comparison(self, compared: Compared[Scalar], scope: Scope) -> algebra.Predicate:
        """A comparison: of durations, numbers, strings, or what both sides are."""
        sides = (compared.left, compared.right)
        if any(isinstance(side, Duration) for side in sides):
            # An equation is two bounds, of which the upper one says when an instance is evicted.
            if compared.operator == "=":
                parts = (replace(compared, operator="<="), replace(compared, operator=">="))
                return algebra.And(tuple([self.comparison(one, scope) for one in parts]))
            left, right = (self.of_duration(side, scope) for side in sides)
            return algebra.Comparison(compared.operator, left, right, "number")
        mode: OneOf["number", "text", "either"] = "either"
        if any(map(_is_number, sides)):
            mode = "number"
        elif compared.operator in ("=", "!="):
            mode = "text"
        left, right = (self.scalar(side, scope) for side in sides)
        return algebra.Comparison(compared.operator, left, right, mode)

    def of_duration(self, side: Scalar, scope: Scope) -> algebra.Term:
        """DUR, or the duration alongside it, in microseconds."""
        if isinstance(side, Duration):
            return self._or_noted(scope.age(side))
        assert isinstance(side, Window)
        return self.length(side)

    def length(self, window: Window) -> algebra.Constant:
        """A duration in microseconds."""
        if window.parameter is not None:
            make = _Length(window.unit)
            return self.constant(Open(window.parameter.name, make), number=True)
        assert window.length is not None
        return self.constant(window.length, number=True)

    def test(self, call: Call, scope: Scope) -> algebra.Predicate:
        """`contains` and its like."""
        problem = bad_call(call, test=True, aggregate=False)
        if problem is not None:
            self.note(call.at, problem)
            return algebra.Truth(True)
        if call.function == "matches":
            self._pattern(call.arguments[1])
        left, right = (self.scalar(argument, scope) for argument in call.arguments)
        function = cast(OneOf["contains", "starts-with", "ends-with", "matches"], call.function)
        return algebra.TextTest(function, left, right)

    def _pattern(self, pattern: Scalar | Star) -> None:
        match pattern:
            case Literal(value=str(text)):
                if (problem := bad_pattern(text)) is not None:
                    self.note(pattern.at, problem)
            case Parameter():
                return  # It is checked when it is bound.
            case _:
                self.note(pattern.at, NO_PATTERN)

    # Values.

    def scalar(
        self, value: Scalar | Star, scope: Scope, *, aggregate: bool = False
    ) -> algebra.Term:
        """A value; an aggregate may be in it, or not."""
        match value:
            case Literal(constant):
                return self.constant(constant, number=not isinstance(constant, str))
            case Parameter():
                make = _number if value.number else _string
                return self.constant(Open(value.name, make), number=value.number)
            case PerCent():
                return self.constant(_per_cent(value.number), number=True)
            case Named():
                return self._or_noted(scope.column(value))
            case Minus(Literal(float() as number)):
                return self.constant(-number, number=True)
            case Minus(Parameter(name, number=True)):
                return self.constant(Open(name, _negated), number=True)
            case Minus(operand):
                return algebra.Negative(self.scalar(operand, scope, aggregate=aggregate))
            case Arithmetic(operator, left, right):
                assert operator != "%"
                return algebra.Arithmetic(
                    operator,
                    self.scalar(left, scope, aggregate=aggregate),
                    self.scalar(right, scope, aggregate=aggregate),
                )
            case Call():
                return self.call(value, scope, aggregate=aggregate)
            case Star():
                self.note(value.at, "`*` is an item of a list, by itself, or in `COUNT(*)`")
                return _NOTHING
            case Duration() | Window():
                raise AssertionError("DUR and a duration are each other's")

    def call(self, call: Call, scope: Scope, *, aggregate: bool) -> algebra.Term:
        """A function or an aggregate; none of these is in another one."""
        selected = scope.operator == "SELECT"
        problem = bad_call(call, test=False, aggregate=aggregate, selected=selected)
        if problem is not None:
            self.note(call.at, problem)
            return _NOTHING
        if call.function in OWN:
            return self._or_noted(scope.column(_own(call)))
        if is_aggregate(call.function, len(call.arguments)):
            aggregate = False
            if call.function == "count" and isinstance(call.arguments[0], Star):
                return algebra.Call("count", ())
        arguments = (self.scalar(one, scope, aggregate=aggregate) for one in call.arguments)
        return algebra.Call(call.function, tuple(arguments))

    def _or_noted(self, found: algebra.Term | Problem) -> algebra.Term:
        if isinstance(found, Problem):
            self.problems.append(found)
            return _NOTHING
        return found


def _own(call: Call) -> Named:
    """`document()` or `timestamp()` as the name of an attribute."""
    return Named(None, f"{call.function}()", False, call.at)


def _is_number(value: Scalar) -> bool:
    """Whether a side is a number by its form."""
    match value:
        case Literal(constant):
            return not isinstance(constant, str)
        case Parameter():
            return value.number
        case Call(function):
            return function in NUMERIC
        case _:
            return isinstance(value, PerCent | Arithmetic | Minus)


def _per_cent(number: Literal | Parameter) -> float | Open:
    """What stands before `%`: a parameter where texts are equal up to it."""
    if isinstance(number, Parameter):
        return Open(number.name, PerCent.of)
    return PerCent.of(number.value)


def _negated(value: object) -> float:
    return -_number(value)


@dataclass(frozen=True, slots=True)
class _Length:
    """From the number of a duration to microseconds."""

    unit: str

    def __call__(self, value: object) -> int:
        length = microseconds(f"{abs(Decimal(str(value))):f}", self.unit)
        assert length is not None
        return length


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)


def _string(value: object) -> str:
    assert isinstance(value, str)
    return value
