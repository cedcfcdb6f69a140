"""A block as the conditions it consists of: its steps, parents first, each with its filters.

The steps of the main path and those of the paths in filters that bind variables are items of one
tree, the block's tree pattern (section 6.2 of the thesis).  A filter is taken apart at `and`, so
that each of its conjuncts is a condition of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from xscl.dissection.xpath_text import filters_of
from xscl.language.conditions import binds, conjuncts_of, is_number
from xscl.language.syntax import Binary, Block, Condition, Function, Path, Step, SubQuery
from xscl.language.unparse import Wording

__all__ = ["Item", "ItemFilter", "Pattern", "pattern_of"]


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """A condition that a step's node must meet, and how it was written."""

    condition: Condition
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """A step: its node is reached from the parent item's, or (None) from the document.

    `judged` is False for what always holds: `.`, and the root element of a stream alone.
    """

    number: int
    parent: int | None
    step: Step
    filters: tuple[ItemFilter, ...]
    text: str
    judged: bool

    @property
    def variable(self) -> str | None:
        """The variable that it binds."""
        return None if self.step.variable is None else self.step.variable.text


@dataclass(frozen=True, slots=True)
class Pattern:
    """A block's number from 1, its stream (None: the results of a sub-query), its text and its
    items, parents first."""

    number: int
    stream: str | None
    text: str
    items: tuple[Item, ...]


def pattern_of(number: int, block: Block | SubQuery, wording: Wording) -> Pattern:
    """The tree pattern of the block of a number."""
    items: list[Item] = []
    if block.steps:
        _add(items, None, block.steps, wording)
    else:
        items.append(Item(0, None, Step("/", "*", None, (), block.at), (), "", False))
    stream = block.stream.text if isinstance(block, Block) else None
    return Pattern(number, stream, wording.block(block), tuple(items))


def _add(items: list[Item], parent: int | None, steps: tuple[Step, ...], wording: Wording) -> None:
    """Adds a path: its steps, each followed by the paths in its filters that bind."""
    relative = parent is not None
    for index, step in enumerate(steps):
        # A `.` at the start is seen in the text of the step after it.
        after_dot = index == 1 and steps[0].test == "." and relative
        axis = "" if relative and index == 0 else step.axis
        text = f"{'.' if after_dot else ''}{axis}{wording.bare(step)}"
        filters: list[ItemFilter] = []
        branches: list[Path] = []
        for condition in step.filters:
            _split(step, condition, wording, filters, branches)
        number = len(items)
        items.append(Item(number, parent, step, tuple(filters), text, step.test != "."))
        for branch in branches:
            _add(items, number, branch.steps, wording)
        parent = number


def _split(
    step: Step,
    condition: Condition,
    wording: Wording,
    filters: list[ItemFilter],
    branches: list[Path],
) -> None:
    conjuncts = list(conjuncts_of(condition))
    binding = [c for c in conjuncts if isinstance(c, Path) and binds(c)]
    branches += binding
    if len(conjuncts) == 1:
        if not binding:
            filters.append(ItemFilter(condition, wording.condition(condition)))
        return
    rest = [c for c in conjuncts if c not in binding]
    if any(_asks_last(step, conjunct) for conjunct in rest):
        # What asks for `last()` counts the nodes before it: it must not come to see fewer.
        whole = rest[0]
        for conjunct in rest[1:]:
            whole = Binary("and", whole, conjunct, conjunct.at)
        rest = [whole]
    for conjunct in rest:
        # Under `and` a number is no position.
        value = _boolean(conjunct) if is_number(conjunct) else conjunct
        filters.append(ItemFilter(value, wording.condition(conjunct)))


def _asks_last(step: Step, condition: Condition) -> bool:
    return any(found.positional for found in filters_of(step, (_boolean(condition),)))


def _boolean(condition: Condition) -> Condition:
    return Function("boolean", (condition,), condition.at)
