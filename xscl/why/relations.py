"""The assignments that are left, as relations: what a comparison narrows.

A *cell* holds the string values that a side of a comparison ranges over for one node of its
variable (several where the side is a path); no more of an assignment matters to a comparison, so
that assignments with equal cells are one row.  All assignments are the natural join of some
relations, which is made only where a comparison, or a node of several that have nodes below it,
hangs them together; a column goes as soon as nothing needs it (bucket elimination).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice, product
from typing import Any

from xscl.errors import XSCLError
from xscl.xpath_stage import compared

__all__ = ["Cell", "Relation", "beside", "narrowed", "without"]

_MOST_ROWS = 100_000
_MOST_PAIRS = 2_000_000

Cell = tuple[str | None, ...]
"""Distinct values; None is NaN."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows over some columns: the text of a side, which has cells, or an item, which has nodes."""

    columns: tuple[str | int, ...]
    rows: Collection[tuple[Any, ...]]

    def column(self, name: str | int) -> set[Any]:
        """What stands in a column."""
        place = self.columns.index(name)
        return {row[place] for row in self.rows}

    def onto(self, names: Iterable[str | int]) -> Relation:
        """Only some columns; names that it has not are left out."""
        columns = tuple(name for name in names if name in self.columns)
        if columns == self.columns:
            return self
        places = [self.columns.index(name) for name in columns]
        return Relation(columns, {tuple([row[place] for place in places]) for row in self.rows})


def joined(first: Relation, second: Relation) -> Relation:
    """The natural join; raises XSCLError for more rows than can be kept apart."""
    shared = [name for name in second.columns if name in first.columns]
    keys = [second.columns.index(name) for name in shared]
    new = [place for place, name in enumerate(second.columns) if name not in shared]
    index: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for row in second.rows:
        index.setdefault(tuple([row[p] for p in keys]), []).append(tuple([row[p] for p in new]))
    places = [first.columns.index(name) for name in shared]
    rows: set[tuple[Any, ...]] = set()
    for row in first.rows:
        rows.update(row + other for other in index.get(tuple([row[p] for p in places]), ()))
        if len(rows) > _MOST_ROWS:
            raise XSCLError(
                f"more than {_MOST_ROWS:,} assignments of the compared variables are left at once; "
                "ask about smaller documents, or narrow the paths that bind these variables"
            )
    return Relation(first.columns + tuple(second.columns[place] for place in new), rows)


def without(relations: Sequence[Relation], name: str | int) -> list[Relation]:
    """The relations without a column, those that have it joined first: they may not be taken apart
    unless one thing alone stands in it."""
    having = [relation for relation in relations if name in relation.columns]
    rest = [relation for relation in relations if name not in relation.columns]
    if len(having) > 1 and any(len(relation.column(name)) > 1 for relation in having):
        having = [reduce(joined, having)]
    left = (relation.onto([c for c in relation.columns if c != name]) for relation in having)
    return [*rest, *(relation for relation in left if relation.columns)]


def narrowed(
    relations: Sequence[Relation], left: str, operator: str, right: str, needed: Collection[str]
) -> tuple[list[Relation], Collection[tuple[Cell, Cell]]]:
    """The relations after a comparison of two columns, of which those that change keep only the
    columns needed, and the pairs of cells with which it holds; without any pair, none."""
    touched = [r for r in relations if left in r.columns or right in r.columns]
    pairs: Collection[tuple[Cell, Cell]]
    if len(touched) == 1:
        both = touched[0].onto((left, right)).rows
        pairs = {(r[0], r[-1]) for r in both if _satisfies(r[0], operator, r[-1])}
    else:
        found = _pairs(_cells(touched, left), operator, _cells(touched, right))
        # Where no comparison that follows needs a column, it is enough that there are some.
        some = any(column in needed for relation in touched for column in relation.columns)
        pairs = set(islice(found, None if some else _MOST_ROWS))
    if not pairs:
        return [], pairs
    rest = [r for r in relations if left not in r.columns and right not in r.columns]
    kept = {*needed, left, right}
    whole = Relation((left, right), pairs)
    if left == right:
        whole = Relation((left,), {(cell,) for cell, _ in pairs})
    for relation in touched:
        columns = [column for column in relation.columns if column in kept]
        if any(column in needed for column in (*whole.columns, *columns)):
            whole = joined(whole, relation.onto(columns))
    last = whole.onto([column for column in whole.columns if column in needed])
    return [*rest, last] if last.columns else rest, pairs


def beside(relations: Sequence[Relation], left: str, right: str) -> list[tuple[Cell, Cell]]:
    """The values that two columns have beside each other: row by row where they are in one
    relation, else all of the one and all of the other."""
    touched = [r for r in relations if left in r.columns or right in r.columns]
    if len(touched) == 1:
        rows = touched[0].onto((left, right)).rows
        return sorted({(row[0], row[-1]) for row in rows}, key=str)
    first, second = (
        tuple({value: None for cell in sorted(_cells(touched, side), key=str) for value in cell})
        for side in (left, right)
    )
    return [(first, second)]


def _cells(relations: Iterable[Relation], name: str) -> set[Cell]:
    return next((r.column(name) for r in relations if name in r.columns), set())


def _satisfies(left: Cell, operator: str, right: Cell) -> bool:
    """Whether some value of one cell compares with some value of the other."""
    return any(compared(a, operator, b) for a in left for b in right)


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
        if _satisfies(cell, operator, other):
            yield cell, other
