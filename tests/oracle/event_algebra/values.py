"""Values of attributes, which are JSON's: their texts, their numbers, what is computed of them."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

__all__ = [
    "MISSING",
    "NUMERIC",
    "arithmetic",
    "called",
    "canonical",
    "compared",
    "kept",
    "number_of",
    "tested",
    "text_of",
]

Value = Any
"""What JSON has, a float that may be no finite number, or MISSING."""


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING: Final = _Missing()
NUMERIC = frozenset({"number", "string-length", "abs", "min", "max"})
"""The functions that make a comparison one of numbers."""

_DOUBLE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?INF|NaN", re.ASCII)
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def text_of(value: Value) -> str:
    """The string value, as of a JSON document's node."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            whole = kept(value)
            return json.dumps(whole).replace("e-0", "e-") if whole is not MISSING else "NaN"
        case dict():
            return "".join(text_of(one) for one in value.values())
        case list():
            return "".join(map(text_of, value))
    return str(value)


def number_of(value: Value) -> float:
    """As xs:double casts; NaN where it does not, and where there is none."""
    if value is MISSING:
        return math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    text = text_of(value).strip(" \t\r\n")
    return float(text) if _DOUBLE.fullmatch(text) else math.nan


def kept(value: Value) -> Value:
    """What a computed attribute keeps of a value."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return MISSING
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def canonical(value: Value) -> str:
    """Equal for equal JSON values alone."""
    if value is MISSING:
        return "missing"
    if isinstance(value, dict):
        parts = (f"{name}={canonical(one)}" for name, one in sorted(value.items()))
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(kept(value))


def compared(sign: str, left: Value, right: Value, *, numbers: bool) -> bool:
    """A comparison; `numbers` where it is arithmetic by its form."""
    if left is MISSING or right is MISSING:
        return False
    order = _SIGNS[sign]
    a, b = number_of(left), number_of(right)
    if numbers:
        return not (math.isnan(a) or math.isnan(b)) and order(a, b)
    one, other = text_of(left), text_of(right)
    if sign in ("=", "!="):
        return order(one, other)
    castable = [bool(_DOUBLE.fullmatch(text.strip(" \t\r\n"))) for text in (one, other)]
    if not all(castable):
        return order(one, other)
    return not (math.isnan(a) or math.isnan(b)) and order(a, b)


def tested(name: str, left: Value, right: Value) -> bool:
    """A test of two texts."""
    if left is MISSING or right is MISSING:
        return False
    text, part = text_of(left), text_of(right)
    match name:
        case "contains":
            return part in text
        case "starts-with":
            return text.startswith(part)
        case "ends-with":
            return text.endswith(part)
    return re.search(part, text) is not None


def arithmetic(sign: str, left: Value, right: Value) -> Value:
    """Over xs:double; with a missing operand missing."""
    if left is MISSING or right is MISSING:
        return MISSING
    a, b = number_of(left), number_of(right)
    match sign:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
    if b or math.isnan(a):
        return a / b if b else math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b) if a else math.nan


_TEXTUAL = {"concat", "lower-case", "normalize-space", "string", "string-length", "upper-case"}


def called(name: str, values: Sequence[Value]) -> Value:
    """A function of values; missing where one of them is."""
    if any(value is MISSING for value in values):
        return MISSING
    if name in _TEXTUAL and any(kept(value) is MISSING for value in values):
        return MISSING
    texts = list(map(text_of, values))
    numbers = list(map(number_of, values))
    match name:
        case "string-length":
            return float(len(texts[0]))
        case "lower-case":
            return texts[0].lower()
        case "upper-case":
            return texts[0].upper()
        case "normalize-space":
            return " ".join(re.split(r"[ \t\r\n]+", texts[0].strip(" \t\r\n")))
        case "concat":
            return "".join(texts)
        case "string":
            return texts[0]
        case "number":
            return numbers[0]
        case "abs":
            return abs(numbers[0])
    if any(map(math.isnan, numbers)):
        return math.nan
    return min(numbers) if name == "min" else max(numbers)
