"""The assignments that are left, as values: what a comparison narrows.

A *cell* holds the string values that a side of a comparison ranges over for one node of its
variable (several where the side is a path); no more of an assignment matters to a comparison, so
that assignments with equal cells are one row.  The relation of several blocks is the product of
factors, each over sides of its own; a comparison of sides in two factors makes them one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from xpath_stage import compared
from xscl.errors import XSCLError

__all__ = [
    "MOST_ROWS",
    "Cell",
    "Factor",
    "Narrowed",
    "bounded",
    "cells_of",
    "narrowed",
    "satisfies",
]

MOST_ROWS = 100_000
"""Assignments that are kept apart at a time."""

_MOST_PAIRS = 2_000_000

Cell = tuple[str | None, ...]
"""Distinct values; None is NaN."""


@dataclass(frozen=True, slots=True)
class Factor:
    """Rows of cells; `sides` are the columns, by the text of the side."""

    sides: tuple[str, ...]
    rows: frozenset[tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What a comparison leaves of some factors, and the pairs of cells with which it holds."""

    factors: tuple[Factor, ...]
    pairs: frozenset[tuple[Cell, Cell]]


def satisfies(left: Cell, operator: str, right: Cell) -> bool:
    """Whether some value of one cell compares with some value of the other."""
    return any(compared(a, operator, b) for a in left for b in right)


def bounded(rows: int) -> None:
    """Refuses more assignments than can be kept apart."""
    if rows > MOST_ROWS:
        raise XSCLError(
            f"more than {MOST_ROWS:,} assignments of the compared variables are left at once; "
            "ask about smaller documents, or narrow the paths that bind these variables"
        )


def cells_of(factors: Iterable[Factor], side: str | Cell) -> frozenset[Cell] | None:
    """The cells of a side (of a constant its own), None where nothing is left of the side."""
    if not isinstance(side, str):
        return frozenset([side])
    for factor in factors:
        if side in factor.sides:
            column = factor.sides.index(side)
            return frozenset(row[column] for row in factor.rows)
    return None


def groups_of(
    factors: Iterable[Factor], left: str | Cell, right: str | Cell
) -> list[tuple[Cell, Cell]]:
    """The values that two sides have beside each other: those of each row where they are in one
    factor, else all of the one side and all of the other."""
    for factor in factors:
        if isinstance(left, str) and left in factor.sides and right in factor.sides:
            columns = factor.sides.index(left), factor.sides.index(str(right))
            return sorted({(row[columns[0]], row[columns[1]]) for row in factor.rows}, key=str)
    every = (cells_of(factors, side) or frozenset() for side in (left, right))
    first, second = (tuple({v: None for cell in sorted(c, key=str) for v in cell}) for c in every)
    return [(first, second)]


def narrowed(
    factors: Sequence[Factor], left: str | Cell, operator: str, right: str | Cell, needed: set[str]
) -> Narrowed:
    """The factors after a comparison, which must be about sides in them or constants.

    Without any pair the factors are as before.  The sides that are not `needed` any more are
    dropped from those that change.
    """
    touched: list[Factor] = []
    others: list[Factor] = []
    for factor in factors:
        (touched if left in factor.sides or right in factor.sides else others).append(factor)
    if len(touched) == 2:
        first, second = touched if left in touched[0].sides else reversed(touched)
        assert isinstance(left, str)
        assert isinstance(right, str)
        made, pairs = _joined(first, left, operator, second, right, needed)
    else:
        made, pairs = _filtered(touched, left, operator, right, needed)
    if not pairs:
        return Narrowed(tuple(factors), frozenset())
    return Narrowed((*others, *(f for f in made if f.sides)), pairs)


def _filtered(
    touched: Sequence[Factor], left: str | Cell, operator: str, right: str | Cell, needed: set[str]
) -> tuple[list[Factor], frozenset[tuple[Cell, Cell]]]:
    """A comparison within one factor, or of constants."""
    if not touched:
        assert not isinstance(left, str)
        assert not isinstance(right, str)
        return [], frozenset([(left, right)] if satisfies(left, operator, right) else [])
    (factor,) = touched
    pairs, rows = set(), set()
    kept = [column for column, side in enumerate(factor.sides) if side in needed]
    for row in factor.rows:
        cells = dict(zip(factor.sides, row, strict=True))
        pair = (
            cells[left] if isinstance(left, str) else left,
            cells[right] if isinstance(right, str) else right,
        )
        if pair in pairs or satisfies(pair[0], operator, pair[1]):
            pairs.add(pair)
            rows.add(tuple(row[column] for column in kept))
    sides = tuple(factor.sides[column] for column in kept)
    return [Factor(sides, frozenset(rows))], frozenset(pairs)


def _joined(
    first: Factor, left: str, operator: str, second: Factor, right: str, needed: set[str]
) -> tuple[list[Factor], frozenset[tuple[Cell, Cell]]]:
    """A comparison of two factors: those of their rows that go together."""
    lefts, rights = _by_cell(first, left, needed), _by_cell(second, right, needed)
    sides = tuple(side for f in (first, second) for side in f.sides if side in needed)
    # Where no comparison follows that needs their sides, it is enough that there are some.
    pairs = frozenset(islice(_pairs(lefts, operator, rights), None if sides else MOST_ROWS))
    rows: set[tuple[Cell, ...]] = set()
    for one, other in pairs:
        for row in lefts[one]:
            rows.update((*row, *beside) for beside in rights[other])
            bounded(len(rows))
    return [Factor(sides, frozenset(rows))], pairs


def _by_cell(factor: Factor, side: str, needed: set[str]) -> dict[Cell, set[tuple[Cell, ...]]]:
    """For each cell of a side what is needed of its rows."""
    column = factor.sides.index(side)
    kept = [index for index, name in enumerate(factor.sides) if name in needed]
    groups: dict[Cell, set[tuple[Cell, ...]]] = {}
    for row in factor.rows:
        groups.setdefault(row[column], set()).add(tuple(row[index] for index in kept))
    return groups


def _pairs(
    lefts: Collection[Cell], operator: str, rights: Collection[Cell]
) -> Iterator[tuple[Cell, Cell]]:
    if operator == "=":
        holding: dict[str, list[Cell]] = {}
        for cell in rights:
            for value in cell:
                if value is not None:
                    holding.setdefault(value, []).append(cell)
        for cell in lefts:
            for value in cell:
                for other in holding.get(value, ()) if value is not None else ():
                    yield cell, other
        return
    for tried, (cell, other) in enumerate(product(lefts, rights)):
        if tried == _MOST_PAIRS:
            raise XSCLError(
                f"more than {_MOST_PAIRS:,} pairs of values would have to be compared by "
                f"`{operator}`; ask about smaller documents"
            )
        if satisfies(cell, operator, other):
            yield cell, other
