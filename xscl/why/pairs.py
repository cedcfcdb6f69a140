"""The pairs of composites that an operator may join, found without trying them all: those in its
time by sorting, those that an equality holds for, or all but holds for, by value."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from xscl.why.conditions import Conjunct, Operator, Side
from xscl.why.near_values import keys
from xscl.why.timing import Composite, identity

__all__ = ["Pair", "Some", "overlapping", "sharing", "within"]

Pair = tuple[int, int]
"""The places of a left and a right composite."""

_MOST_PAIRS = 100_000

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Some:
    """Some pairs, all that there are unless `capped`."""

    pairs: dict[Pair, None]
    capped: bool

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Some:
        """The first of some pairs; one that comes again counts again, to bound the search."""
        found = dict.fromkeys(islice(iterator := iter(pairs), _MOST_PAIRS))
        return cls(found, next(iterator, None) is not None)


def within(
    operator: Operator, lefts: Sequence[Composite], rights: Sequence[Composite]
) -> Iterator[tuple[list[int], int]]:
    """The places of the left composites in an operator's time of each right one."""
    order = sorted(range(len(lefts)), key=lambda i: lefts[i].latest)
    times = [lefts[i].latest for i in order]
    window = float("inf") if operator.window is None else operator.window
    for j, right in enumerate(rights):
        first = bisect_left(times, right.latest - window)
        if operator.kind == "FOLLOWED BY":
            yield order[first : bisect_left(times, right.earliest)], j
        else:
            yield order[first : bisect_right(times, right.latest + window)], j


def overlapping(lefts: Sequence[Composite], rights: Sequence[Composite]) -> set[Pair]:
    """The pairs that share a document."""
    left, right = ([{*map(identity, c.documents)} for c in some] for some in (lefts, rights))
    return {*_meeting(left, right)}


def sharing(
    operator: Operator, equality: Conjunct, lefts: Sequence[Composite], rights: Sequence[Composite]
) -> Iterator[Pair]:
    """The pairs that have a value of an equality's sides in common, or nearly; a pair may come
    again."""
    sides = equality.left, equality.right
    left, right = sides if equality.left.block in operator.left else reversed(sides)
    return _meeting([_keys(c, left) for c in lefts], [_keys(c, right) for c in rights])


def _meeting(lefts: Sequence[set[Key]], rights: Sequence[set[Key]]) -> Iterator[Pair]:
    """The places of sets that have a key in common, once for each of these."""
    index: dict[Key, list[int]] = {}
    for j, some in enumerate(rights):
        for key in some:
            index.setdefault(key, []).append(j)
    for i, some in enumerate(lefts):
        for key in some:
            for j in index.get(key, ()):
                yield i, j


def _keys(composite: Composite, side: Side) -> set[str]:
    """The keys of a composite's values of a side."""
    having = next(r for r in composite.relations if side.text in r.columns)
    values = {value for cell in having.column(side.text) for value in cell if value is not None}
    return {key for value in values for key in keys(value)}
