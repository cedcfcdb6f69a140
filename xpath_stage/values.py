"""Functions on string values: what a join may compare instead of the value itself.

Section 3 of the language: `lower-case`, `normalize-space` and `number` may wrap a side of a
comparison.  Applied in stage 1, once for each node, they leave an ordinary value join.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from xpath_stage.parsing.json_documents import number_text

__all__ = ["FUNCTIONS", "NOT_A_NUMBER", "apply", "double_of"]

NOT_A_NUMBER = "NaN"
"""The value of `number` for a string that is no number; it equals nothing, not even itself."""

_SPACE = re.compile("[ \\t\\r\\n]+")
_DOUBLE = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?)|([+-]?)INF|(NaN)"
)


_BEGINNINGS = frozenset("0123456789.+-IN \t\r\n")


def double_of(value: str) -> float | None:
    """A string cast as `xs:double`, None where it is not castable.

    >>> double_of(" 7.50 "), double_of("-INF"), double_of("7 days")
    (7.5, -inf, None)
    """
    # Most strings are none, and tell it at once.
    if value[:1] not in _BEGINNINGS:
        return None
    found = _DOUBLE.fullmatch(value.strip(" \t\r\n"))
    if found is None:
        return None
    number, sign, nan = found.groups()
    if number is not None:
        return float(number)
    return float("nan") if nan else float(f"{sign or ''}inf")


def normalize_space(value: str) -> str:
    """White space trimmed, and each run of it a single space."""
    return _SPACE.sub(" ", value).strip(" ")


def number(value: str) -> str:
    """The number that a string is, in its shortest form.

    >>> number(" 7.0 "), number("seven"), number("-INF")
    ('7', 'NaN', '-INF')
    """
    double = double_of(value)
    if double is None:
        return NOT_A_NUMBER
    return number_text(double).replace("Infinity", "INF")


FUNCTIONS: dict[str, Callable[[str], str]] = {
    "lower-case": str.lower,
    "normalize-space": normalize_space,
    "number": number,
}


def apply(functions: Sequence[str], value: str) -> str | None:
    """A value under functions, in order; None if what comes out equals nothing."""
    for function in functions:
        value = FUNCTIONS[function](value)
    if value == NOT_A_NUMBER and functions and functions[-1] == "number":
        return None
    return value
