"""Terms under another: columns replaced, conditions folded and put in an order of their own.

A condition is over two values: what is missing makes an atom false, and NOT turns that round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from pattern_stage.algebra.nodes.select import Condition
from pattern_stage.algebra.terms import (
    Age,
    And,
    Call,
    Column,
    Compare,
    Constant,
    Not,
    Or,
    Predicate,
    Scalar,
    Truth,
    rebuilt,
)

__all__ = ["conjuncts", "kept", "leaves", "replaced", "size"]

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

_PLACE = re.compile(r"place=\d+")


def leaves(term: object) -> Iterator[Column | Age | Constant]:
    """What a term or a predicate reads."""
    if isinstance(term, Column | Age | Constant):
        yield term
    else:
        for part in _parts(term):
            yield from leaves(part)


def size(term: object) -> int:
    """How many parts a term has."""
    return 1 + sum(map(size, _parts(term)))


def _parts(term: object) -> Iterator[object]:
    if isinstance(term, tuple):
        yield from term
    elif is_dataclass(term):
        for field in fields(term):
            value = getattr(term, field.name)
            if isinstance(value, tuple) or is_dataclass(value):
                yield value


def replaced(term: Any, by: Callable[[Column | Age], Scalar]) -> Any:
    """A term or predicate with what it reads of events replaced."""
    return rebuilt(term, lambda part: by(part) if isinstance(part, Column | Age) else None)


def conjuncts(condition: Iterable[Predicate]) -> Condition:
    """A condition without what is always true, its AND taken apart; FALSE alone where it never
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
        case Compare(operator, left, right, mode):
            if _rank(left) > _rank(right):
                turned: Any = _TURNED.get(operator, operator)
                return Compare(turned, right, left, mode)
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
    """AND or OR of what is folded; `absorbing` decides it alone."""
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
    """Columns first and constants last, whichever these are."""
    first = min((one.side or 0 for one in leaves(term) if isinstance(one, Column)), default=3)
    kind = 0 if isinstance(term, Column) else 2 if isinstance(term, Constant) else 1
    return kind, f"{first}{_PLACE.sub('', repr(term))}"


def kept(scalar: Scalar) -> Scalar:
    """A computed item as a term reads it: missing where it is no finite number."""
    return Call("kept", (scalar,))
