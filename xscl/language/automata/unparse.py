"""Fences back to text, a conjunct at a time."""

from __future__ import annotations

from typing import Any

from xscl.language.automata.expressions import read_fence
from xscl.language.patterns.unparse import read
from xscl.language.syntax import Call, Either, Every, Not, Truth
from xscl.language.values.unparse import value_text

__all__ = ["conjuncts_of_fence"]


def conjuncts_of_fence(when: str | None) -> tuple[str, ...]:
    """The conjuncts of a fence, none of one that always holds.

    >>> conjuncts_of_fence("e.x > 5 AND (e.y < abs(n) OR NOT e.z = 'a')")
    ('e.x > 5', "e.y < abs(n) OR NOT e.z = 'a'")
    """
    if when is None:
        return ()
    condition, _ = read_fence(when)
    parts = condition.parts if isinstance(condition, Every) else (condition,)
    return tuple(map(_condition, parts))


def _condition(one: Any, *, inner: bool = False) -> str:
    match one:
        case Truth(value):
            return "TRUE" if value else "FALSE"
        case Not(operand):
            return f"NOT {_condition(operand, inner=True)}"
        case Every(parts) | Either(parts):
            word = " AND " if isinstance(one, Every) else " OR "
            text = word.join(_condition(part, inner=True) for part in parts)
            return f"({text})" if inner else text
    return f"{_value(one.left)} {one.operator} {_value(one.right)}"


def _value(one: Any) -> str:
    return value_text(one, _leaf)


def _leaf(one: Any) -> str:
    if isinstance(one, Call):
        return f"{one.function}({', '.join(map(_value, one.arguments))})"
    return read(one)
