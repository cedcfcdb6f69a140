"""Texts to functions, one for all that read alike: conditions, composites, readers of events.

Parameters are `a`, `b`, `i` (events of sides 0, 1, 2) and `c`, the constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from pattern_stage.algebra.functions import NAMES
from pattern_stage.algebra.layout import Layout
from pattern_stage.algebra.nodes import Iterate, Node, Select
from pattern_stage.algebra.nodes import Sequence as Following
from pattern_stage.algebra.nodes.map import Map, computed
from pattern_stage.algebra.reading import Reading
from pattern_stage.algebra.texts import Texts
from pattern_stage.pattern import Form

__all__ = ["admits", "function", "goes_on", "iterated", "mapped", "values"]


@lru_cache(maxsize=10_000)
def function(parameters: str, result: str) -> Callable[..., Any]:
    """A function by its text, which is made of places and of names of our own, never of what a
    user wrote."""
    names: dict[str, Any] = {}
    exec(compile(f"def f({parameters}):\n    return {result}\n", "<plan>", "exec"), NAMES, names)
    return names["f"]  # type: ignore[no-any-return]


def admits(
    node: Select | Following | Iterate, layout: Layout, first: bool = False
) -> Callable[..., bool]:
    """θ: `(a, c)` of a Select, `(a, b, c)` of a Sequence, `(a, b, i, c)` of an Iterate, where the
    `first` iteration does not read `i`."""
    match node:
        case Select():
            return function("a, c", Texts.over(node.input, layout).condition(node.condition))
        case Following():
            texts = Texts.between(node.left, node.right, layout)
            return function("a, b, c", texts.condition(node.condition))
        case Iterate():
            texts = Texts.within(node, first, layout)
            return function("a, b, i, c", texts.condition(node.condition))


def goes_on(node: Iterate, first: bool, layout: Layout) -> Callable[..., bool]:
    """ρ, `(a, b, i, c)`."""
    return function("a, b, i, c", Texts.within(node, first, layout).condition(node.going_on))


def iterated(node: Iterate, first: bool, layout: Layout) -> Callable[..., tuple[Any, ...]]:
    """`(a, b, i, c)` to the event of the next iteration."""
    texts = Texts.within(node, first, layout)
    values = "".join(f", {texts.value(scalar)}" for _, scalar in node.aggregates)
    return function("a, b, i, c", f"(a[0], b[1], None, None, a, b{values})")


def mapped(node: Map, layout: Layout) -> Callable[..., tuple[Any, ...]]:
    """`(a, c)` to a Map's event."""
    items = computed(node.items)
    if not items:
        return function("a, c", "a")
    texts = Texts.over(node.input, layout)
    values = "".join(f", {texts.value(scalar)}" for _, scalar in items)
    return function("a, c", f"(a[0], a[1], None, None, a{values})")


def values(node: Node, names: Sequence[str], layout: Layout) -> Callable[..., tuple[Any, ...]]:
    """`(a)` to the JSON values of attributes."""
    reading = Reading(layout)
    texts = [node.read(name, Form.VALUE, "a", reading) for name in names]
    return function("a", f"({''.join(f'{text}, ' for text in texts)})")
