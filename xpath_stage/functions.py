"""The functions of filters that XPath 1.0 lacks, for libxml2 to call.

They accept the arguments that XPath 1.0 functions accept: a node set counts as its first node's
string value, a number or a boolean as its string.  `compare` is a join's comparison with a constant
(docs/semantics.md#predicates: by number where both sides are doubles, else by codepoint), which
XPath 1.0 cannot express.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from lxml import etree

from xscl.xpath_stage.parsing.documents import string_value
from xscl.xpath_stage.parsing.json_documents import number_text
from xscl.xpath_stage.texts.likeness import MEASURES, alike_of, share
from xscl.xpath_stage.values import apply, double_of

__all__ = ["EXTENSIONS", "compared"]

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compared(left: str | None, order: str, right: str | None) -> bool:
    """A comparison of two string values; None is a value that equals nothing (NaN).

    >>> compared("10", ">", "9"), compared("10", ">", "9 "), compared("10", ">", "9 days")
    (True, True, False)
    """
    if order in ("=", "!="):
        return (left is not None and left == right) == (order == "=")
    if left is None or right is None:
        return False
    alike = alike_of(order)
    if alike is not None:
        return alike.holds(left, right)
    holds = _ORDERS[order]
    numbers = double_of(left), double_of(right)
    if numbers[0] is not None and numbers[1] is not None:
        # Python, like XPath, orders NaN neither before nor after a number.
        return holds(numbers[0], numbers[1])
    return holds(left, right)


def _string(value: object) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, etree._Element):
        return string_value(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    return str(value)


@lru_cache(maxsize=10_000)
def _pattern(pattern: str) -> Any:
    import re2  # most filters have no `matches`

    return re2.compile(pattern)


def _ends_with(_: object, text: object, end: object) -> bool:
    return _string(text).endswith(_string(end))


def _matches(_: object, text: object, pattern: object) -> bool:
    return _pattern(_string(pattern)).search(_string(text)) is not None


def _lower_case(_: object, text: object) -> str:
    return _string(text).lower()


def _upper_case(_: object, text: object) -> str:
    return _string(text).upper()


def _similar(_: object, one: object, other: object, measure: object = MEASURES[0]) -> float:
    return share(_string(one), _string(other), _string(measure))


def _compare(_: object, text: object, functions: object, order: object, constant: object) -> bool:
    left = apply(_string(functions).split(), _string(text))
    return compared(left, _string(order), _string(constant))


EXTENSIONS = {
    (None, "ends-with"): _ends_with,
    (None, "matches"): _matches,
    (None, "lower-case"): _lower_case,
    (None, "upper-case"): _upper_case,
    (None, "similar"): _similar,
    (None, "compare"): _compare,
}
"""For `lxml.etree.XPath(…, extensions=EXTENSIONS)`; names without a namespace."""
