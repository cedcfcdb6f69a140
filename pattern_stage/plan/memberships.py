"""The streams of a channel that an event belongs to: members of an operator, by their numbers.

A membership is a tuple of members, or the first ones of an `Order`.  Members that differ in a bound
on DUR only are ordered by it, so the ones that an event still admits are a prefix, which need not
be enumerated before it is read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

__all__ = ["Membership", "Order", "Prefix", "exceeding", "first_of", "joined", "within"]

_SHORT = 16
"""Prefixes of up to so many members are tuples, which are faster."""


class Order:
    """Members, the widest bound first; `negative` are the bounds with their sign changed, None
    where there are none."""

    __slots__ = ("members", "negative", "sums")

    def __init__(self, members: tuple[int, ...], negative: list[float] | None = None) -> None:
        self.members, self.negative = members, negative
        self.sums: tuple[object, list[int]] | None = None
        """A reader's total over the members, and the version of its queries for which it holds."""

    def __len__(self) -> int:
        return len(self.members)

    def within(self, duration: float, strict: bool) -> int:
        """The number of first members that admit a duration; `strict` where it must be less."""
        assert self.negative is not None
        return (bisect_left if strict else bisect_right)(self.negative, -duration)

    def without(self, stale: Container[int]) -> Order:
        """The other members."""
        left = [place for place, one in enumerate(self.members) if one not in stale]
        negative = self.negative
        return Order(
            tuple([self.members[place] for place in left]),
            None if negative is None else [negative[place] for place in left],
        )

    def first(self, count: int) -> Membership:
        """The first members, so many."""
        if count >= len(self.members) and count <= _SHORT:
            return self.members
        return self.members[:count] if count <= _SHORT else Prefix(self, count)


class Prefix:
    """The first `count` members of an order."""

    __slots__ = ("count", "order")

    def __init__(self, order: Order, count: int) -> None:
        self.order, self.count = order, count

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[int]:
        return iter(self.order.members[: self.count])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prefix) and self.order is other.order and self.count == other.count

    def __hash__(self) -> int:
        return hash((id(self.order), self.count))


Membership = tuple[int, ...] | Prefix


def joined(one: Membership, other: Membership) -> Membership:
    """The members of either."""
    if isinstance(one, Prefix) and isinstance(other, Prefix) and one.order is other.order:
        return one if one.count >= other.count else other
    return tuple({**dict.fromkeys(one), **dict.fromkeys(other)})


def within(members: Membership, known: Mapping[Any, Any]) -> Iterable[int]:
    """The members that are keys of a dict."""
    if len(members) > _SHORT:
        return known.keys() & members
    return [member for member in members if member in known]


def exceeding(some: Iterable[tuple[tuple[int, ...], int]], most: int) -> set[int]:
    """The members that are in more than `most` of some memberships, each given as the first so many
    of a tuple; each tuple is iterated over once."""
    by: dict[int, tuple[tuple[int, ...], Counter[int]]] = {}
    for members, count in some:
        by.setdefault(id(members), (members, Counter()))[1][count] += 1
    total = Counter[int]()
    for members, counts in by.values():
        many, steps = 0, sorted(counts.items(), reverse=True)
        for (count, times), (shorter, _) in zip(steps, [*steps[1:], (0, 0)], strict=True):
            many += times
            for member in members[shorter:count]:
                total[member] += many
    return {member for member, many in total.items() if many > most}


def first_of(membership: Membership) -> tuple[tuple[int, ...], int]:
    """A membership as the first so many of a tuple."""
    if isinstance(membership, Prefix):
        return membership.order.members, membership.count
    return membership, len(membership)
