"""The constants of filter families: which of them hold at a node, without asking each.

Filters that differ in a constant alone are one filter to the automaton (`Family`).  Here are the
constants that queries ask for, counted; the values that a node shows find those that hold:
equality through a hash from the value, an order through the outermost constant; only conditions
of any other kind are evaluated, once for each constant.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import cast

from lxml import etree

from xpath_stage.patterns import Family
from xpath_stage.values import apply

__all__ = ["Constant", "Constants", "Held"]

Constant = str | float | tuple[str | float, ...]

Held = tuple[Constant, ...] | float
"""What holds at a node: the constants, or of an order the node's outermost number, with which a
constant must be compared."""

_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

_nowhere = etree.Element("nowhere")
_number = etree.XPath("number($text)", smart_strings=False)


@dataclass(slots=True)
class _Registered:
    """The constants of a family with the number of their uses; of an order a heap of them, too,
    the outermost first (negated where that is the greatest), in which some may be no more."""

    family: Family
    number: int
    uses: dict[Constant, int] = field(default_factory=dict)
    heap: list[float] = field(default_factory=list)


class Constants:
    """The registered constants, by family.

    >>> from xpath_stage.patterns import Filter
    >>> constants, authors = Constants(), Family(Filter("author"))
    >>> number = constants.number(authors)
    >>> constants.register(number, "Danny Ayers")
    >>> constants.held(authors, ["Tim Bray", "Danny Ayers"])
    (0, ('Danny Ayers',))
    """

    def __init__(self) -> None:
        self._families: dict[Family, _Registered] = {}
        self._by_number: dict[int, _Registered] = {}
        self._next = 0

    def number(self, family: Family) -> int:
        """The number of a family that has constants, or is about to; no number is used twice."""
        registered = self._families.get(family)
        if registered is None:
            registered = self._families[family] = _Registered(family, self._next)
            self._by_number[self._next] = registered
            self._next += 1
        return registered.number

    def register(self, number: int, constant: Constant) -> None:
        """One use more of a constant of the family of a number."""
        registered = self._by_number[number]
        uses = registered.uses.get(constant, 0)
        registered.uses[constant] = uses + 1
        if not uses and registered.family.operator in _ORDERS:
            heapq.heappush(registered.heap, _outermost_first(registered.family, constant))

    def release(self, number: int, constant: Constant) -> None:
        """One use less; raises KeyError if there is none."""
        registered = self._by_number[number]
        registered.uses[constant] -= 1
        if registered.uses[constant]:
            return
        del registered.uses[constant]
        if not registered.uses:
            del self._families[registered.family], self._by_number[number]
        elif registered.family.operator in _ORDERS:
            _clean(registered)

    def held(self, family: Family, values: Iterable[str]) -> tuple[int, Held] | None:
        """The number of a family and what of it holds where these are the string values of its
        path; None if no constant does."""
        registered = self._families.get(family)
        if registered is None:
            return None
        held = _held(registered, values)
        return None if held is None else (registered.number, held)

    def holding(self, family: Family, holds: Callable[[Constant], bool]) -> tuple[int, Held] | None:
        """As `held`, of a family of conditions: each of its constants is asked for."""
        registered = self._families.get(family)
        if registered is None:
            return None
        held = tuple([constant for constant in registered.uses if holds(constant)])
        return (registered.number, held) if held else None

    def sizes(self) -> tuple[int, int]:
        """The number of families and of their constants."""
        return len(self._families), sum(len(one.uses) for one in self._families.values())


def _held(registered: _Registered, values: Iterable[str]) -> Held | None:
    family, uses = registered.family, registered.uses
    if family.functions:
        applied = (apply(family.functions, value) for value in values)
        values = [value for value in applied if value is not None]
    if not family.number:
        return tuple({value for value in values if value in uses}) or None
    numbers = [cast(float, _number(_nowhere, text=value)) for value in values]
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
    """Lets go of what has gone from a heap's top, or all of it where that is the greater part."""
    family, heap, uses = registered.family, registered.heap, registered.uses
    if len(heap) > 2 * len(uses):
        registered.heap = [_outermost_first(family, constant) for constant in uses]
        heapq.heapify(registered.heap)
        return
    while _outermost_first(family, heap[0]) not in uses:
        heapq.heappop(heap)
