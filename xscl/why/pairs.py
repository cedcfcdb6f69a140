"""Pairs of composites that an operator may join, found without trying them all.

Those in its time by sorting, those that an equality could hold for by value: a pair that fails by
one condition alone meets all the others, so it is found by one of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from xscl.documents.document import Document
from xscl.why.near_values import keys
from xscl.why.operators import Conjunct, Operator
from xscl.why.relations import Factor, cells_of
from xscl.why.timing import identity, in_time

__all__ = [
    "Composite",
    "Pair",
    "count_in_time",
    "equal",
    "hashable",
    "near",
    "overlapping",
    "within",
]

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Composite:
    """Documents of consecutive blocks that meet all conditions among them, their times in
    microseconds, and the assignments that are left of them."""

    documents: tuple[Document, ...]
    earliest: int
    latest: int
    factors: tuple[Factor, ...]


def count_in_time(
    operator: Operator, lefts: Sequence[Composite], rights: Sequence[Composite]
) -> int:
    """The number of pairs in an operator's time, those that share a document included."""
    times = sorted(left.latest for left in lefts)
    if operator.window is None:
        if operator.kind == "JOIN":
            return len(lefts) * len(rights)
        return sum(bisect_left(times, right.earliest) for right in rights)
    count = 0
    for right in rights:
        first = bisect_left(times, right.latest - operator.window)
        if operator.kind == "JOIN":
            count += bisect_right(times, right.latest + operator.window) - first
        else:
            count += max(0, bisect_left(times, right.earliest) - first)
    return count


def within(
    operator: Operator, lefts: Sequence[Composite], rights: Sequence[Composite]
) -> Iterator[Pair]:
    """The pairs in an operator's time."""
    order = sorted(range(len(rights)), key=lambda j: rights[j].latest)
    times = [rights[j].latest for j in order]
    for i, left in enumerate(lefts):
        first = 0
        last = len(times)
        if operator.window is not None:
            first = bisect_left(times, left.latest - operator.window)
            last = bisect_right(times, left.latest + operator.window)
        if operator.kind == "FOLLOWED BY":
            first = bisect_right(times, left.latest)
        for j in order[first:last]:
            if in_time(operator, left.latest, rights[j].earliest, rights[j].latest):
                yield i, j


def overlapping(lefts: Sequence[Composite], rights: Sequence[Composite]) -> set[Pair]:
    """The pairs that share a document."""
    places: dict[tuple[int, str, str], list[int]] = {}
    for i, left in enumerate(lefts):
        for document in left.documents:
            places.setdefault(identity(document), []).append(i)
    return {
        (i, j)
        for j, right in enumerate(rights)
        for document in right.documents
        for i in places.get(identity(document), ())
    }


def hashable(
    conjuncts: Iterable[Conjunct], left: Sequence[Composite], right: Sequence[Composite]
) -> list[Conjunct]:
    """The equalities that have one side among the left composites and the other among the
    right."""
    if not left or not right:
        return []
    sides = [{side for f in some[0].factors for side in f.sides} for some in (left, right)]
    return [
        conjunct
        for conjunct in conjuncts
        if conjunct.operator == "="
        and all(isinstance(side, str) for side in conjunct.sides)
        and any(
            conjunct.sides[0] in one and conjunct.sides[1] in other
            for one, other in (sides, reversed(sides))
        )
    ]


def equal(
    conjunct: Conjunct, lefts: Sequence[Composite], rights: Sequence[Composite]
) -> Iterator[Pair]:
    """The pairs that have a value of an equality's sides in common; a pair may come again."""
    return _sharing(conjunct, lefts, rights, lambda value: (value,))


def near(
    conjunct: Conjunct, lefts: Sequence[Composite], rights: Sequence[Composite]
) -> Iterator[Pair]:
    """As `equal`, of values that are all but equal too."""
    return _sharing(conjunct, lefts, rights, keys)


def _sharing(
    conjunct: Conjunct,
    lefts: Sequence[Composite],
    rights: Sequence[Composite],
    key: Callable[[str], Iterable[str]],
) -> Iterator[Pair]:
    index: dict[str, list[int]] = {}
    for j, right in enumerate(rights):
        for known in _keys(right, conjunct, key):
            index.setdefault(known, []).append(j)
    for i, left in enumerate(lefts):
        for known in _keys(left, conjunct, key):
            for j in index.get(known, ()):
                yield i, j


def _keys(
    composite: Composite, conjunct: Conjunct, key: Callable[[str], Iterable[str]]
) -> set[str]:
    """The keys of a composite's values of that side of an equality which it has."""
    found = (cells_of(composite.factors, side) for side in conjunct.sides)
    cells = next((cells for cells in found if cells is not None), frozenset())
    values = {value for cell in cells for value in cell if value is not None}
    return {known for value in values for known in key(value)}
