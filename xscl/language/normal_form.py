"""Value-join normal form: a join predicate as a disjunction of conjunctions between nodes.

Section 6.2 of the thesis: every predicate can be rewritten such that it compares variables only.
Here a path from a variable becomes a node of its own for each occurrence, a literal becomes a
filter of the node it is compared with, `OR` splits the query into conjunctive ones, and what
compares two literals is decided at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from templates import FLIPPED
from xpath_stage import apply, compared, number_text
from xscl.language.problems import Unbound
from xscl.language.syntax import (
    Comparison,
    Conjunction,
    Disjunction,
    Literal,
    Parameter,
    Predicate,
    Side,
    Step,
    VariablePath,
    Wrapped,
)

__all__ = ["ConstantTest", "Join", "Operand", "disjuncts"]


@dataclass(frozen=True, slots=True)
class Operand:
    """A variable, or the nodes of a path from it, under functions (innermost first)."""

    variable: str
    steps: tuple[Step, ...]
    functions: tuple[str, ...]
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Join:
    """A comparison of two nodes."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class ConstantTest:
    """A comparison of a node with a constant, read from the node's side.

    None is NaN: whatever exists is unequal to it, and nothing compares with it otherwise.  A
    parameter that is left open stands for a constant's string.
    """

    operator: str
    operand: Operand
    constant: str | Parameter | None


Conjunct = Join | ConstantTest


def disjuncts(predicate: Predicate | None) -> list[tuple[Conjunct, ...]]:
    """The conjunctions of which one must hold; none at all if the predicate never holds."""
    if predicate is None:
        return [()]
    found = (tuple(dict.fromkeys(conjuncts)) for conjuncts in _expand(predicate))
    return list(dict.fromkeys(found))


def _expand(predicate: Predicate) -> Iterator[tuple[Conjunct, ...]]:
    match predicate:
        case Disjunction():
            for part in predicate.parts:
                yield from _expand(part)
        case Conjunction():
            for parts in product(*(list(_expand(part)) for part in predicate.parts)):
                yield tuple(conjunct for part in parts for conjunct in part)
        case Comparison():
            yield from _compare(predicate)


def _compare(comparison: Comparison) -> Iterator[tuple[Conjunct, ...]]:
    left, right = _side(comparison.left), _side(comparison.right)
    operator = comparison.operator
    if not isinstance(left, Operand):
        # A constant on the left: decided at once, or read from the other side.
        if not isinstance(right, Operand):
            if isinstance(left, Parameter):
                raise Unbound(left.name)
            if isinstance(right, Parameter):
                raise Unbound(right.name)
            if compared(left, operator, right):
                yield ()
            return
        left, right, operator = right, left, FLIPPED[operator]
    if isinstance(right, Operand):
        yield (Join(operator, left, right),)
    elif right is not None or operator == "!=":
        yield (ConstantTest(operator, left, right),)


def _side(side: Side) -> Operand | Parameter | str | None:
    """An operand, or a constant's string; None is NaN."""
    match side:
        case VariablePath():
            return Operand(side.variable.text, side.steps, (), side.at)
        case Literal(value=str(value)):
            return value
        case Literal(value=value):
            return number_text(float(value))
        case Wrapped():
            inner = _side(side.operand)
            if isinstance(inner, Operand):
                functions = (*inner.functions, side.function)
                return Operand(inner.variable, inner.steps, functions, inner.at)
            if isinstance(inner, Parameter):
                raise Unbound(inner.name)
            return apply((side.function,), "NaN" if inner is None else inner)
        case Parameter():
            return side
