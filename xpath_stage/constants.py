"""The constants of filter families: finds those that hold at a node without testing each one.

Filters that differ only in a constant are one filter to the automaton (`Family`).  This module
counts the constants that queries use, and finds those that hold for the values of a node: equality
by a hash lookup of the value, an order by the outermost constant.  Only conditions of any other
kind are evaluated once for each constant.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import cast

from lxml import etree

from xscl.xpath_stage.patterns import Family
from xscl.xpath_stage.values import apply

__all__ = ["Constant", "Constants", "Satisfied", "decimal_text", "number_of", "number_of_constant"]

Constant = str | float | tuple[str | float, ...]

Satisfied = tuple[Constant, ...] | float
"""What holds at a node: the constants; for an order, the node's outermost number, with which each
constant must be compared."""

_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

_nowhere = etree.Element("nowhere")
_number = etree.XPath("number($text)", smart_strings=False)


_EXACT = 2**53


def number_of(text: str) -> float:
    """The number that a text is in XPath 1.0; NaN if it is none."""
    return cast(float, _number(_nowhere, text=text))


def number_of_constant(value: float) -> float:
    """The number that libxml2 reads where a document has a constant's digits, which it need not
    round as Python does: `1.57` is not 1.57 there.

    >>> number_of_constant(1.57) == number_of("1.57") != 1.57
    True
    """
    # Whole numbers of fewer digits are exact.
    return value if value.is_integer() and abs(value) < _EXACT else _as_read(value)


@lru_cache(maxsize=100_000)
def _as_read(value: float) -> float:
    return number_of(decimal_text(value))


def decimal_text(value: float) -> str:
    """A number without exponent, in the fewest digits, as XPath 1.0 has it.

    >>> decimal_text(1.57), decimal_text(2.0), decimal_text(1e-7), decimal_text(1e21)
    ('1.57', '2', '0.0000001', '1000000000000000000000')
    """
    return format(Decimal(repr(value)), "f").removesuffix(".0")


@dataclass(slots=True)
class _Registered:
    """The constants of a family with the number of their uses.  For an order there is also a heap,
    the outermost constant first (negated where that is the greatest); it may contain constants that
    are no longer registered."""

    family: Family
    number: int
    uses: dict[Constant, int] = field(default_factory=dict)
    heap: list[float] = field(default_factory=list)


class Constants:
    """The registered constants, by family.

    >>> from xscl.xpath_stage.patterns import Filter
    >>> constants, authors = Constants(), Family(Filter("author"))
    >>> number = constants.number(authors)
    >>> constants.register(number, "Danny Ayers")
    >>> constants.satisfied(authors, ["Tim Bray", "Danny Ayers"])
    (0, ('Danny Ayers',))
    """

    def __init__(self) -> None:
        self._families: dict[Family, _Registered] = {}
        self._by_number: dict[int, _Registered] = {}
        self._next = 0

    def number(self, family: Family) -> int:
        """The number of a family that has constants, or is about to; no number is reused."""
        registered = self._families.get(family)
        if registered is None:
            registered = self._families[family] = _Registered(family, self._next)
            self._by_number[self._next] = registered
            self._next += 1
        return registered.number

    def register(self, number: int, constant: Constant) -> None:
        """Adds one use of a constant of the family with that number."""
        registered = self._by_number[number]
        uses = registered.uses.get(constant, 0)
        registered.uses[constant] = uses + 1
        if not uses and registered.family.operator in _ORDERS:
            heapq.heappush(registered.heap, _outermost_first(registered.family, constant))

    def release(self, number: int, constant: Constant) -> None:
        """Removes one use; raises KeyError if there is none."""
        registered = self._by_number[number]
        registered.uses[constant] -= 1
        if registered.uses[constant]:
            return
        del registered.uses[constant]
        if not registered.uses:
            del self._families[registered.family], self._by_number[number]
        elif registered.family.operator in _ORDERS:
            _clean(registered)

    def satisfied(self, family: Family, values: Iterable[str]) -> tuple[int, Satisfied] | None:
        """The number of a family and what of it holds for these string values of its path; None if
        no constant holds."""
        registered = self._families.get(family)
        if registered is None:
            return None
        satisfied = _satisfied(registered, values)
        return None if satisfied is None else (registered.number, satisfied)

    def satisfied_conditions(
        self, family: Family, holds: Callable[[Constant], bool]
    ) -> tuple[int, Satisfied] | None:
        """As `satisfied`, of a family of conditions: each of its constants is tested."""
        registered = self._families.get(family)
        if registered is None:
            return None
        satisfied = tuple([constant for constant in registered.uses if holds(constant)])
        return (registered.number, satisfied) if satisfied else None

    def sizes(self) -> tuple[int, int]:
        """The number of families and of their constants."""
        return len(self._families), sum(len(one.uses) for one in self._families.values())


def _satisfied(registered: _Registered, values: Iterable[str]) -> Satisfied | None:
    family, uses = registered.family, registered.uses
    if family.functions:
        applied = (apply(family.functions, value) for value in values)
        values = [value for value in applied if value is not None]
    if not family.number:
        return tuple({value for value in values if value in uses}) or None
    numbers = [number_of(value) for value in values]
    if family.operator == "=":
        return tuple({number for number in numbers if number in uses}) or None
    numbers = [number for number in numbers if number == number]
    if not numbers:
        return None
    innermost = min(numbers) if family.operator.startswith("<") else max(numbers)
    outermost = _outermost_first(family, registered.heap[0])
    return innermost if _ORDERS[family.operator](innermost, outermost) else None


def _outermost_first(family: Family, constant: Constant) -> float:
    """The order of the heap; it is its own inverse."""
    number = cast(float, constant)
    return -number if family.operator.startswith("<") else number


def _clean(registered: _Registered) -> None:
    """Removes unregistered constants from a heap's top, or all where they are the majority."""
    family, heap, uses = registered.family, registered.heap, registered.uses
    if len(heap) > 2 * len(uses):
        registered.heap = [_outermost_first(family, constant) for constant in uses]
        heapq.heapify(registered.heap)
        return
    while _outermost_first(family, heap[0]) not in uses:
        heapq.heappop(heap)
