"""The places of a query's parameters: what stands there with a value, and which values cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from functools import lru_cache
from typing import Any

from xscl.language.checks.check import LATE_POSITION
from xscl.language.checks.functions import NO_PATTERN, bad_pattern
from xscl.language.syntax import JSONConstant, Literal, Window
from xscl.times import NEGATIVE, NO_LENGTH, TOO_LONG, microseconds

__all__ = ["Blank", "Use", "Value"]

Value = str | int | float


class Use(Enum):
    """The use of a parameter."""

    CONSTANT = auto()
    JSON = auto()
    PATTERN = auto()
    LATE_FILTER = auto()
    WINDOW = auto()
    WITHIN = auto()


@dataclass(frozen=True, slots=True)
class Blank:
    """The place of a constant; `unit` is that of a window."""

    name: str
    at: int
    use: Use
    unit: str

    def make(self, values: Mapping[str, Any], nodes: list[Any]) -> object:
        """The node that stands here with some values."""
        value: Value = values[self.name]
        match self.use:
            case Use.WINDOW | Use.WITHIN:
                return Window(_length(value, self.unit), self.at, None, self.unit)
            case Use.JSON:
                return JSONConstant(value, self.at)
            case _:
                return Literal(value if isinstance(value, str) else float(value), self.at)

    def refusal(self, value: object) -> str | None:
        """The problem of a value in this place."""
        match self.use, value:
            case Use.JSON, _:
                return None
            case _, int() if value != float(value):
                return (
                    f"the parameter `:{self.name}` is compared as a double, which has not all "
                    f"digits of {value}; give it as a string"
                )
            case Use.PATTERN, str():
                return bad_pattern(value)
            case Use.PATTERN, _:
                return NO_PATTERN
            case Use.LATE_FILTER, int() | float():
                return LATE_POSITION
            case ((Use.WINDOW | Use.WITHIN), str()):
                return f"the parameter `:{self.name}` takes the number of a window, found a string"
            case ((Use.WINDOW | Use.WITHIN), int() | float()):
                if value < 0:
                    return NEGATIVE
                length = _length(value, self.unit)
                if length == 0 and self.use is Use.WITHIN:
                    return NO_LENGTH
                return TOO_LONG if length is None else None
            case _:
                return None


@lru_cache(maxsize=1024)
def _length(value: Any, unit: str) -> int | None:
    # All its digits, without an exponent.
    return microseconds(f"{abs(Decimal(str(value))):f}", unit)
