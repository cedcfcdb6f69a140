"""A block as a tree of items and the conditions on them, in the order in which they are judged.

The steps of the main path, and of the paths in filters that bind variables, are items of one tree,
the block's tree pattern (section 6.2 of the thesis).  A filter is taken apart at `and`, so
that each of its conjuncts is a condition of its own.  A tree pattern is one XPath expression for
each of its items: the way to it, with a filter for each branch beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from lxml import etree

from xscl.language.conditions import as_filter, binds, conjuncts_of, existence, lasts
from xscl.language.syntax import Binary, Block, Condition, Path, Step, SubQuery
from xscl.language.unparse import Wording
from xscl.why.trees import Node, Tree, compiled, nodes

__all__ = ["BlockCondition", "Item", "Pattern", "pattern_of"]


@dataclass(frozen=True, slots=True)
class Item:
    """A step: its node is reached from the parent item's, or (None) from the document."""

    number: int
    parent: int | None
    step: Step

    @property
    def variable(self) -> str | None:
        """The variable that it binds."""
        return None if self.step.variable is None else self.step.variable.text


@dataclass(frozen=True, slots=True)
class BlockCondition:
    """That an item's step leads to a node (`condition` is None), or a filter of it."""

    kind: Literal["step", "filter"]
    item: int
    text: str
    condition: Condition | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A block's number from 1, its stream (None: the results of a sub-query) and text; its items,
    parents first, and its conditions; `output` is the item whose node the block puts out.

    Those that hold are given by their places.  What always holds has no condition: `.`, and the
    root element of a stream alone.
    """

    number: int
    stream: str | None
    text: str
    items: tuple[Item, ...]
    conditions: tuple[BlockCondition, ...]
    output: int

    def nodes(
        self, tree: Tree, number: int, held: tuple[int, ...], *, alone: bool = False
    ) -> list[Node]:
        """An item's nodes that are part of an assignment of all items that there are; `alone`: for
        which the conditions on the way to them hold."""
        return nodes(_way(self, number, held, alone), tree.root)

    def below(self, node: Node, number: int, held: tuple[int, ...]) -> list[Node]:
        """Those of them that are reached from a node of the parent item."""
        return nodes(_last_step(self, number, held, node.attribute or ""), node.element)

    def there(self, held: tuple[int, ...]) -> dict[int, Item]:
        """The items that have nodes where some conditions hold, by number."""
        return _there(self, held)

    def path(self, number: int, held: tuple[int, ...], *, alone: bool = False) -> tuple[Step, ...]:
        """The steps from the document to an item, with the filters that hold and, unless `alone`,
        filters for the branches that leave the way to it."""
        filters: dict[int, list[Condition]] = {item.number: [] for item in self.items}
        for condition in (self.conditions[place] for place in held):
            if condition.condition is not None:
                filters[condition.item].append(condition.condition)
        children: dict[int, list[int]] = {item.number: [] for item in self.items}
        for item in () if alone else self.there(held).values():
            if item.parent is not None:
                children[item.parent].append(item.number)

        def step(at: int, below: int | None) -> Step:
            branches = (existence(tuple(down(child))) for child in children[at] if child != below)
            return replace(self.items[at].step, variable=None, filters=(*filters[at], *branches))

        def down(child: int) -> Iterator[Step]:
            # Along the last of the children, so that a long path is no deep one.
            at: int | None = child
            while at is not None:
                below = children[at][-1] if children[at] else None
                yield step(at, below)
                at = below

        steps: list[Step] = []
        at: int | None = number
        below = None
        while at is not None:
            steps.append(step(at, below))
            at, below = self.items[at].parent, at
        return tuple(reversed(steps))


# Most documents are judged by the same paths; some meet conditions that no other does.
_remembered = lru_cache(maxsize=2_000)


@_remembered
def _there(pattern: Pattern, held: tuple[int, ...]) -> dict[int, Item]:
    places = set(range(len(pattern.conditions))).difference(held)
    missing = {c.item for c in map(pattern.conditions.__getitem__, places) if c.kind == "step"}
    found: dict[int, Item] = {}
    for item in pattern.items:
        if item.number not in missing and (item.parent is None or item.parent in found):
            found[item.number] = item
    return found


@_remembered
def _way(pattern: Pattern, number: int, held: tuple[int, ...], alone: bool) -> etree.XPath:
    return compiled(pattern.path(number, held, alone=alone), "/")


@_remembered
def _last_step(pattern: Pattern, number: int, held: tuple[int, ...], start: str) -> etree.XPath:
    (*_, last) = pattern.path(number, held)
    return compiled((last,), start)


def pattern_of(number: int, block: Block | SubQuery, wording: Wording) -> Pattern:
    """The tree pattern of the block of a number."""
    items: list[Item] = []
    conditions: list[BlockCondition] = []
    output = 0
    if block.steps:
        output = _add(items, conditions, None, block.steps, wording)
    else:
        items.append(Item(0, None, Step("/", "*", None, (), block.at)))
    stream = block.stream.text if isinstance(block, Block) else None
    return Pattern(number, stream, wording.block(block), tuple(items), tuple(conditions), output)


def _add(
    items: list[Item],
    conditions: list[BlockCondition],
    parent: int | None,
    steps: tuple[Step, ...],
    wording: Wording,
) -> int:
    """Adds a path: its steps, each followed by the paths in its filters that bind; returns the
    item of the last step."""
    relative = parent is not None
    number = -1
    for index, step in enumerate(steps):
        number = len(items)
        items.append(Item(number, parent, step))
        if step.test != ".":
            # A `.` at the start is seen in the text of the step after it.
            after_dot = index == 1 and steps[0].test == "." and relative
            axis = "" if relative and index == 0 else step.axis
            text = f"{'.' if after_dot else ''}{axis}{wording.bare(step)}"
            conditions.append(BlockCondition("step", number, text))
        branches: list[Path] = []
        for condition in step.filters:
            for shown, value in _taken_apart(condition, branches):
                text = f"[{wording.condition(shown)}]"
                conditions.append(BlockCondition("filter", number, text, value))
        for branch in branches:
            _add(items, conditions, number, branch.steps, wording)
        parent = number
    return number


def _taken_apart(
    condition: Condition, branches: list[Path]
) -> Iterator[tuple[Condition, Condition]]:
    """The conjuncts of a filter that bind nothing, as they are shown and as they are evaluated."""
    conjuncts = list(conjuncts_of(condition))
    binding = [c for c in conjuncts if isinstance(c, Path) and binds(c)]
    branches += binding
    rest = [c for c in conjuncts if c not in binding]
    if any(any(lasts(conjunct)) for conjunct in rest):
        # What asks for `last()` counts the nodes before it: it must not come to see fewer.
        whole = rest[0]
        for conjunct in rest[1:]:
            whole = Binary("and", whole, conjunct, conjunct.at)
        rest = [whole]
    for conjunct in rest:
        # Under `and` a number is no position.
        yield conjunct, as_filter(conjunct) if conjuncts[1:] else conjunct
