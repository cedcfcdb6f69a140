"""All attributes of an event, name → JSON value: of a closed node by its names, of an open one
from what its inputs show (patterns-cel.md, section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Row
from typing import Any

from pattern_stage.algebra.compiled import values
from pattern_stage.algebra.functions import as_json, as_number, as_text, entry
from pattern_stage.algebra.layout import NULL, WHOLE, Layout
from pattern_stage.algebra.nodes import Aggregate, Node, Select, Sequence, Source, Union
from pattern_stage.algebra.nodes.iterate import FIRST, LAST, Iterate
from pattern_stage.algebra.nodes.map import Map, computed
from pattern_stage.pattern import Form, Slot

__all__ = ["attributes", "published", "reader"]

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


def published(shown: Mapping[str, object]) -> dict[str, object]:
    """Attributes as those of a document that has them as its members."""
    found = ((name, NULL if one is None else entry(one)) for name, one in shown.items())
    return {name: as_json(one) for name, one in found if one is not None}


def reader(node: Node, slots: Row[Slot], layout: Layout) -> Callable[[Any], tuple[Any, ...]]:
    """From an event to the values of slots, each the attribute of the first step's name, as of a
    document that has its attributes as members.

    It reads what results show, which instances have that were there before anybody asked for more.
    """
    names = [slot.attribute.steps[0] for slot in slots]
    conversions = [_CONVERSIONS[slot.form] for slot in slots]
    every = _shown(node, names, layout) if node.open else values(node, names, layout)
    return lambda event: tuple(
        [convert(entry(one)) for convert, one in zip(conversions, every(event), strict=True)]
    )


_CONVERSIONS: dict[Form, Callable[[object], object]] = {
    Form.TEXT: as_text,
    Form.NUMBER: as_number,
    Form.VALUE: lambda value: value,
}


def _shown(node: Node, names: Row[str], layout: Layout) -> Callable[[Any], list[object]]:
    """The values of some attributes among all."""
    gather = attributes(node, layout)

    def read(event: Any) -> list[object]:
        found = {name: NULL if one is None else one for name, one in gather(event).items()}
        return [found.get(name) for name in names]

    return read


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
    left, outer, is_common = attributes(node.left, layout), node.outer, node.is_common
    if node.right_names is None:
        right = attributes(node.right, layout)
    else:
        right = _listed(node.right, node.right_names, layout)
    aggregates = tuple(name for name, _ in node.aggregates)
    last = _listed(node, aggregates, layout)

    def gather(event: Any) -> dict[str, object]:
        first = left(event[FIRST])
        found = {outer(name): value for name, value in first.items()}
        # What keeps its name stands before what gets it.
        found |= {name: first[name] for name in found if name in first and not is_common(name)}
        found |= right(event[LAST])
        for name in aggregates:
            found.pop(name, None)
        return found | last(event)

    return gather
