"""All attributes of an event, name → JSON value: of a closed node by its names, of an open one
from what its inputs show (docs/semantics.md#names).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Row
from typing import Any

from xscl.pattern_stage.algebra.compiled import values
from xscl.pattern_stage.algebra.functions import as_json, as_number, as_text, entry
from xscl.pattern_stage.algebra.nodes import Node, Select, Sequence, Source, Union
from xscl.pattern_stage.algebra.nodes.iterate import FIRST, LAST, Iterate
from xscl.pattern_stage.algebra.nodes.map import INNER as MAPPED
from xscl.pattern_stage.algebra.nodes.map import Map, computed
from xscl.pattern_stage.algebra.nodes.sequence import LEFT, RIGHT
from xscl.pattern_stage.algebra.nodes.union import INNER, SIDE
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.values.terms import EVERYTHING, NULL, Form, Slot

__all__ = ["attributes", "published", "reader"]

Gather = Callable[[Any], dict[str, object]]


def attributes(node: Node, layout: Layouts) -> Gather:
    """The attributes that an event of a node has; what it lacks is not in the dict."""
    if not node.open:
        return _listed(node, node.names, layout)
    match node:
        case Source(type_):
            everything = layout.place((type_,), EVERYTHING)
            return lambda event: dict(event[everything])
        case Select():
            return attributes(node.input, layout)
        case Map():
            return _mapped(node, layout)
        case Union():
            sides = attributes(node.left, layout), attributes(node.right, layout)
            return lambda event: sides[event[SIDE]](event[INNER])
        case Sequence():
            return _following(node, layout)
        case Iterate():
            return _iterated(node, layout)
    raise TypeError("an aggregate's attributes are its items")


def published(shown: Mapping[str, object]) -> dict[str, object]:
    """Attributes as those of a document that has them as its members."""
    found = ((name, NULL if one is None else entry(one)) for name, one in shown.items())
    return {name: as_json(one) for name, one in found if one is not None}


def reader(
    node: Node, slots: Row[Slot | None], layout: Layouts
) -> Callable[[Any], tuple[Any, ...]]:
    """From an event to the values of slots, each the attribute of the first step's name, or of
    EVERYTHING, as of a document that has its attributes as members.

    It reads what results show, which instances from before this demand have, too.
    """
    if EVERYTHING in slots:
        place, gather = slots.index(EVERYTHING), attributes(node, layout)
        before, after = (reader(node, some, layout) for some in (slots[:place], slots[place + 1 :]))
        return lambda event: (*before(event), published(gather(event)), *after(event))
    some = [slot for slot in slots if slot is not None]
    assert len(some) == len(slots), "sources have no place that none reads"
    names = [slot.attribute.steps[0] for slot in some]
    conversions = [_CONVERSIONS[slot.form] for slot in some]
    every = _shown(node, names, layout) if node.open else values(node, names, layout)
    return lambda event: tuple(
        [convert(entry(one)) for convert, one in zip(conversions, every(event), strict=True)]
    )


_CONVERSIONS: dict[Form, Callable[[object], object]] = {
    Form.TEXT: as_text,
    Form.NUMBER: as_number,
    Form.VALUE: lambda value: value,
}


def _shown(node: Node, names: Row[str], layout: Layouts) -> Callable[[Any], list[object]]:
    """The values of some attributes among all."""
    gather = attributes(node, layout)

    def read(event: Any) -> list[object]:
        found = {name: NULL if one is None else one for name, one in gather(event).items()}
        return [found.get(name) for name in names]

    return read


def _listed(node: Node, names: tuple[str, ...], layout: Layouts) -> Gather:
    read = values(node, names, layout)

    def gather(event: Any) -> dict[str, object]:
        pairs = zip(names, read(event), strict=True)
        return {name: as_json(value) for name, value in pairs if value is not None}

    return gather


def _mapped(node: Map, layout: Layouts) -> Gather:
    names = tuple(name for name, _ in node.items)
    others, items = attributes(node.input, layout), _listed(node, names, layout)
    inner = MAPPED if computed(node.items) else None

    def gather(event: Any) -> dict[str, object]:
        found = others(event if inner is None else event[inner])
        for name in names:
            found.pop(name, None)
        return found | items(event)

    return gather


def _following(node: Sequence, layout: Layouts) -> Gather:
    left, right = attributes(node.left, layout), attributes(node.right, layout)
    outer = node.outer

    def gather(event: Any) -> dict[str, object]:
        found = {outer(name): value for name, value in left(event[LEFT]).items()}
        return found | right(event[RIGHT])

    return gather


def _iterated(node: Iterate, layout: Layouts) -> Gather:
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
        # An attribute that keeps its name precedes one that gets it.
        found |= {name: first[name] for name in found if name in first and not is_common(name)}
        found |= right(event[LAST])
        for name in aggregates:
            found.pop(name, None)
        return found | last(event)

    return gather
