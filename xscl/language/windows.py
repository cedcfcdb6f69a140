"""Durations: what a window's number and unit come to (language.md, section 3)."""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["NEGATIVE", "TOO_LONG", "is_unit", "microseconds", "no_unit"]

NEGATIVE = "a window cannot be negative; write its length without `-`"
TOO_LONG = "found a window of more than 292,000 years; write `INF` for one without end"

_UNITS = {
    unit: length
    for units, length in (
        ("ms", 1_000),
        ("s sec secs second seconds", 1_000_000),
        ("min mins minute minutes", 60_000_000),
        ("h hour hours", 3_600_000_000),
        ("d day days", 86_400_000_000),
        ("week weeks", 604_800_000_000),
    )
    for unit in units.split()
}

_LONGEST = 2**63 - 1
_NO_LENGTH = re.compile(r"(?:month|mon|year|yr|y)s?", re.IGNORECASE)


def is_unit(word: str) -> bool:
    return word.lower() in _UNITS


def no_unit(word: str) -> str:
    """What to say of a word that is no unit."""
    why = " (it has no fixed length)" if _NO_LENGTH.fullmatch(word) else ""
    units = "ms, s, min, h, days and weeks"
    return f"`{word}` is no unit of a window{why}; the units are {units}"


def microseconds(number: str, unit: str) -> int | None:
    """The length of a window, or None for one that is too long to be counted.

    Rounded down: times are whole microseconds, so nothing else is meant.

    >>> microseconds("1.5", "H")
    5400000000
    """
    whole, _, decimals = number.partition(".")
    whole = whole.lstrip("0")
    # Digits after the twentieth are far below a microsecond, whatever the unit.
    exact = Fraction(f"0{whole[:20]}.{decimals[:20]}0") * _UNITS[unit.lower()]
    return None if len(whole) > 20 or exact > _LONGEST else int(exact)
