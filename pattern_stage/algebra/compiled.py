"""SideTexts to functions, one for all equal texts: conditions, composites, readers of events.

Parameters are `a`, `b`, `i` (events of sides 0, 1, 2) and `c`, the constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from xscl.pattern_stage.algebra.composites import events_text, history_text
from xscl.pattern_stage.algebra.functions import NAMES
from xscl.pattern_stage.algebra.nodes import (
    Except,
    Iterate,
    Node,
    Once,
    Repeat,
    Select,
    Variable,
)
from xscl.pattern_stage.algebra.nodes import Sequence as Following
from xscl.pattern_stage.algebra.nodes.map import Map, computed
from xscl.pattern_stage.algebra.reading import ReadContext
from xscl.pattern_stage.algebra.texts import SideTexts
from xscl.pattern_stage.layouts import END, START, Layouts
from xscl.pattern_stage.values.terms import Form

__all__ = [
    "admits",
    "continues",
    "events",
    "function",
    "history",
    "iterated",
    "mapped",
    "texts_of",
    "values",
]


@lru_cache(maxsize=10_000)
def function(parameters: str, result: str) -> Callable[..., Any]:
    """A function from its text, which consists of places and fixed names, never of a user's
    text."""
    names: dict[str, Any] = {}
    exec(compile(f"def f({parameters}):\n    return {result}\n", "<plan>", "exec"), NAMES, names)
    return names["f"]  # type: ignore[no-any-return]


def texts_of(node: Following | Iterate | Repeat, first: bool, layout: Layouts) -> SideTexts:
    """The texts over the left event, the right one and, for an Iterate, the iteration; its `first`
    one does not read that."""
    if isinstance(node, Repeat):
        return SideTexts.repeating(node, first, layout)
    if isinstance(node, Iterate):
        return SideTexts.within(node, first, layout)
    return SideTexts.between(node.left, node.right, layout)


def admits(
    node: Select | Following | Iterate | Repeat | Except, layout: Layouts, first: bool = False
) -> Callable[..., bool]:
    """θ: `(a, c)` of a Select, `(a, b, i, c)` of others."""
    if isinstance(node, Select):
        return function("a, c", SideTexts.over(node.input, layout).condition(node.condition))
    if isinstance(node, Except):
        texts = SideTexts.between(node.left, node.right, layout)
        return function("a, b, c", texts.condition(node.condition))
    return function("a, b, i, c", texts_of(node, first, layout).condition(node.condition))


def continues(node: Iterate | Repeat, first: bool, layout: Layouts) -> Callable[..., bool]:
    """ρ, `(a, b, i, c)`."""
    return function("a, b, i, c", texts_of(node, first, layout).condition(node.continuing))


def iterated(
    node: Following | Iterate | Repeat, first: bool, layout: Layouts
) -> Callable[..., tuple[Any, ...]]:
    """`(a, b, i, c)` to the event of a Sequence, of the next iteration, or a longer chain."""
    if isinstance(node, Repeat):
        return function("a, b, i, c", f"(i[{START}], b[{END}], None, b, i)")
    texts, aggregates = texts_of(node, first, layout), getattr(node, "aggregates", ())
    values = "".join(f", {texts.value(scalar)}" for _, scalar in aggregates)
    return function("a, b, i, c", f"(a[{START}], b[{END}], None, a, b{values})")


def mapped(node: Map | Variable | Once, layout: Layouts) -> Callable[..., tuple[Any, ...]]:
    """`(a, c)` to a Map's event, to that of a variable, or to a chain of one."""
    if isinstance(node, Variable):
        return function("a, c", "a")
    if isinstance(node, Once):
        return function("a, c", f"(a[{START}], a[{END}], None, a, None)")
    items = computed(node.items)
    if not items:
        return function("a, c", "a")
    texts = SideTexts.over(node.input, layout)
    values = "".join(f", {texts.value(scalar)}" for _, scalar in items)
    return function("a, c", f"(a[{START}], a[{END}], None, a{values})")


def values(node: Node, names: Sequence[str], layout: Layouts) -> Callable[..., tuple[Any, ...]]:
    """`(a)` to the JSON values of attributes."""
    reading = ReadContext(layout)
    texts = [node.read(name, Form.VALUE, "a", reading) for name in names]
    return function("a", f"({''.join(f'{text}, ' for text in texts)})")


def history(node: Node, layout: Layouts) -> Callable[..., tuple[Any, ...]]:
    """`(a)` to the key of the order of histories."""
    return function("a", history_text(node, "a", ReadContext(layout)))


def events(node: Node, layout: Layouts) -> Callable[..., tuple[tuple[int, Any], ...]]:
    """`(a)` to the events of a composite, each with the place of its variable."""
    return function("a", events_text(node, "a", ReadContext(layout)))
