"""Rewriting of terms: columns replaced, conditions folded and sorted.

A condition is two-valued: a missing value makes an atom false, and NOT negates that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from xscl.pattern_stage.algebra.nodes.select import Condition
from xscl.pattern_stage.values.terms import (
    Age,
    And,
    Call,
    Column,
    Comparison,
    Constant,
    Not,
    Or,
    Predicate,
    Term,
    Truth,
    leaves,
    parts,
    rebuilt,
)

__all__ = ["conjuncts", "kept", "replaced", "size"]

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

_PLACE = re.compile(r"place=\d+")


def size(term: object) -> int:
    """The number of parts of a term."""
    return 1 + sum(map(size, parts(term)))


def replaced(term: Any, by: Callable[[Column | Age], Term]) -> Any:
    """A term or predicate with its reads of events replaced."""
    return rebuilt(term, lambda part: by(part) if isinstance(part, Column | Age) else None)


def conjuncts(condition: Iterable[Predicate]) -> Condition:
    """A condition as conjuncts, without those that are always true; only FALSE where it never
    holds."""
    found: dict[Predicate, None] = {}
    for one in map(_folded, condition):
        found.update(dict.fromkeys(one.parts if isinstance(one, And) else (one,)))
    found.pop(Truth(True), None)
    if Truth(False) in found:
        return (Truth(False),)
    return tuple(sorted(found, key=_rank))


def _folded(predicate: Predicate) -> Predicate:
    match predicate:
        case And(parts):
            return _joined(parts, And)
        case Or(parts):
            return _joined(parts, Or)
        case Not(operand):
            return _negated(_folded(operand))
        case Comparison(operator, left, right, mode):
            if _rank(left) > _rank(right):
                turned: Any = _TURNED.get(operator, operator)
                return Comparison(turned, right, left, mode)
    return predicate


def _negated(predicate: Predicate) -> Predicate:
    match predicate:
        case Truth(value):
            return Truth(not value)
        case Not(operand):
            return operand
        case Or(parts):
            return And(tuple(map(_negated, parts)))
        case And(parts):
            return Or(tuple(map(_negated, parts)))
    return Not(predicate)


def _joined(parts: Iterable[Predicate], kind: type[And | Or]) -> Predicate:
    """AND or OR of folded predicates; one `absorbing` operand decides it."""
    absorbing = Truth(kind is Or)
    found: dict[Predicate, None] = {}
    for one in map(_folded, parts):
        found.update(dict.fromkeys(one.parts if isinstance(one, kind) else (one,)))
    found.pop(Truth(kind is And), None)
    if absorbing in found or not found:
        return absorbing if found else Truth(kind is And)
    if len(found) == 1:
        return next(iter(found))
    return kind(tuple(sorted(found, key=_rank)))


def _rank(term: object) -> tuple[int, str]:
    """Columns first and constants last, in any order among themselves."""
    first = min((one.side or 0 for one in leaves(term) if isinstance(one, Column)), default=3)
    kind = 0 if isinstance(term, Column) else 2 if isinstance(term, Constant) else 1
    return kind, f"{first}{_PLACE.sub('', repr(term))}"


def kept(scalar: Term) -> Term:
    """A computed item as a term reads it: missing where it is no finite number."""
    return Call("kept", (scalar,))
