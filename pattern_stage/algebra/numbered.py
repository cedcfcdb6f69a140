"""The nodes of composites with their variables numbered in the order of their events, each node by
itself: nodes that differ in the names of variables are then equal (Schultz-Møller et al.,
section 4.3).

What a node calls its inputs' variables is `Renamed` above these, which needs no operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xscl.pattern_stage.algebra.nodes import (
    Except,
    Node,
    Once,
    Renamed,
    Repeat,
    Select,
    Sequence,
    Union,
    Variable,
)
from xscl.pattern_stage.values.terms import STEP, Column, Range, Spread, rebuilt

__all__ = ["numbered"]

Names = tuple[str, ...]
"""What variables were called, by their numbers."""


def numbered(node: Node) -> tuple[Node, Names]:
    """A node of composites with numbers for its variables, and what these were called."""
    match node:
        case Variable(name, source):
            return Variable("0", source), (name,)
        case Select(condition, below):
            input_, names = numbered(below)
            return Select(_called(condition, names), input_), names
        case Once(below):
            input_, names = numbered(below)
            return Once(input_), names
        case Repeat(condition, continuing, once, below):
            (first, of_first), (right, names) = numbered(once), numbered(below)
            left = _renamed(first, of_first, names)
            return Repeat(_called(condition, names), _called(continuing, names), left, right), names
        case Sequence() | Union() | Except():
            (left, of_left), (right, of_right) = numbered(node.left), numbered(node.right)
            names = (*of_left, *(one for one in of_right if one not in of_left))
            right = _renamed(right, of_right, names)
            if isinstance(node, Union):
                return Union(left, right), names
            condition = _called(node.condition, names)
            made = replace(node, condition=condition, left=left, right=right)
            return made, names if isinstance(node, Sequence) else of_left
    raise TypeError(f"{type(node).__name__} makes no composites")


def _renamed(node: Node, own: Names, names: Names) -> Node:
    """A node as another calls its variables."""
    called = tuple(str(names.index(one)) for one in own)
    return node if called == tuple(map(str, range(len(own)))) else Renamed(called, node)


def _called(condition: Any, names: Names) -> Any:
    """A condition with numbers in place of names."""
    numbers: Mapping[str, str] = {name: str(place) for place, name in enumerate(names)}

    def number(name: str) -> str:
        variable, step, rest = name.partition(STEP)
        # A condition on a union may read what only the other branch has: missing here.
        return f"{numbers.get(variable, '-')}{step}{rest}"

    def instead(term: object) -> object:
        match term:
            case Column(side, name):
                return Column(side, number(name))
            case Range(side, name, which):
                return Range(side, number(name), which)
            case Spread(one, other):
                return Spread(number(one), number(other))
        return None

    return rebuilt(condition, instead)
