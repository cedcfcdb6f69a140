"""Plans evaluated from the set definitions (docs/semantics.md#operators): every event of a node, by
going through all pairs; conditions and composites are compiled as the stage compiles them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from xscl.pattern_stage.algebra import admits, attributes, continues, iterated, mapped
from xscl.pattern_stage.algebra.identity import frozen, is_document
from xscl.pattern_stage.algebra.nodes import Iterate, Map, Node, Select, Source, Union
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.pattern_stage.layouts import Layouts

__all__ = ["Output", "outputs"]

Event = tuple[Any, ...]
Output = tuple[int, int, int | None, object]
"""Start, end, the number of the document that it still is, attributes."""


def outputs(
    root: Node, constants: tuple[Any, ...], events: Callable[[Layouts], Mapping[int, list[Event]]]
) -> set[Output]:
    """The outputs of a query; `events` returns the events of each source in a layout."""
    layout = Layouts()
    _prepared(root, layout)
    gather = attributes(root, layout)
    streams = events(layout)
    return {
        (event[0], event[1], event[2] if is_document(root) else None, frozen(gather(event)))
        for event in _events(root, constants, streams, layout)
    }


def _prepared(node: Node, layout: Layouts) -> None:
    """Asks the layout for all that conditions read."""
    for name in ("input", "left", "right"):
        if hasattr(node, name):
            _prepared(getattr(node, name), layout)
    match node:
        case Select() | Following():
            admits(node, layout)
        case Map():
            mapped(node, layout)
        case Iterate():
            for first in (False, True):
                admits(node, layout, first)
                continues(node, first, layout)
                iterated(node, first, layout)


def _events(
    node: Node,
    c: tuple[Any, ...],
    streams: Mapping[int, list[Event]],
    layout: Layouts,
) -> list[Event]:
    def below(one: Node) -> list[Event]:
        return _events(one, c, streams, layout)

    match node:
        case Source(place):
            return streams[place]
        case Select():
            holds = admits(node, layout)
            return [event for event in below(node.input) if holds(event, c)]
        case Map():
            make = mapped(node, layout)
            return [make(event, c) for event in below(node.input)]
        case Union():
            return [
                (event[0], event[1], event[2] if is_document(one) else None, side, event)
                for side, one in enumerate((node.left, node.right))
                for event in below(one)
            ]
        case Following():
            holds, right = admits(node, layout), below(node.right)
            return [
                (one[0], two[1], None, one, two)
                for one in below(node.left)
                for two in _first(one, right, partial(_admitted, holds, one, c))
            ]
        case Iterate():
            found: list[Event] = []
            right = below(node.right)
            for one in below(node.left):
                pending = [one]
                while pending:
                    element = pending.pop()
                    first = element is one
                    theta, rho = admits(node, layout, first), continues(node, first, layout)
                    make = iterated(node, first, layout)
                    taken = _first(element, right, partial(_taken, theta, one, element, c))
                    longer = [make(one, e, element, c) for e in taken if rho(one, e, element, c)]
                    pending += longer
                    found += longer
            return found
    raise TypeError(node)


def _first(one: Event, right: list[Event], holds: Callable[[Event], bool]) -> list[Event]:
    """The right events after one that hold and end first."""
    admitted = [two for two in right if one[1] < two[0] and holds(two)]
    first = min((two[1] for two in admitted), default=None)
    return [two for two in admitted if two[1] == first]


def _admitted(holds: Callable[..., bool], one: Event, c: tuple[Any, ...], two: Event) -> bool:
    return holds(one, two, None, c)


def _taken(
    theta: Callable[..., bool], one: Event, element: Event, c: tuple[Any, ...], two: Event
) -> bool:
    return theta(one, two, element, c)
