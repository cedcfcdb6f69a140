"""A value against the constants of many queries at once: the queries whose comparison holds.

Queries are bits of a mask.  An equality is one look into a dictionary, an order one bisection of
the sorted constants, whose masks are joined up once for each gap between two.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any, Literal

from pattern_stage.arithmetic import castable, number_of

__all__ = ["PASS", "Each", "Gate", "Operator"]

Operator = Literal["=", "!=", "<", "<=", ">", ">="]

PASS = object()
"""The value of an ANY component's event that lacks what is compared: it passes all gates."""


class Gate:
    """`value operator constant` for the constants of many queries.

    Values are floats where `number`; else strings for `=` and `!=`, and for an order pairs of a
    string and the number that it casts to (NaN if none).
    """

    mask: Callable[[Any], int]
    """The queries whose comparison holds of a value."""

    def __init__(self, operator: Operator, number: bool) -> None:
        self._all = 0
        ordered = operator not in ("=", "!=")
        if not ordered:
            self._equal: dict[object, int] = {}
            self.mask = self._of_equal if operator == "=" else self._of_different
        else:
            self._numbers = _Order(operator)
            self.mask = self._numbers.mask if number else self._of_strings
            if not number:
                self._strings, self._words = _Order(operator), _Order(operator)
        self._ordered, self._number = ordered, number

    def add(self, bit: int, constant: str | float) -> None:
        """A query's constant."""
        constant = self._cast(constant)
        if constant != constant:
            return
        self._all |= bit
        if not self._ordered:
            self._equal[constant] = self._equal.get(constant, 0) | bit
        elif self._number:
            self._numbers.add(bit, constant)
        else:
            assert isinstance(constant, str)
            number = number_of(constant)
            self._strings.add(bit, constant)
            if castable(constant, number):
                self._numbers.add(bit, number)
            else:
                self._words.add(bit, constant)

    def remove(self, bit: int, constant: str | float) -> None:
        """Takes a query's constant away."""
        constant = self._cast(constant)
        self._all &= ~bit
        if not self._ordered:
            rest = self._equal.get(constant, 0) & ~bit
            if rest:
                self._equal[constant] = rest
            else:
                self._equal.pop(constant, None)
        else:
            orders = (
                (self._numbers,) if self._number else (self._numbers, self._strings, self._words)
            )
            for order in orders:
                order.remove(bit)

    def _cast(self, constant: str | float) -> str | float:
        return number_of(constant) if self._number and isinstance(constant, str) else constant

    def _of_equal(self, value: object) -> int:
        return self._equal.get(value, 0)

    def _of_different(self, value: object) -> int:
        return self._all & ~self._equal.get(value, 0) if value == value else 0

    def _of_strings(self, value: tuple[str, float]) -> int:
        text, number = value
        if castable(text, number):
            return self._numbers.mask(number) | self._words.mask(text)
        return self._strings.mask(text)


class Each:
    """A condition over constants of many queries: tested once for all that have the same."""

    def __init__(self, holds: Callable[..., bool]) -> None:
        self._holds = holds
        self._masks: dict[tuple[str | float, ...], int] = {}

    def add(self, bit: int, constants: tuple[str | float, ...]) -> None:
        """A query's constants."""
        given = tuple(form for one in constants for form in _forms(one))
        self._masks[given] = self._masks.get(given, 0) | bit

    def remove(self, bit: int) -> None:
        """Takes a query's constants away."""
        masks = ((given, mask & ~bit) for given, mask in self._masks.items())
        self._masks = {given: mask for given, mask in masks if mask}

    def mask(self, arguments: tuple[Any, ...]) -> int:
        """The queries for which it holds."""
        found = 0
        for given, mask in self._masks.items():
            if self._holds(given, *arguments):
                found |= mask
        return found


def _forms(constant: str | float) -> tuple[str | float, float]:
    return constant, number_of(constant) if isinstance(constant, str) else constant


class _Order:
    """`value operator constant` where both are numbers, or both strings."""

    def __init__(self, operator: Operator) -> None:
        self._below = operator in (">", ">=")
        self._bisect = bisect_left if operator in (">", "<=") else bisect_right
        self._masks: dict[Any, int] = {}
        self._constants: list[Any] | None = []
        self._joined: dict[int, int] = {}
        self._known: list[int] = []

    def add(self, bit: int, constant: str | float) -> None:
        if constant == constant:
            self._masks[constant] = self._masks.get(constant, 0) | bit
            self._constants = None

    def remove(self, bit: int) -> None:
        masks = ((constant, mask & ~bit) for constant, mask in self._masks.items())
        self._masks = {constant: mask for constant, mask in masks if mask}
        self._constants = None

    def mask(self, value: Any) -> int:
        if value != value:
            return 0
        if self._constants is None:
            self._constants = sorted(self._masks)
            self._joined, self._known = {}, []
        place = self._bisect(self._constants, value)
        joined = self._joined.get(place)
        return self._join(place, self._constants) if joined is None else joined

    def _join(self, place: int, constants: list[Any]) -> int:
        """The masks of the constants on one side of a place, from the nearest place that has
        been asked for on that side."""
        at = bisect_left(self._known, place)
        if self._below:
            near = self._known[at - 1] if at else 0
            within = constants[near:place]
        else:
            near = self._known[at] if at < len(self._known) else len(constants)
            within = constants[place:near]
        joined = self._joined.get(near, 0)
        for constant in within:
            joined |= self._masks[constant]
        self._joined[place] = joined
        self._known.insert(at, place)
        return joined
