"""From the nodes that are left of a block to the assignments of what is compared.

Items of a tree pattern below one and the same node are independent: so where an item has a
single node left, what stands below it falls into factors, and rows are multiplied out only
below items of several nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xpath_stage import apply
from xscl.language.syntax import Step
from xscl.why.relations import Cell, Factor, bounded
from xscl.why.trees import Node, along

__all__ = ["Links", "Operand", "factors_of"]

Links = Mapping[int, Mapping[Node | None, Sequence[Node]]]
"""Of each item the nodes reached from each node of its parent (None: from the document)."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A side of a comparison that is about a variable: the nodes of a path from it (or the
    variable's own), under functions, innermost first."""

    text: str
    variable: str
    steps: tuple[Step, ...]
    functions: tuple[str, ...]

    def cell(self, node: Node) -> Cell:
        """The values that it ranges over for one node of its variable."""
        found = along(node, self.steps)
        return tuple(dict.fromkeys(apply(self.functions, n.string()) for n in found))


def factors_of(
    parents: Mapping[int, int | None],
    links: Links,
    live: Mapping[int, Mapping[Node, None]],
    operands: Mapping[int, Sequence[Operand]],
) -> tuple[Factor, ...]:
    """The factors of a block: `parents` are the items' parents (smaller numbers), `live` the
    nodes that are left of each, `operands` those of the items' variables."""
    sides = _sides(parents, operands)
    children: dict[int, list[int]] = {number: [] for number in parents}
    for number, parent in parents.items():
        if parent is not None and sides[number]:
            children[parent].append(number)
    factors: list[Factor] = []
    single: set[int] = set()
    tops: list[int] = []
    for number in sorted(parents):
        parent = parents[number]
        if parent is not None and parent not in single:
            continue
        if len(live[number]) > 1:
            tops += [number] if sides[number] else []
            continue
        single.add(number)
        (node,) = live[number]
        factors += (
            Factor((operand.text,), frozenset([(operand.cell(node),)]))
            for operand in operands.get(number, ())
        )
    rows: dict[int, dict[Node, set[tuple[Cell, ...]]]] = {}
    for number in sorted(parents.keys() - single, reverse=True):
        if sides[number]:
            own = operands.get(number, ())
            below = [(rows[child], links[child]) for child in children[number]]
            rows[number] = {node: _rows(node, own, below) for node in live[number]}
    for number in tops:
        every = frozenset(row for some in rows[number].values() for row in some)
        bounded(len(every))
        factors.append(Factor(sides[number], every))
    return tuple(factors)


def _rows(
    node: Node,
    operands: Sequence[Operand],
    below: Sequence[
        tuple[
            Mapping[Node, set[tuple[Cell, ...]]],
            Mapping[Node | None, Sequence[Node]],
        ]
    ],
) -> set[tuple[Cell, ...]]:
    """The rows of one node of an item: its own cells with any row of each child item."""
    rows = {tuple(operand.cell(node) for operand in operands)}
    for of_child, links in below:
        found = {row for child in links.get(node, ()) for row in of_child.get(child, ())}
        bounded(len(rows) * len(found))
        rows = {(*row, *beside) for row, beside in product(rows, found)}
    return rows


def _sides(
    parents: Mapping[int, int | None], operands: Mapping[int, Sequence[Operand]]
) -> dict[int, tuple[str, ...]]:
    """The operands at each item and below it, in the order of the columns."""
    below: dict[int, list[tuple[str, ...]]] = {number: [] for number in parents}
    sides: dict[int, tuple[str, ...]] = {}
    for number in sorted(parents, reverse=True):
        own = tuple(operand.text for operand in operands.get(number, ()))
        sides[number] = own + tuple(side for some in reversed(below[number]) for side in some)
        parent = parents[number]
        if parent is not None:
            below[parent].append(sides[number])
    return sides
