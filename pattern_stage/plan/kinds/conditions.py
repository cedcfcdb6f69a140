"""Conditions taken apart by what an index can do with their conjuncts, and compiled.

Of a Select: equalities with constants (the predicate index, FR).  Of a Sequence or an Iterate:
equalities between an instance and an event (AI), and one upper bound on DUR, by which members are
ordered.  The rest is tested on what these leave.  Conditions are in normal form: constants stand on
the right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pattern_stage.algebra.compiled import function
from pattern_stage.algebra.nodes import Condition, Iterate, Select
from pattern_stage.algebra.nodes import Sequence as Following
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
from pattern_stage.algebra.texts import Texts

__all__ = ["Bound", "Equality", "Ordered", "bound_of", "equalities", "joins", "key", "orders"]


@dataclass(frozen=True, slots=True)
class Equality:
    """Two terms that must be equal: of the one side and of the other."""

    one: Scalar
    other: Scalar
    number: bool


@dataclass(frozen=True, slots=True)
class Ordered:
    """A number of an event, and the constant that it is compared with."""

    value: Scalar
    operator: str
    constant: Scalar


@dataclass(frozen=True, slots=True)
class Bound:
    """`DUR <= c`, or with `strict` `DUR < c`."""

    place: int
    strict: bool


def leaves(term: Scalar | Predicate) -> Iterator[Constant | Column | Age]:
    """What a term or a predicate is made of."""
    match term:
        case Constant() | Column() | Age():
            yield term
        case Negative(operand) | Not(operand):
            yield from leaves(operand)
        case Operation(_, left, right) | Compare(_, left, right) | Test(_, left, right):
            yield from leaves(left)
            yield from leaves(right)
        case Call(_, parts) | And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case Truth():
            return


def _sides(term: Scalar) -> set[int | str | None]:
    return {"constant" if isinstance(leaf, Constant) else leaf.side for leaf in leaves(term)}


def equalities(condition: Condition) -> tuple[list[Equality], Condition]:
    """Equalities of an event with constants, and what is left of the condition."""
    found, rest = list[Equality](), list[Predicate]()
    for conjunct in condition:
        if isinstance(conjunct, Compare) and conjunct.operator == "=":
            left, right = conjunct.left, conjunct.right
            if _sides(right) <= {"constant"} and "constant" not in _sides(left):
                found.append(Equality(left, right, conjunct.mode == "number"))
                continue
        rest.append(conjunct)
    return found, tuple(rest)


def orders(condition: Condition) -> tuple[Ordered | None, Condition]:
    """The first conjunct that compares a number of the event with a constant by order, and what is
    left."""
    for place, conjunct in enumerate(condition):
        if isinstance(conjunct, Compare) and conjunct.operator in ("<", "<=", ">", ">="):
            if conjunct.mode != "number":
                continue
            if _sides(conjunct.right) == {"constant"} and "constant" not in _sides(conjunct.left):
                found = Ordered(conjunct.left, conjunct.operator, conjunct.right)
                return found, condition[:place] + condition[place + 1 :]
    return None, condition


def joins(condition: Condition) -> tuple[list[Equality], Condition]:
    """Equalities of an instance (sides 0 and 2) with the event (side 1), and what is left."""
    found, rest = list[Equality](), list[Predicate]()
    for conjunct in condition:
        if isinstance(conjunct, Compare) and conjunct.operator == "=":
            left, right = _sides(conjunct.left), _sides(conjunct.right)
            if left and left <= {0, 2} and right == {1}:
                found.append(Equality(conjunct.left, conjunct.right, conjunct.mode == "number"))
                continue
            if right and right <= {0, 2} and left == {1}:
                found.append(Equality(conjunct.right, conjunct.left, conjunct.mode == "number"))
                continue
        rest.append(conjunct)
    return found, tuple(rest)


def bound_of(
    condition: Condition, everything: Sequence[Predicate]
) -> tuple[Bound | None, Condition]:
    """The upper bound on DUR whose constant stands nowhere else, and what is left."""
    uses = [leaf.place for one in everything for leaf in leaves(one) if isinstance(leaf, Constant)]
    for place, conjunct in enumerate(condition):
        match conjunct:
            case Compare("<" | "<=" as operator, Age(None), Constant(constant)):
                if uses.count(constant) == 1:
                    rest = condition[:place] + condition[place + 1 :]
                    return Bound(constant, operator == "<"), rest
    return None, condition


def key(terms: Sequence[tuple[Scalar, bool]], texts: Texts, parameters: str) -> Callable[..., Any]:
    """The values of terms, each as a number or not, as one key: None where one is missing or NaN.
    Of one term it is its value."""
    names, guards = list[str](), list[str]()
    for place, (term, number) in enumerate(terms):
        name = f"k{place}"
        names.append(name)
        if number:
            guards.append(f"({name} := {texts.number(term)}) == {name}")
        else:
            guards.append(f"({name} := {texts.text(term)}) is not None")
    value = names[0] if len(names) == 1 else f"({', '.join(names)})"
    return function(parameters, f"{value} if {' and '.join(guards)} else None")


def without(node: Select | Following | Iterate, condition: Condition) -> Any:
    """A node with another condition."""
    return replace(node, condition=condition)
