"""Numbers as compiled edges compute with them: xs:double, NaN for a value that is no number.

Nothing raises: x/0 is infinite, 0/0 and x%0 are NaN, and NaN is in no comparison.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import copysign, fmod, inf, isnan, nan

from xscl.xpath_stage import double_of

__all__ = [
    "NAMES",
    "average",
    "castable",
    "number_of",
]


def number_of(text: str) -> float:
    """A string cast to xs:double, NaN where it is not castable.

    >>> number_of(" 7 "), number_of("seven")
    (7.0, nan)
    """
    number = double_of(text)
    return nan if number is None else number


def castable(text: str, number: float) -> bool:
    """Whether a string casts to xs:double, `number` being the result of `number_of`."""
    return number == number or text.strip(" \t\r\n") == "NaN"


def divide(dividend: float, divisor: float) -> float:
    """`dividend / divisor`."""
    if divisor:
        return dividend / divisor
    if not dividend or isnan(dividend):
        return nan
    return copysign(inf, dividend) * copysign(1.0, divisor)


def remainder(dividend: float, divisor: float) -> float:
    """`dividend % divisor`, with the sign of the dividend."""
    if not divisor or dividend in (inf, -inf):
        return nan
    return fmod(dividend, divisor)


def differ(left: float, right: float) -> bool:
    """`left != right` of numbers, false with NaN."""
    return left < right or left > right


def less(left: str, left_number: float, right: str, right_number: float) -> bool:
    """`left < right` of strings: of numbers where both cast, else by codepoint."""
    if left_number == left_number and right_number == right_number:
        return left_number < right_number
    if castable(left, left_number) and castable(right, right_number):
        return False
    return left < right


def at_most(left: str, left_number: float, right: str, right_number: float) -> bool:
    """`left <= right` of strings: of numbers where both cast, else by codepoint."""
    if left_number == left_number and right_number == right_number:
        return left_number <= right_number
    if castable(left, left_number) and castable(right, right_number):
        return False
    return left <= right


# Aggregates as they grow: one more value, None where the event lacks it.


def least(low: float | None, value: float | None) -> float | None:
    """The smaller one; NaN stays."""
    if low is None or value is None:
        return value if low is None else low
    return low if low <= value or low != low else value


def greatest(high: float | None, value: float | None) -> float | None:
    """The greater one; NaN stays."""
    if high is None or value is None:
        return value if high is None else high
    return high if high >= value or high != high else value


def average(total: float, count: int) -> float:
    """`total / count`, NaN for no values."""
    return total / count if count else nan


def aggregate(function: str, values: Iterable[float | None]) -> float:
    """An aggregate over the values of events, None where one lacks it."""
    total, count = 0.0, 0
    low: float | None = None
    high: float | None = None
    for value in values:
        if value is not None:
            total += value
            count += 1
            low, high = least(low, value), greatest(high, value)
    results = {"sum": total, "count": count, "avg": average(total, count), "min": low, "max": high}
    result = results[function]
    return nan if result is None else result


NAMES = {
    "aggregate": aggregate,
    "at_most": at_most,
    "average": average,
    "differ": differ,
    "divide": divide,
    "greatest": greatest,
    "least": least,
    "less": less,
    "nan": nan,
    "remainder": remainder,
}
"""The functions by the names under which compiled text calls them."""
