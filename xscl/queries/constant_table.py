"""Finds, for a row of a shared query, the subscriptions whose constants hold at its nodes.

The join stage finds the rows of the shared query, and stage 1 notes which constants hold at which
nodes.  The subscriptions are looked up by these constants: by a bisection for the first order, by
a hash for all else; so a row costs what it matches, however many subscriptions there are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import TYPE_CHECKING, cast

from sortedcontainers import SortedList

from xscl.documents.composites import OperatorRow
from xscl.queries.subscription import Subscription
from xscl.xpath_stage import Constant, Satisfied

if TYPE_CHECKING:
    from xscl.dissection.open_constants import OpenConstant
    from xscl.queries.shared_query import SharedQuery

__all__ = ["Asked", "ConstantTable", "HeldConstants", "OrderedConstants", "SharedDisjunct"]

HeldConstants = Mapping[int, Mapping[tuple[int, int], Satisfied]]
"""By a document's number, then by a node's code and a family's number: the constants that hold."""

_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A constant that is left open: which `values` of a subscription make it, and the node at
    which it is to hold, as a column of a row and the block whose document has it.  `family` is the
    family's number."""

    opened: OpenConstant
    values: tuple[int, ...]
    column: int
    block: int
    family: int

    def constant(self, subscription: Subscription) -> Constant:
        """A subscription's constant."""
        return self.opened.constant([subscription.values[value] for value in self.values])

    def held(self, row: OperatorRow, held: HeldConstants) -> Satisfied | None:
        """The constants that hold at the node of a row."""
        of_document = held.get(row.documents[self.block])
        return (
            None if of_document is None else of_document.get((row.codes[self.column], self.family))
        )


class ConstantTable:
    """The subscriptions of a shared query, for the rows of one of its disjuncts; the first `width`
    columns of a row are those of the match, the others those that `asked` looks at."""

    def __init__(self, asked: Sequence[Asked], width: int) -> None:
        self.asked = tuple(asked)
        self._keys = [one for one in asked if one.opened.family.operator not in _ORDERS]
        self._ordered = [one for one in asked if one.opened.family.operator in _ORDERS]
        self._width = width
        # Most constants are those of one subscription.
        self._by_key: dict[object, Subscription | list[Subscription] | OrderedConstants] = {}

    def add(self, subscription: Subscription) -> None:
        """Adds a subscription."""
        key = self._key(subscription)
        some = self._by_key.get(key)
        if self._ordered:
            if some is None:
                some = self._by_key[key] = OrderedConstants()
            cast(OrderedConstants, some).add(
                cast(float, self._ordered[0].constant(subscription)), subscription
            )
        elif some is None:
            self._by_key[key] = subscription
        elif isinstance(some, list):
            some.append(subscription)
        else:
            self._by_key[key] = [cast(Subscription, some), subscription]

    def remove(self, subscription: Subscription) -> None:
        """Takes a subscription out."""
        key = self._key(subscription)
        some = self._by_key[key]
        if isinstance(some, OrderedConstants):
            some.remove(cast(float, self._ordered[0].constant(subscription)), subscription)
        elif isinstance(some, list):
            some.remove(subscription)
        if isinstance(some, Subscription) or not len(some):
            del self._by_key[key]

    def matched(
        self, row: OperatorRow, held: HeldConstants
    ) -> Iterator[tuple[Subscription, OperatorRow]]:
        """The subscriptions that a row is a match of, each with its match."""
        holding = [one.held(row, held) for one in self._keys]
        numbers = [cast(float | None, one.held(row, held)) for one in self._ordered]
        if None in holding or None in numbers:
            return
        match = OperatorRow(row.documents, row.codes[: self._width], row.strings)
        oldest = min(row.documents)
        for constants in product(*cast(list[tuple[Constant, ...]], holding)):
            some = self._by_key.get(constants[0] if len(constants) == 1 else constants)
            if some is None:
                continue
            for subscription in self._in_order(some, cast(list[float], numbers)):
                if subscription.since <= oldest:
                    yield subscription, match

    def _in_order(
        self, some: Subscription | list[Subscription] | OrderedConstants, numbers: Sequence[float]
    ) -> Iterator[Subscription]:
        """Those subscriptions of some whose constants are in the orders asked for."""
        if isinstance(some, Subscription):
            yield some
        elif isinstance(some, list):
            yield from some
        else:
            first, *others = self._ordered
            for subscription in some.compared(numbers[0], first.opened.family.operator):
                if all(
                    _ORDERS[one.opened.family.operator](
                        number, cast(float, one.constant(subscription))
                    )
                    for one, number in zip(others, numbers[1:], strict=True)
                ):
                    yield subscription

    def _key(self, subscription: Subscription) -> object:
        constants: tuple[object, ...] = tuple([one.constant(subscription) for one in self._keys])
        if constants == subscription.values:
            # Kept once, by the subscription.
            constants = subscription.values
        return constants[0] if len(constants) == 1 else constants


class OrderedConstants:
    """Subscriptions by an ascending constant."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        # Constants, the numbers of subscriptions, which distinguish equal ones, and these.
        self._entries: SortedList = SortedList()

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, constant: float, subscription: Subscription) -> None:
        """Adds a subscription."""
        self._entries.add((constant, subscription.order, subscription))

    def remove(self, constant: float, subscription: Subscription) -> None:
        """Takes a subscription out."""
        self._entries.remove((constant, subscription.order, subscription))

    def compared(self, number: float, order: str) -> Iterator[Subscription]:
        """The subscriptions with whose constant a number is in an order."""
        # They are between the entries of all constants equal to the number.
        below, above = (number, -inf), (number, inf)
        match order:
            case "<":
                found = self._entries.irange(above)
            case "<=":
                found = self._entries.irange(below)
            case ">":
                found = self._entries.irange(None, below)
            case _:
                found = self._entries.irange(None, above)
        return (subscription for _, _, subscription in found)


@dataclass(frozen=True, slots=True, eq=False)
class SharedDisjunct:
    """A disjunct of a shared query, which owns a number of the join stage."""

    shared: SharedQuery
    table: ConstantTable
