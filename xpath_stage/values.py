"""Functions on string values: what a join may compare instead of the value itself.

Section 3 of the language: `lower-case`, `normalize-space`, `number` and `canonical` may wrap a side
of a comparison.  Applied in stage 1, once for each node, they leave an ordinary value join.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from xscl.xpath_stage.parsing.json_documents import number_text
from xscl.xpath_stage.texts.urls import canonical

__all__ = ["FUNCTIONS", "NOT_A_NUMBER", "apply", "double_of"]

NOT_A_NUMBER = "NaN"
"""The value of `number` for a string that is no number; it equals nothing, not even itself."""

_SPACE = re.compile("[ \\t\\r\\n]+")
_DOUBLE = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?)|([+-]?)INF|(NaN)"
)


_ADDRESS = re.compile("https?://", re.IGNORECASE)

_BEGINNINGS = frozenset("0123456789.+-IN \t\r\n")


def double_of(value: str) -> float | None:
    """A string cast as `xs:double`, None where it is not castable.

    >>> double_of(" 7.50 "), double_of("-INF"), double_of("7 days")
    (7.5, -inf, None)
    """
    # Most strings are no numbers; this test finds most of them.
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
    """The text with white space trimmed and each run of it as a single space."""
    return _SPACE.sub(" ", value).strip(" ")


def canonical_url(value: str) -> str:
    """The canonical form of an http(s) address, around which there may be white space; any other
    text as it is.

    >>> canonical_url(" http://www.a.example/b/?utm_source=feed"), canonical_url("b")
    ('https://a.example/b', 'b')
    """
    if "://" not in value:
        return value
    address = value.strip(" \t\r\n")
    return canonical(address) if _ADDRESS.match(address) else value


def number(value: str) -> str:
    """A string as a number, in its shortest form.

    >>> number(" 7.0 "), number("seven"), number("-INF")
    ('7', 'NaN', '-INF')
    """
    double = double_of(value)
    if double is None:
        return NOT_A_NUMBER
    return number_text(double).replace("Infinity", "INF")


FUNCTIONS: dict[str, Callable[[str], str]] = {
    "canonical": canonical_url,
    "lower-case": str.lower,
    "normalize-space": normalize_space,
    "number": number,
}


def apply(functions: Sequence[str], value: str) -> str | None:
    """A value under functions, in order; None if the result equals nothing."""
    for function in functions:
        value = FUNCTIONS[function](value)
    if value == NOT_A_NUMBER and functions and functions[-1] == "number":
        return None
    return value
