"""The members of a form by their constants: which of them a row of the join stage is a match of.

A form is a query with open parameters, and its members are subscriptions that fill these in.  The
join stage finds the rows of the form; stage 1 has told which constants hold at which nodes.  The
members are those of these constants: a bisection for the first order, a hash for all else; so a row
costs what it matches, however many members there are.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

from xpath_stage import Constant, Held
from xscl.dissection.open_constants import OpenConstant
from xscl.documents.composites import Found
from xscl.queries.subscription import Subscription

__all__ = ["Asked", "HeldConstants", "Members"]

HeldConstants = Mapping[int, Mapping[tuple[int, int], Held]]
"""Of a document's number, what of each family holds at a node: by its code and the family's
number."""

_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TAIL = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """What is left open: the `values` of a member that it takes, and the node it asks, as a
    column of a row and the block whose document has it.  `family` is the family's number."""

    opened: OpenConstant
    values: tuple[int, ...]
    column: int
    block: int
    family: int

    def constant(self, member: Subscription) -> Constant:
        """A member's constant."""
        return self.opened.constant([member.values[value] for value in self.values])

    def held(self, row: Found, held: HeldConstants) -> Held | None:
        """What holds at the node of a row."""
        of_document = held.get(row.documents[self.block])
        return (
            None if of_document is None else of_document.get((row.codes[self.column], self.family))
        )


class Members:
    """The members of a form, for the rows of one of its parts; of these the first `width` columns
    are of the match, the others of what is asked."""

    def __init__(self, asked: Sequence[Asked], width: int) -> None:
        self.asked = tuple(asked)
        self._keys = [one for one in asked if one.opened.family.operator not in _ORDERS]
        self._ordered = [one for one in asked if one.opened.family.operator in _ORDERS]
        self._width = width
        # Of most constants there is one member only.
        self._by_key: dict[object, Subscription | list[Subscription] | _Ascending] = {}

    def add(self, member: Subscription) -> None:
        """Adds a member, which sees no older documents than those before it."""
        key = self._key(member)
        some = self._by_key.get(key)
        if self._ordered:
            if some is None:
                some = self._by_key[key] = _Ascending()
            cast(_Ascending, some).add(cast(float, self._ordered[0].constant(member)), member)
        elif some is None:
            self._by_key[key] = member
        elif isinstance(some, list):
            some.append(member)
        else:
            self._by_key[key] = [cast(Subscription, some), member]

    def remove(self, member: Subscription) -> None:
        """Takes a member out."""
        key = self._key(member)
        some = self._by_key[key]
        if isinstance(some, _Ascending):
            some.remove(cast(float, self._ordered[0].constant(member)), member)
        elif isinstance(some, list):
            some.remove(member)
        if isinstance(some, Subscription) or not len(some):
            del self._by_key[key]

    def matched(self, row: Found, held: HeldConstants) -> Iterator[tuple[Subscription, Found]]:
        """The members that a row is a match of, each with the row as its match."""
        holding = [one.held(row, held) for one in self._keys]
        numbers = [cast(float | None, one.held(row, held)) for one in self._ordered]
        if None in holding or None in numbers:
            return
        match = Found(row.documents, row.codes[: self._width], row.strings)
        oldest = min(row.documents)
        for constants in product(*cast(list[tuple[Constant, ...]], holding)):
            some = self._by_key.get(constants[0] if len(constants) == 1 else constants)
            if some is None:
                continue
            for member in self._in_order(some, cast(list[float], numbers)):
                if member.since <= oldest:
                    yield member, match

    def _in_order(
        self, some: Subscription | list[Subscription] | _Ascending, numbers: Sequence[float]
    ) -> Iterator[Subscription]:
        """Those of some members whose constants are in the orders that they ask for."""
        if isinstance(some, Subscription):
            yield some
        elif isinstance(some, list):
            yield from some
        else:
            first, *others = self._ordered
            for member in some.compared(numbers[0], first.opened.family.operator):
                if all(
                    _ORDERS[one.opened.family.operator](number, cast(float, one.constant(member)))
                    for one, number in zip(others, numbers[1:], strict=True)
                ):
                    yield member

    def _key(self, member: Subscription) -> object:
        constants: tuple[object, ...] = tuple([one.constant(member) for one in self._keys])
        if constants == member.values:
            # Kept once, by the member.
            constants = member.values
        return constants[0] if len(constants) == 1 else constants


class _Ascending:
    """Members by an ascending constant; the last ones that came wait in a tail, so that one more
    does not move all others."""

    __slots__ = ("_constants", "_members", "_tail")

    def __init__(self) -> None:
        self._constants: list[float] = []
        self._members: list[Subscription] = []
        self._tail: list[tuple[float, Subscription]] = []

    def __len__(self) -> int:
        return len(self._members) + len(self._tail)

    def add(self, constant: float, member: Subscription) -> None:
        self._tail.append((constant, member))
        if len(self._tail) > _TAIL + len(self._members) // 8:
            both = [*zip(self._constants, self._members, strict=True), *self._tail]
            both.sort(key=lambda entry: entry[0])
            self._constants = [constant for constant, _ in both]
            self._members = [member for _, member in both]
            self._tail = []

    def remove(self, constant: float, member: Subscription) -> None:
        if (constant, member) in self._tail:
            self._tail.remove((constant, member))
            return
        at = self._members.index(member, bisect_left(self._constants, constant))
        del self._constants[at], self._members[at]

    def compared(self, number: float, order: str) -> Iterator[Subscription]:
        """The members with whose constant a number is in an order."""
        constants, members = self._constants, self._members
        match order:
            case "<":
                yield from members[bisect_right(constants, number) :]
            case "<=":
                yield from members[bisect_left(constants, number) :]
            case ">":
                yield from members[: bisect_left(constants, number)]
            case _:
                yield from members[: bisect_right(constants, number)]
        holds = _ORDERS[order]
        yield from (member for constant, member in self._tail if holds(number, constant))
