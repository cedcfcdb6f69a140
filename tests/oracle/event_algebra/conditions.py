"""Conditions and items with their names resolved, as functions of the events that they see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.oracle.event_algebra import syntax
from tests.oracle.event_algebra.schemas import Refused, Schema
from tests.oracle.event_algebra.syntax import (
    And,
    Compare,
    Condition,
    Dur,
    Function,
    Length,
    Not,
    Number,
    Operation,
    Or,
    Ref,
    Scalar,
    String,
    Test,
    Truth,
)
from tests.oracle.event_algebra.values import (
    MISSING,
    NUMERIC,
    arithmetic,
    called,
    compared,
    tested,
)

__all__ = ["Names", "Seen", "condition", "scalar"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a condition reads: attributes and ages (microseconds) by decorator, None is none."""

    attributes: Mapping[str | None, Mapping[str, Any]]
    ages: Mapping[str | None, int]


Valued = Callable[[Seen], Any]
Holds = Callable[[Seen], bool]


@dataclass
class Names:
    """The schemas of the sides, which learn what is asked of them.

    `computed` are the names of FOLD's third part; over one input there is no `$2`.
    """

    sides: dict[str, Schema]
    computed: tuple[str, ...] | None = None

    def decorated(self, terms: list[Condition | Scalar]) -> None:
        """Requests all decorated names, before any undecorated one is read."""
        for ref in (ref for term in terms for ref in _refs(term)):
            if ref.deco is not None:
                self.read(ref)

    def read(self, ref: Ref) -> tuple[str, str]:
        """The side that a name reads, and its name there."""
        deco = ref.deco or self._side(ref.name)
        if deco == "$":
            if self.computed is None:
                raise Refused("$ outside of FOLD")
            if ref.name in self.computed:
                return "$", ref.name
            self.sides["$1"], name = self.sides["$1"].ask(ref.name)
            return "$", name
        if deco not in self.sides:
            raise Refused(f"{deco} of one input")
        self.sides[deco], name = self.sides[deco].ask(ref.name)
        return deco, name

    def _side(self, name: str) -> str:
        if len(self.sides) == 1:
            return "$1"
        having = [deco for deco, schema in self.sides.items() if schema.has(name)]
        if not having:
            having = [deco for deco, schema in self.sides.items() if schema.open]
        if len(having) != 1:
            raise Refused(f"ambiguous name {name}")
        return having[0]


def _refs(term: Any) -> Iterator[Ref]:
    if isinstance(term, Ref):
        yield term
    elif isinstance(term, tuple):
        for one in term:
            yield from _refs(one)
    elif hasattr(term, "__dataclass_fields__"):
        for name in term.__dataclass_fields__:
            yield from _refs(getattr(term, name))


def scalar(term: Scalar, names: Names) -> Valued:
    match term:
        case Number(value):
            return lambda seen: value
        case String(text):
            return lambda seen: text
        case Length(length):
            return lambda seen: length
        case Dur(deco):
            if deco == "$" and names.computed is None:
                raise Refused("$ outside of FOLD")
            if deco == "$2" and len(names.sides) == 1:
                raise Refused("$2 of one input")
            return lambda seen: seen.ages[deco]
        case Ref():
            side, name = names.read(term)
            return lambda seen: seen.attributes[side].get(name, MISSING)
        case Operation(sign, left, right):
            b = scalar(right, names)
            if left is None:
                # 0 - 0 is 0, but -0 is -0.
                return lambda seen: arithmetic("*", -1.0, b(seen))
            a = scalar(left, names)
            return lambda seen: arithmetic(sign, a(seen), b(seen))
        case Function(name, arguments):
            parts = [scalar(one, names) for one in arguments]
            return lambda seen: called(name, [part(seen) for part in parts])
    raise Refused(f"{term} is no value")


def _numeric(term: Scalar) -> bool:
    match term:
        case Function(name):
            return name in NUMERIC
    return isinstance(term, Number | Operation)


def condition(term: Condition | None, names: Names) -> Holds:
    match term:
        case None:
            return lambda seen: True
        case Truth(value):
            return lambda seen: value
        case Not(operand):
            inner = condition(operand, names)
            return lambda seen: not inner(seen)
        case And(parts):
            every = [condition(part, names) for part in parts]
            return lambda seen: all(part(seen) for part in every)
        case Or(parts):
            every = [condition(part, names) for part in parts]
            return lambda seen: any(part(seen) for part in every)
        case Compare(sign, left, right):
            a, b = scalar(left, names), scalar(right, names)
            numbers = _numeric(left) or _numeric(right) or isinstance(left, Dur)
            numbers = numbers or isinstance(right, Dur)
            return lambda seen: compared(sign, a(seen), b(seen), numbers=numbers)
        case Test(name, left, right):
            a, b = scalar(left, names), scalar(right, names)
            return lambda seen: tested(name, a(seen), b(seen))
    raise AssertionError(syntax, term)
