"""A value against the constants of many queries together: the queries whose comparison holds.

Queries are bits of a mask.  An equality is one look-up in a dictionary, an order one bisection of
the sorted constants, whose masks are joined once for each gap between two.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from math import isfinite
from typing import Any, Literal

from xscl.pattern_stage.values.numbers import castable, number_of

__all__ = ["PASS", "Comparator", "Each", "Gate"]

Comparator = Literal["=", "!=", "<", "<=", ">", ">="]

PASS = object()
"""The value of an ANY component's event that lacks the compared attribute: it passes all gates."""


class Gate:
    """`value operator constant` for the constants of many queries.

    Values are floats where `number`; else strings for `=` and `!=`, and for an order pairs of a
    string and the number that it casts to (NaN if none).
    """

    mask: Callable[[Any], int]
    """The queries whose comparison holds for a value."""

    def __init__(self, operator: Comparator, number: bool) -> None:
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
        """Adds a query's constant."""
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
        """Removes a query's constant."""
        constant = self._cast(constant)
        self._all &= ~bit
        if constant != constant:
            return
        if not self._ordered:
            _remove(self._equal, bit, constant)
        elif self._number:
            self._numbers.remove(bit, constant)
        else:
            assert isinstance(constant, str)
            number = number_of(constant)
            self._strings.remove(bit, constant)
            self._numbers.remove(bit, number)
            self._words.remove(bit, constant)

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
    """A condition over constants of many queries: tested once for all that have the same.

    Where it is `monotone` in its only constant, i.e. true for all constants from some place on or
    for none, that place is found by bisection; only 0 and non-finite constants are tested
    separately.
    """

    def __init__(self, holds: Callable[..., bool], monotone: bool) -> None:
        self._holds, self._monotone = holds, monotone
        self._masks: dict[tuple[str | float, ...], int] = {}
        self._ordered = _Order(">")
        self._all = 0

    def add(self, bit: int, constants: tuple[str | float, ...]) -> None:
        """Adds a query's constants."""
        given = _given(constants)
        if self._monotone and given[1] and isfinite(given[1]):
            self._all |= bit
            self._ordered.add(bit, given[1])
        else:
            self._masks[given] = self._masks.get(given, 0) | bit

    def remove(self, bit: int, constants: tuple[str | float, ...]) -> None:
        """Removes a query's constants."""
        given = _given(constants)
        if self._all & bit:
            self._all &= ~bit
            self._ordered.remove(bit, given[1])
        else:
            _remove(self._masks, bit, given)

    def mask(self, arguments: tuple[Any, ...]) -> int:
        """The queries for which it holds."""
        found = self._of_ordered(arguments) if self._all else 0
        for given, mask in self._masks.items():
            if self._holds(given, *arguments):
                found |= mask
        return found

    def _of_ordered(self, arguments: tuple[Any, ...]) -> int:
        constants, holds = self._ordered.constants, self._holds
        first = bool(holds((constants[0],) * 2, *arguments))
        if first == bool(holds((constants[-1],) * 2, *arguments)):
            return self._all if first else 0
        low, high = 0, len(constants) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if bool(holds((constants[middle],) * 2, *arguments)) == first:
                low = middle
            else:
                high = middle
        below = self._ordered.side(high)
        return below if first else self._all & ~below


def _given(constants: tuple[str | float, ...]) -> tuple[Any, ...]:
    """Each constant as it is and as a number."""
    numbers = [number_of(one) if isinstance(one, str) else one for one in constants]
    return tuple(form for both in zip(constants, numbers, strict=True) for form in both)


def _remove(masks: dict[Any, int], bit: int, constant: object) -> None:
    rest = masks.get(constant, 0) & ~bit
    if rest:
        masks[constant] = rest
    else:
        masks.pop(constant, None)


class _Order:
    """`value operator constant` where both are numbers, or both strings."""

    def __init__(self, operator: Comparator) -> None:
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

    def remove(self, bit: int, constant: str | float) -> None:
        _remove(self._masks, bit, constant)
        self._constants = None

    def mask(self, value: Any) -> int:
        return self.side(self._bisect(self.constants, value)) if value == value else 0

    @property
    def constants(self) -> list[Any]:
        """The constants in order."""
        if self._constants is None:
            self._constants = sorted(self._masks)
            self._joined, self._known = {}, []
        return self._constants

    def side(self, place: int) -> int:
        """The masks of the constants below a place, or from it on."""
        joined = self._joined.get(place)
        return self._join(place, self.constants) if joined is None else joined

    def _join(self, place: int, constants: list[Any]) -> int:
        """The masks of the constants on one side of a place, from the nearest place on that side
        for which they are known."""
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
