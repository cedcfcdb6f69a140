"""Which events are one: those of a document by document and place, computed ones by attributes,
start and end (patterns-cel.md, section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from pattern_stage.algebra.attributes import attributes
from pattern_stage.algebra.compiled import values
from pattern_stage.algebra.layout import Layout
from pattern_stage.algebra.nodes import Node, Select, Source, Union
from pattern_stage.algebra.nodes.map import Map

__all__ = ["frozen", "is_document", "same"]

_PLAIN = frozenset([str, int, float, type(None)])


def frozen(value: Any) -> Hashable:
    """A JSON value as a key: equal for equal values, and no truth is a number."""
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
    """Whether events of a node may still be documents, and not what was selected of them."""
    match node:
        case Source():
            return True
        case Select() | Map(star=True, items=()):
            return is_document(node.input)
        case Union():
            return is_document(node.left) or is_document(node.right)
        case _:
            return False


def same(node: Node, layout: Layout) -> Callable[[Any], Hashable]:
    """The key that equal events of a node share."""
    lists = {None if one.open else one.names for one in _told_by_attributes(node)}
    return _same(node, layout, by_place=len(lists) == 1 and None not in lists)


def _told_by_attributes(node: Node) -> Iterator[Node]:
    """The nodes whose events are those of a node, on whichever side of a UNION."""
    match node:
        case Select() | Map(star=True, items=()):
            yield from _told_by_attributes(node.input)
        case Union():
            yield from _told_by_attributes(node.left)
            yield from _told_by_attributes(node.right)
        case _:
            yield node


def _same(node: Node, layout: Layout, *, by_place: bool) -> Callable[[Any], Hashable]:
    match node:
        case Source(type_):
            by_attributes = _same_attributes(node, layout, by_place=by_place)
            return lambda a: by_attributes(a) if a[2] is None else (type_, a[2])
        case Select() | Map(star=True, items=()):
            return _same(node.input, layout, by_place=by_place)
        case Union():
            left = _same(node.left, layout, by_place=by_place)
            sides = left, _same(node.right, layout, by_place=by_place)
            return lambda a: sides[a[3]](a[4])
        case _:
            return _same_attributes(node, layout, by_place=by_place)


def _same_attributes(node: Node, layout: Layout, *, by_place: bool) -> Callable[[Any], Hashable]:
    """By the values alone where all that it is compared with has the same names in one order."""
    if not by_place:
        gather = attributes(node, layout)
        return lambda a: (a[0], a[1], frozen(gather(a)))
    read = values(node, node.names, layout)

    def key(a: Any) -> Hashable:
        found = read(a)
        if _PLAIN.issuperset(map(type, found)):
            return a[0], a[1], found
        return a[0], a[1], tuple(map(frozen, found))

    return key
