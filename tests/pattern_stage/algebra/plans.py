"""Plans that are drawn, and what they find by the definitions (docs/semantics.md#operators)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import hypothesis.strategies as st

from xscl.pattern_stage.algebra import admits, attributes, continues, frozen, iterated, mapped
from xscl.pattern_stage.algebra.nodes import Iterate, Map, Node, Select, Sequence, Source, Union
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.values.terms import (
    EVERYTHING,
    Age,
    And,
    Arithmetic,
    Call,
    Column,
    Comparison,
    Constant,
    Form,
    Not,
    Or,
    Predicate,
    Truth,
)

__all__ = ["CONSTANTS", "documents", "found", "plans"]

CONSTANTS = (2.0, 0.0, "x", 2)
NAMES = ("a", "b", "c")
_OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])

Draw = Callable[[Any], Any]
Names = Mapping[int, tuple[str, ...]]


def _names(node: Node) -> tuple[str, ...]:
    """The names that a query might read of a node's events."""
    return tuple(dict.fromkeys((*node.names, *(NAMES if node.open else ()))))


def _column(draw: Draw, names: Names) -> Column:
    side: Any = draw(st.sampled_from([one for one in names if names[one]]))
    return Column(side, draw(st.sampled_from(names[side])))


def _predicate(draw: Draw, names: Names, deep: int = 2) -> Predicate:
    kind = draw(st.integers(0, 8 if deep else 5))
    if kind >= 6:
        parts = (_predicate(draw, names, deep - 1), _predicate(draw, names, deep - 1))
        return (And(parts), Or(parts), Not(parts[0]))[kind - 6]
    operator, column = draw(_OPERATORS), _column(draw, names)
    if kind == 0:
        return Truth(draw(st.booleans()))
    if kind == 1:
        side = draw(st.sampled_from([None, *names] if 1 in names else [None, 0]))
        return Comparison(operator, Age(side), Constant(3, number=True), "number")
    if kind == 2:
        text: Any = draw(st.sampled_from(["=", "!="]))
        return Comparison(text, column, Constant(2, number=False), "text")
    if kind == 3:
        order: Any = draw(st.sampled_from(["<", "<=", ">", ">="]))
        return Comparison(order, column, _column(draw, names), "either")
    other = _column(draw, names) if kind == 4 else Constant(0, number=True)
    return Comparison(operator, column, _term(draw, other), "number")


def _term(draw: Draw, of: Any) -> Any:
    divided = Arithmetic("/", Constant(0, number=True), of)
    added = Arithmetic("+", of, Constant(0, number=True))
    return draw(st.sampled_from([of, added, divided]))


def _condition(draw: Draw, names: Names) -> tuple[Predicate, ...]:
    return tuple(_predicate(draw, names) for _ in range(draw(st.integers(0, 2))))


def _items(draw: Draw, names: Names) -> tuple[tuple[str, Any], ...]:
    made = {}
    for name in draw(st.lists(st.sampled_from([*NAMES, "d", "e"]), min_size=1, max_size=3)):
        column = _column(draw, names)
        text = Call("upper-case", (column,))
        made[name] = draw(st.sampled_from([column, text, Constant(0, True), None]))
        made[name] = made[name] or _term(draw, column)
    return tuple(made.items())


@st.composite
def plans(draw: Draw, deep: int = 3) -> Node:
    """A plan over a closed source, 0, and an open one, 1."""
    kind = draw(st.integers(0, 9)) if deep else 0
    if kind <= 1:
        return Source(0, NAMES) if draw(st.booleans()) else Source(1, None)
    left = draw(plans(deep - 1))
    mine = _names(left)
    if kind <= 4:
        return Select(_condition(draw, {0: mine}), left)
    if kind <= 6:
        return Map(draw(st.booleans()), _items(draw, {0: mine}), left)
    right = draw(plans(deep - 1))
    theirs = _names(right)
    if kind == 7 and (left.open or right.open or set(mine) == set(theirs)):
        return Union(left, right)
    if kind == 8 and (left.open or set(theirs) <= set(mine)):
        every = {0: mine, 1: theirs, 2: mine}
        aggregates = (("d", _term(draw, _column(draw, every))),) * draw(st.integers(0, 1))
        both = left.open and right.open
        own = tuple(name for name, _ in aggregates)
        return Iterate(
            condition=_condition(draw, every),
            continuing=_condition(draw, every),
            aggregates=aggregates if "d" in mine or not aggregates else (),
            common=None if both else (*theirs, *own),
            kept=(),
            right_names=None if both else theirs,
            left=left,
            right=right,
        )
    renamed = bool(set(mine) & set(theirs)) or (left.open and right.open)
    condition = _condition(draw, {0: mine, 1: theirs})
    return Sequence(condition, renamed, left, right)


_VALUES = st.sampled_from([0, 1, 2, 2.5, "x", "2", True, None])
_SHOWN = st.dictionaries(st.sampled_from([*NAMES, "a_1", "e"]), _VALUES)


def documents() -> st.SearchStrategy[Any]:
    """Type, start, length and attributes."""
    one = st.tuples(st.integers(0, 1), st.integers(0, 6), st.sampled_from([0, 0, 1]), _SHOWN)
    return st.lists(one, max_size=8)


def _event(layout: Layouts, number: int, document: tuple[int, int, int, Any]) -> Any:
    type_, start, length, shown = document
    values: list[object] = []
    for slot in layout.slots(type_):
        assert slot is not None
        if slot == EVERYTHING:
            values.append({name: value for name, value in shown.items() if value is not None})
            continue
        value = shown.get(slot.attribute.steps[0])
        text = None if value is None else str(value).lower() if value is True else str(value)
        number_ = None if text is None else float(text) if text[0].isdigit() else float("nan")
        values.append({Form.TEXT: text, Form.NUMBER: number_, Form.VALUE: value}[slot.form])
    return (start, start + length, number, *values)


def found(root: Node, given: Iterable[tuple[int, int, int, Any]]) -> set[Any]:
    """Start, end and attributes of all that a plan finds."""
    layout = Layouts()
    gather = attributes(root, layout)
    _evaluated(root, layout, {})  # Requests all slots.
    sources: dict[int, list[Any]] = {0: [], 1: []}
    for number, one in enumerate(given):
        sources[one[0]].append(_event(layout, number, one))
    events = _evaluated(root, layout, sources)
    return {(event[0], event[1], frozen(gather(event))) for event in events}


def _evaluated(node: Node, layout: Layouts, sources: Mapping[int, list[Any]]) -> list[Any]:
    match node:
        case Source(type_):
            return sources.get(type_, [])
        case Select():
            holds = admits(node, layout)
            return [e for e in _evaluated(node.input, layout, sources) if holds(e, CONSTANTS)]
        case Map():
            make = mapped(node, layout)
            return [make(e, CONSTANTS) for e in _evaluated(node.input, layout, sources)]
        case Union():
            sides = [_evaluated(one, layout, sources) for one in (node.left, node.right)]
            return [(*e[:3], side, e) for side in (0, 1) for e in sides[side]]
        case Sequence() | Iterate():
            left = _evaluated(node.left, layout, sources)
            right = _evaluated(node.right, layout, sources)
            if isinstance(node, Iterate):
                return _iterated(node, layout, left, right)
            theta = admits(node, layout)
            return [
                (a[0], b[1], None, a, b)
                for a in left
                for b in _first(a[1], right, partial(_holds, theta, a))
            ]
    raise TypeError(node)


def _holds(theta: Callable[..., bool], a: Any, b: Any) -> bool:
    return theta(a, b, None, CONSTANTS)


def _holds_within(theta: Callable[..., bool], a: Any, i: Any, b: Any) -> bool:
    return theta(a, b, i, CONSTANTS)


def _first(end: int, right: list[Any], holds: Callable[[Any], bool]) -> list[Any]:
    admitted = [b for b in right if end < b[0] and holds(b)]
    return [b for b in admitted if b[1] == min(one[1] for one in admitted)]


def _iterated(node: Iterate, layout: Layouts, left: list[Any], right: list[Any]) -> list[Any]:
    steps = [
        (admits(node, layout, first), continues(node, first, layout), iterated(node, first, layout))
        for first in (True, False)
    ]
    results = []
    for a in left:
        instances, (theta, rho, step) = [a], steps[0]
        while instances:
            instances = [
                step(a, b, i, CONSTANTS)
                for i in instances
                for b in _first(i[1], right, partial(_holds_within, theta, a, i))
                if rho(a, b, i, CONSTANTS)
            ]
            results += instances
            theta, rho, step = steps[1]
    return results
