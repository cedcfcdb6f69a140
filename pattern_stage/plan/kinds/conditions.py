"""Conditions, split by what an index can do with their conjuncts, and compiled.

For a Select: equalities with constants (the predicate index, FR).  For a Sequence or an Iterate:
equalities between an instance and an event (AI), and one upper bound on DUR, by which members are
ordered.  The rest is tested on what the index finds.  Conditions are in normal form: constants are
on the right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xscl.pattern_stage.algebra.compiled import function
from xscl.pattern_stage.algebra.nodes import Condition, Iterate, Select
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.pattern_stage.algebra.texts import SideTexts
from xscl.pattern_stage.values.terms import (
    Age,
    Column,
    Comparison,
    Constant,
    Predicate,
    Term,
    leaves,
)

__all__ = ["Bound", "Equality", "Ordered", "bound_of", "index_of", "joins", "key"]


@dataclass(frozen=True, slots=True)
class Equality:
    """Two terms that must be equal: one of each side."""

    one: Term
    other: Term
    number: bool


@dataclass(frozen=True, slots=True)
class Ordered:
    """A number of an event, and the constant that it is compared with."""

    value: Term
    operator: str
    constant: Term


@dataclass(frozen=True, slots=True)
class Bound:
    """`DUR <= c`, or with `strict` `DUR < c`."""

    place: int
    strict: bool


def _sides(term: Term) -> set[int | str | None]:
    return {leaf.side if isinstance(leaf, Column | Age) else "constant" for leaf in leaves(term)}


def _equalities(condition: Condition) -> tuple[list[Equality], Condition]:
    """Equalities of an event with constants, and the rest of the condition."""
    found, rest = list[Equality](), list[Predicate]()
    for conjunct in condition:
        if isinstance(conjunct, Comparison) and conjunct.operator == "=":
            left, right = conjunct.left, conjunct.right
            if _sides(right) <= {"constant"} and "constant" not in _sides(left):
                found.append(Equality(left, right, conjunct.mode == "number"))
                continue
        rest.append(conjunct)
    return found, tuple(rest)


def index_of(condition: Condition) -> tuple[list[Equality], Ordered | None, Condition]:
    """The conjuncts by which an index finds members: equalities, else an order; and the rest."""
    equal, rest = _equalities(condition)
    if equal:
        return sorted(equal, key=repr), None, rest
    return [], *_orders(rest)


def _orders(condition: Condition) -> tuple[Ordered | None, Condition]:
    """The first conjunct that compares a number of the event with a constant by order, and the
    rest."""
    for place, conjunct in enumerate(condition):
        if isinstance(conjunct, Comparison) and conjunct.operator in ("<", "<=", ">", ">="):
            if conjunct.mode != "number":
                continue
            if _sides(conjunct.right) == {"constant"} and "constant" not in _sides(conjunct.left):
                found = Ordered(conjunct.left, conjunct.operator, conjunct.right)
                return found, condition[:place] + condition[place + 1 :]
    return None, condition


def joins(condition: Condition) -> tuple[list[Equality], Condition]:
    """Equalities of an instance (sides 0 and 2) with the event (side 1), and the rest."""
    found, rest = list[Equality](), list[Predicate]()
    for conjunct in condition:
        if isinstance(conjunct, Comparison) and conjunct.operator == "=":
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
    condition: Condition, everything: Sequence[Predicate | Term]
) -> tuple[Bound | None, Condition]:
    """The upper bound on DUR whose constant is used nowhere else, and the rest."""
    uses = [leaf.place for one in everything for leaf in leaves(one) if isinstance(leaf, Constant)]
    for place, conjunct in enumerate(condition):
        match conjunct:
            case Comparison("<" | "<=" as operator, Age(None), Constant(constant)):
                if uses.count(constant) == 1:
                    rest = condition[:place] + condition[place + 1 :]
                    return Bound(constant, operator == "<"), rest
    return None, condition


def key(
    terms: Sequence[tuple[Term, bool]], texts: SideTexts, parameters: str
) -> Callable[..., Any]:
    """The values of terms, each as a number or not, as one key: None where one is missing or NaN.
    For one term it is its value."""
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
