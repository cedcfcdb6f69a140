"""The functions that compiled conditions and items call: JSON values as texts and numbers, tests.

Nothing raises.  A number that is none is NaN during computation, and missing when it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from json import dumps
from math import inf, isfinite, isnan, nan
from typing import Any

import re2

from xscl.pattern_stage.layouts import SLOTS
from xscl.pattern_stage.values import numbers
from xscl.pattern_stage.values.terms import NULL
from xscl.xpath_stage import double_of, number_text
from xscl.xpath_stage.texts.likeness import share
from xscl.xpath_stage.values import canonical_url, normalize_space

__all__ = ["NAMES", "as_json", "as_number", "as_text", "entry", "number_of"]

_EXACT = 2**53

_LONG = 1_000
"""Longer texts are not cached."""

_LONGEST = 100_000
"""The maximal number of characters of a result of `concat`."""


def number_of(text: str) -> float:
    """A string cast to xs:double, NaN where it is not castable."""
    return _known_number_of(text) if len(text) <= _LONG else _number_of(text)


def _number_of(text: str) -> float:
    number = double_of(text)
    return nan if number is None else number


_known_number_of = lru_cache(maxsize=100_000)(_number_of)


def concatenated(texts: tuple[str, ...]) -> str | None:
    """The texts joined; missing where they are too long, since 30 nested `concat(a, a)` make
    gigabytes."""
    return "".join(texts) if sum(map(len, texts)) <= _LONGEST else None


def as_text(value: object) -> str | None:
    """The string value of a JSON value, None for a missing value.

    >>> as_text(7.0), as_text("7.0"), as_text(True), as_text({"a": 1, "b": [2, 3]})
    ('7', '7.0', 'true', '123')
    """
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return number_text(value)
        case int():
            return str(value)
        case Mapping():
            return "".join(_member(one) for one in value.values())
        case list() | tuple():
            return "".join(as_text(one) or "" for one in value)
        case _:
            return ""


def _member(value: object) -> str:
    if isinstance(value, list | tuple):
        return "".join(as_text(one) or "" for one in value)
    return as_text(value) or ""


def as_number(value: object) -> float | None:
    """The number that a JSON value casts to, NaN if it does not, None for a missing value."""
    if type(value) is float:
        return value
    text = as_text(value)
    return None if text is None else number_of(text)


def entry(value: object) -> object:
    """A value as it is read from a document: of an array the first entry, None (missing) of an
    empty one."""
    if not isinstance(value, list | tuple):
        return value
    if not value:
        return None
    return NULL if value[0] is None else value[0]


def as_json(value: object) -> object:
    """A value as a result has it: whole numbers below 2^53 without a fraction, null as None."""
    if type(value) is float and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return None if value is NULL else value


def kept(number: float) -> float | None:
    """A computed number as it is stored: None if it is none."""
    return number if isfinite(number) else None


def finite(value: Any) -> Any:
    """A value of a group as it is stored: None if it is a number, and not finite."""
    return None if isinstance(value, float) and not isfinite(value) else value


@lru_cache(maxsize=10_000)
def _pattern(pattern: str) -> object:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def matches(text: str, pattern: str) -> bool:
    """Whether a part of a text matches; nothing does where RE2 refuses the pattern."""
    compiled = _pattern(pattern)
    return compiled is not None and compiled.search(text) is not None  # type: ignore[attr-defined]


def least(*numbers: float) -> float:
    """The least, NaN where one is NaN."""
    return nan if any(one != one for one in numbers) else min(numbers)


def greatest(*numbers: float) -> float:
    """The greatest, NaN where one is NaN."""
    return nan if any(one != one for one in numbers) else max(numbers)


# Values of aggregates, None where an event lacks one.


def exact(number: float) -> tuple[int, int] | float | None:
    """A number of SUM as n and s of n / 2^s; an infinite one unchanged.

    >>> exact(0.75), exact(float("nan"))
    ((3, 2), None)
    """
    if isfinite(number):
        numerator, denominator = number.as_integer_ratio()
        return numerator, denominator.bit_length() - 1
    return None if isnan(number) else number


def ordered(number: float, sign: int) -> tuple[float, float] | None:
    """A number of MIN (sign 1) or MAX (-1): the smallest key is the best."""
    return None if isnan(number) else (sign * number, number)


def arranged(number: float, sign: int, text: str | None, value: object) -> Any:
    """A value of ARGMIN (sign 1) or ARGMAX (-1): of several best the one whose value is first by
    `rank`, any before a missing one.  So the choice depends only on the values."""
    if isnan(number):
        return None
    value = finite(value)
    return (sign * number, value is None, "" if value is None else text or "", *rank(value)), value


def rank(value: object) -> tuple[int, str]:
    """The order of values that are equal as text: numbers, booleans, null, strings, arrays,
    objects; of these last two the smallest JSON text.

    >>> sorted(["3", [[3]], 3, [3], ["3"]], key=rank)
    [3, '3', ['3'], [3], [[3]]]
    """
    if isinstance(value, bool):
        return 1, ""
    if isinstance(value, int | float):
        return 0, ""
    if isinstance(value, str):
        return 3, ""
    if isinstance(value, list | tuple | Mapping):
        text = dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)
        return 5 if isinstance(value, Mapping) else 4, text
    return 2, ""


# Composites (`composites`).


def chained(event: Any, of: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
    """What a function makes of the events of a chain, in order."""
    parts = list[tuple[Any, ...]]()
    while event is not None:
        parts.append(of(event[SLOTS]))
        event = event[SLOTS + 1]
    return tuple([one for part in reversed(parts) for one in part])


def last_of(some: tuple[Any, ...]) -> Any:
    """The last one; None of none."""
    return some[-1] if some else None


def spread(some: tuple[Any, ...], others: tuple[Any, ...]) -> float:
    """From the first start to the last end of events; NaN unless there are some of either."""
    if not some or not others:
        return nan
    return max(some[-1][1], others[-1][1]) - min(some[0][0], others[0][0])  # type: ignore[no-any-return]


NAMES = {
    "NULL": NULL,
    "arranged": arranged,
    "as_number": as_number,
    "as_text": as_text,
    "at_most": numbers.at_most,
    "canonical_url": canonical_url,
    "chained": chained,
    "concatenated": concatenated,
    "differ": numbers.differ,
    "divide": numbers.divide,
    "entry": entry,
    "exact": exact,
    "finite": finite,
    "greatest": greatest,
    "inf": inf,
    "kept": kept,
    "last_of": last_of,
    "least": least,
    "less": numbers.less,
    "matches": matches,
    "nan": nan,
    "normalize_space": normalize_space,
    "number_of": number_of,
    "number_text": number_text,
    "ordered": ordered,
    "share": share,
    "spread": spread,
}
"""The functions by the names under which compiled text calls them."""
