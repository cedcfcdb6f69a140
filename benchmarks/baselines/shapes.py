"""Queries into query templates (section 6.4.2), only for joins of leaves in pairs.

The minor of such a query has on each side a top node, the nodes below it that are above two or more
of the joined leaves, and the leaves.  A *shape* says of each pair of leaves under which of these
nodes its two leaves hang (0: the top node).  Two queries have the same template if one's shape
becomes the other's by taking the pairs in another order; here that is found by trying all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import permutations

from benchmarks.baselines.relations import variables
from datasets import LeafJoin, Schema

Hanging = tuple[int, ...]
"""For each pair, the node that its leaf on one side hangs under."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A query template: for each pair of leaves, where the left and where the right one hangs."""

    left: Hanging
    right: Hanging

    @property
    def size(self) -> int:
        """The number of value joins."""
        return len(self.left)

    def names(self) -> list[str]:
        """The meta-variables, which are the columns of R_T: of the left side and of the right one,
        the top node, the nodes in the middle, the leaves."""
        return [
            f"{side}{name}"
            for side, hanging in (("l", self.left), ("r", self.right))
            for name in ["t", *(f"m{n}" for n in range(1, max(hanging) + 1)), *leaf_names(self)]
        ]


def leaf_names(shape: Shape) -> list[str]:
    """The names of a side's leaves, without the side.

    >>> leaf_names(Shape((0, 0), (0, 0)))
    ['1', '2']
    """
    return [str(number) for number in range(1, shape.size + 1)]


def template_of(schema: Schema, join: LeafJoin) -> tuple[Shape, tuple[int, ...]]:
    """A query's template, and its row of R_T without query and window: the variables in the order
    of the template's names.

    >>> from datasets import two_level
    >>> template_of(two_level(), LeafJoin("q", ((4, 0), (1, 2))))
    (Shape(left=(0, 0), right=(0, 0)), (0, 2, 5, 0, 3, 1))
    """
    pairs = sorted(join.pairs)
    numbers = variables(schema)
    parents = tuple(tuple(schema.leaves[pair[side]][:-1] for pair in pairs) for side in (0, 1))
    shape, order = least_shape(hanging_of(parents[0]), hanging_of(parents[1]))
    row: list[int] = []
    for side, hanging in ((0, shape.left), (1, shape.right)):
        above = [parents[side][place] for place in order]
        one = len(set(above)) == 1 and len(above) > 1
        middles = {label: path for label, path in zip(hanging, above, strict=True) if label}
        row.append(numbers[above[0] if one else ()])
        row += [numbers[middles[label]] for label in sorted(middles)]
        row += [numbers[schema.leaves[pairs[place][side]]] for place in order]
    return shape, tuple(row)


def mirrored(shape: Shape) -> Shape:
    """The template of the query with its two sides exchanged."""
    return least_shape(shape.right, shape.left)[0]


def up_to_mirroring(shapes: Iterable[Shape]) -> int:
    """How many templates there are if one and its mirror image are one, as the thesis counts."""
    return len({frozenset((shape, mirrored(shape))) for shape in shapes})


def hanging_of(parents: tuple[tuple[str, ...], ...]) -> Hanging:
    """Of leaves with these parents: under a node in the middle hang two or more of them, but not
    all, else that node is the top."""
    counts = Counter(parents)
    if len(counts) == 1:
        return (0,) * len(parents)
    labels: dict[tuple[str, ...], int] = {}
    return tuple(
        0 if not parent or counts[parent] == 1 else labels.setdefault(parent, len(labels) + 1)
        for parent in parents
    )


@cache
def least_shape(left: Hanging, right: Hanging) -> tuple[Shape, tuple[int, ...]]:
    """The least of all shapes that are the same but for the order, and an order that makes it."""
    places = tuple(range(len(left)))
    if not any(left) and not any(right):
        return Shape(left, right), places

    def ordered(order: tuple[int, ...]) -> tuple[Hanging, Hanging]:
        return _renamed(left, order), _renamed(right, order)

    best = min(permutations(places), key=ordered)
    return Shape(*ordered(best)), best


def _renamed(hanging: Hanging, order: tuple[int, ...]) -> Hanging:
    """In an order, with the nodes numbered as they come first."""
    labels: dict[int, int] = {0: 0}
    return tuple(labels.setdefault(hanging[place], len(labels)) for place in order)
