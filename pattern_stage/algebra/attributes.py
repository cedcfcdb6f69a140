"""All attributes of an event, name → JSON value: of a closed node by its names, of an open one
from what its inputs show (patterns-cel.md, section 2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pattern_stage.algebra.compiled import values
from pattern_stage.algebra.functions import as_json
from pattern_stage.algebra.layout import WHOLE, Layout
from pattern_stage.algebra.nodes import Aggregate, Node, Select, Sequence, Source, Union
from pattern_stage.algebra.nodes.iterate import FIRST, LAST, Iterate
from pattern_stage.algebra.nodes.map import Map, computed

__all__ = ["attributes"]

Gather = Callable[[Any], dict[str, object]]


def attributes(node: Node, layout: Layout) -> Gather:
    """The attributes that an event of a node has; what it lacks is not in the dict."""
    if not node.open:
        return _listed(node, node.names, layout)
    match node:
        case Source(type_):
            layout.ask_whole(type_)
            return lambda event: dict(event[WHOLE])
        case Select():
            return attributes(node.input, layout)
        case Map():
            return _mapped(node, layout)
        case Union():
            sides = attributes(node.left, layout), attributes(node.right, layout)
            return lambda event: sides[event[3]](event[4])
        case Sequence():
            return _following(node, layout)
        case Iterate():
            return _iterated(node, layout)
        case Aggregate():
            raise TypeError("an aggregate's attributes are its items")


def _listed(node: Node, names: tuple[str, ...], layout: Layout) -> Gather:
    read = values(node, names, layout)

    def gather(event: Any) -> dict[str, object]:
        pairs = zip(names, read(event), strict=True)
        return {name: as_json(value) for name, value in pairs if value is not None}

    return gather


def _mapped(node: Map, layout: Layout) -> Gather:
    names = tuple(name for name, _ in node.items)
    beside, items = attributes(node.input, layout), _listed(node, names, layout)
    inner = 4 if computed(node.items) else None

    def gather(event: Any) -> dict[str, object]:
        found = beside(event if inner is None else event[inner])
        for name in names:
            found.pop(name, None)
        return found | items(event)

    return gather


def _following(node: Sequence, layout: Layout) -> Gather:
    left, right = attributes(node.left, layout), attributes(node.right, layout)
    outer = node.outer

    def gather(event: Any) -> dict[str, object]:
        found = {outer(name): value for name, value in left(event[4]).items()}
        return found | right(event[5])

    return gather


def _iterated(node: Iterate, layout: Layout) -> Gather:
    left, outer = attributes(node.left, layout), node.outer
    if node.right_names is None:
        right = attributes(node.right, layout)
    else:
        right = _listed(node.right, node.right_names, layout)
    aggregates = tuple(name for name, _ in node.aggregates)
    last = _listed(node, aggregates, layout)

    def gather(event: Any) -> dict[str, object]:
        found = {outer(name): value for name, value in left(event[FIRST]).items()}
        found |= right(event[LAST])
        for name in aggregates:
            found.pop(name, None)
        return found | last(event)

    return gather
