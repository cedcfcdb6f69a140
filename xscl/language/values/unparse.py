"""Conditions and values back to text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xscl.language.syntax import Arithmetic, Either, Every, Literal, Minus, Not, Parameter, PerCent
from xscl.language.unparse import literal

__all__ = ["condition_text", "value_text"]

_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}


def condition_text(one: Any, atom: Callable[[Any], str], tightness: int = 0) -> str:
    """A condition, in parentheses where it is looser than it must be: 1 alongside OR, 2 alongside
    AND, 3 behind NOT; `atom` writes what is between these."""
    match one:
        case Not(operand):
            text = condition_text(operand, atom, 3)
            # Before an operator NOT is a name.
            return f"NOT ({text})" if text.startswith("-") else f"NOT {text}"
        case Every(parts) | Either(parts):
            word, level = (" OR ", 1) if isinstance(one, Either) else (" AND ", 2)
            text = word.join(condition_text(part, atom, level) for part in parts)
            # `(:` would begin a comment.
            return f"( {text})" if level <= tightness else text
    return atom(one)


def value_text(one: Any, leaf: Callable[[Any], str], tightness: int = 0) -> str:
    """A value, in parentheses where it is looser than it must be; `leaf` writes what the languages
    do not share."""
    match one:
        case Literal():
            return literal(one)
        case PerCent(number):
            return f"{literal(number)}%"
        case Parameter(name):
            return f":{name}"
        case Minus(operand):
            inner = value_text(operand, leaf, 3)
            # `--` would begin a comment.
            return f"- {inner}" if inner.startswith("-") else f"-{inner}"
        case Arithmetic(operator, left, right):
            level = _LEVELS[operator]
            # A `/` that touches a name would be a step, a `%` behind a number per cent.
            text = (
                f"{value_text(left, leaf, level)} {operator} {value_text(right, leaf, level + 1)}"
            )
            if level >= tightness:
                return text
            # `(:` would begin a comment.
            return f"( {text})" if text.startswith(":") else f"({text})"
    return leaf(one)
