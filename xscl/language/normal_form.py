"""Value-join normal form: a join predicate as a disjunction of conjunctions between nodes.

Section 6.2 of the thesis: every predicate can be rewritten such that it compares variables only.
Here a path from a variable becomes a node of its own for each occurrence, a literal becomes a
filter of the node it is compared with, `OR` splits the query into conjunctive ones, and what
compares two literals is decided immediately.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from xscl.language.checks.likeness import millionths
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
from xscl.templates import flipped
from xscl.xpath_stage import Alike, apply, compared, number_text
from xscl.xpath_stage.texts.likeness import WHOLE

__all__ = [
    "ConstantTest",
    "NodeComparison",
    "Operand",
    "conjunctions",
    "disjuncts",
    "operator_of",
    "side_of",
]


@dataclass(frozen=True, slots=True)
class Operand:
    """A variable, or the nodes of a path from it, under functions (innermost first)."""

    variable: str
    steps: tuple[Step, ...]
    functions: tuple[str, ...]
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class NodeComparison:
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


Conjunct = NodeComparison | ConstantTest


def disjuncts(predicate: Predicate | None) -> list[tuple[Conjunct, ...]]:
    """The conjunctions of which one must hold; none at all if the predicate never holds."""
    found = (
        tuple(dict.fromkeys(conjunct for part in parts for conjunct in part))
        for comparisons in conjunctions(predicate)
        for parts in product(*map(list, map(_compare, comparisons)))
    )
    return list(dict.fromkeys(found))


def conjunctions(predicate: Predicate | None) -> Iterator[tuple[Comparison, ...]]:
    """The conjunctions of which one must hold, of the comparisons as they were written."""
    match predicate:
        case None:
            yield ()
        case Disjunction():
            for part in predicate.parts:
                yield from conjunctions(part)
        case Conjunction():
            for parts in product(*(list(conjunctions(part)) for part in predicate.parts)):
                yield tuple(comparison for part in parts for comparison in part)
        case Comparison():
            yield (predicate,)


def operator_of(comparison: Comparison) -> str:
    """How two values are compared, as `compared` takes it: a likeness with the least that is asked.
    Raises Unbound if that is a parameter."""
    if comparison.least is None:
        return comparison.operator
    if isinstance(comparison.least, Parameter):
        raise Unbound(comparison.least.name)
    return str(Alike(comparison.operator, millionths(comparison.least.value) or WHOLE))


def _compare(comparison: Comparison) -> Iterator[tuple[Conjunct, ...]]:
    left, right = side_of(comparison.left), side_of(comparison.right)
    operator = operator_of(comparison)
    if not isinstance(left, Operand):
        # A constant on the left: decided immediately, or read from the other side.
        if not isinstance(right, Operand):
            if isinstance(left, Parameter):
                raise Unbound(left.name)
            if isinstance(right, Parameter):
                raise Unbound(right.name)
            if compared(left, operator, right):
                yield ()
            return
        left, right, operator = right, left, flipped(operator)
    if isinstance(right, Operand):
        yield (NodeComparison(operator, left, right),)
    elif right is not None or operator == "!=":
        yield (ConstantTest(operator, left, right),)


def side_of(side: Side) -> Operand | Parameter | str | None:
    """An operand, or a constant's string; None is NaN."""
    match side:
        case VariablePath():
            return Operand(side.variable.text, side.steps, (), side.at)
        case Literal(value=str(value)):
            return value
        case Literal(value=value):
            return number_text(float(value))
        case Wrapped():
            inner = side_of(side.operand)
            if isinstance(inner, Operand):
                functions = (*inner.functions, side.function)
                return Operand(inner.variable, inner.steps, functions, inner.at)
            if isinstance(inner, Parameter):
                raise Unbound(inner.name)
            return apply((side.function,), "NaN" if inner is None else inner)
        case Parameter():
            return side
