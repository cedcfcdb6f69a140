"""The identity of events: those of a document by document and place, computed ones by attributes,
start and end (docs/semantics.md#sets-of-events)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from xscl.pattern_stage.algebra.attributes import attributes
from xscl.pattern_stage.algebra.compiled import events, values
from xscl.pattern_stage.algebra.nodes import Node, Repeat, Select, Source, Union
from xscl.pattern_stage.algebra.nodes.map import Map
from xscl.pattern_stage.algebra.nodes.union import INNER, SIDE
from xscl.pattern_stage.layouts import END, NUMBER, START, Layouts

__all__ = ["frozen", "is_document", "is_union", "may_repeat", "same"]

_PLAIN = frozenset([str, int, float, type(None)])


def frozen(value: Any) -> Hashable:
    """A JSON value as a key: equal for equal values, and a boolean equals no number."""
    kind = type(value)
    if kind in _PLAIN:
        return value  # type: ignore[no-any-return]
    if kind is bool:
        return bool, value
    if isinstance(value, dict):
        return dict, frozenset((name, frozen(one)) for name, one in value.items())
    if isinstance(value, list | tuple):
        return list, tuple(map(frozen, value))
    return value  # type: ignore[no-any-return]


def is_document(node: Node) -> bool:
    """Whether events of a node may still be documents, as opposed to selections from them."""
    match node:
        case Source():
            return True
        case Select() | Map(star=True, items=()):
            return is_document(node.input)
        case Union():
            return is_document(node.left) or is_document(node.right)
        case _:
            return False


def is_union(node: Node) -> bool:
    """Whether events of a node are those of either side of a UNION, or selections from them."""
    match node:
        case Select() | Map(star=True, items=()):
            return is_union(node.input)
        case _:
            return isinstance(node, Union)


def may_repeat(node: Node) -> bool:
    """Whether two events of a node may be equal.  Composites differ in their events, but for those
    of a union with a variable in both branches, where an event of either may be the same
    document's, and of an iteration in another, where chains may be cut in several ways."""
    if not node.variables:
        return True
    if isinstance(node, Union) and {*node.left.variables} & {*node.right.variables}:
        return True
    if isinstance(node, Repeat) and _iterates(node.right):
        return True
    return any(may_repeat(one) for one in node.parts if one.variables)


def _iterates(node: Node) -> bool:
    """Whether a part of a node is an iteration."""
    return isinstance(node, Repeat) or any(map(_iterates, node.parts))


def same(node: Node, layout: Layouts) -> Callable[[Any], Hashable]:
    """The key that equal events of a node share."""
    if node.variables:
        of = events(node, layout)
        return lambda a: tuple([(place, one[NUMBER]) for place, one in of(a)])
    lists = {None if one.open else one.names for one in _identified_by_attributes(node)}
    return _same(node, layout, by_place=len(lists) == 1 and None not in lists)


def _identified_by_attributes(node: Node) -> Iterator[Node]:
    """The nodes whose events are the events of a node, on either side of a UNION."""
    match node:
        case Select() | Map(star=True, items=()):
            yield from _identified_by_attributes(node.input)
        case Union():
            yield from _identified_by_attributes(node.left)
            yield from _identified_by_attributes(node.right)
        case _:
            yield node


def _same(node: Node, layout: Layouts, *, by_place: bool) -> Callable[[Any], Hashable]:
    match node:
        case Source():
            by_attributes = _same_attributes(node, layout, by_place=by_place)
            # A node of a document has one number, whatever blocks select it.
            return lambda a: by_attributes(a) if a[NUMBER] is None else a[NUMBER]
        case Select() | Map(star=True, items=()):
            return _same(node.input, layout, by_place=by_place)
        case Union():
            left = _same(node.left, layout, by_place=by_place)
            sides = left, _same(node.right, layout, by_place=by_place)
            return lambda a: sides[a[SIDE]](a[INNER])
        case _:
            return _same_attributes(node, layout, by_place=by_place)


def _same_attributes(node: Node, layout: Layouts, *, by_place: bool) -> Callable[[Any], Hashable]:
    """By the values only, where all compared events have the same names in one order."""
    if not by_place:
        gather = attributes(node, layout)
        return lambda a: (a[START], a[END], frozen(gather(a)))
    read = values(node, node.names, layout)

    def key(a: Any) -> Hashable:
        found = read(a)
        if _PLAIN.issuperset(map(type, found)):
            return a[START], a[END], found
        return a[START], a[END], tuple(map(frozen, found))

    return key
