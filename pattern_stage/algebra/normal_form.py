"""A plan in normal form (docs/semantics.md#plans-in-normal-form): the same events by operators that
more plans share, each condition as far down as it means the same.

`RULES` is read top to bottom at each node, from the sources up, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from xscl.pattern_stage.algebra.nodes import Condition, Iterate, Node, Select, Sequence
from xscl.pattern_stage.algebra.nodes.map import Map
from xscl.pattern_stage.algebra.rewriting import conjuncts, kept, replaced, size
from xscl.pattern_stage.values.terms import (
    Age,
    Column,
    Constant,
    Predicate,
    Term,
    is_number,
    leaves,
)

__all__ = ["RULES", "normal_form"]

_LARGEST = 200
"""A term that would grow beyond so many parts stays where it is."""


def fold_conditions(node: Node) -> Node:
    """Removes what is always true, flattens AND, sorts conjuncts."""
    match node:
        case Select(condition):
            return _with(node, condition=_as_only(conjuncts(condition)))
        case Sequence(condition):
            return _with(node, condition=conjuncts(condition))
        case Iterate(condition, continuing):
            continuing = conjuncts(continuing)
            return _with(node, condition=conjuncts(condition), continuing=continuing)
    return node


def _with(node: Node, **values: Any) -> Node:
    """A node with other values; itself where they are its own."""
    if all(getattr(node, name) == value for name, value in values.items()):
        return node
    return replace(node, **values)


def merge_selects(node: Node) -> Node:
    """σθ(σρ(R)) is σθ∧ρ(R), and σTRUE(R) is R."""
    match node:
        case Select((), input_):
            return input_
        case Select(condition, Select(below, input_)):
            return Select(conjuncts((*below, *condition)), input_)
    return node


def merge_maps(node: Node) -> Node:
    """A list over a list is one; `*` alone is its input."""
    match node:
        case Map(True, (), input_):
            return input_
        case Map(star, items, Map() as inner):
            mine = dict(items)
            others = [one for one in inner.items if one[0] not in mine] if star else []
            own = [(name, _through(scalar, inner)) for name, scalar in items]
            if None not in dict(own).values():
                return Map(star and inner.star, (*others, *own), inner.input)
    return node


def select_below_map(node: Node) -> Node:
    """σθ(𝔉(R)) is 𝔉(σθ'(R)), with θ' over the terms of the list (Lemma 2)."""
    match node:
        case Select(condition, Map(star, items, input_) as inner):
            below = _through(condition, inner)
            if below is not None:
                return Map(star, items, Select(below, input_))
    return node


def condition_down(node: Node) -> Node:
    """R ;θ S and µ: conjuncts of θ over S only go to S, those over R only to R."""
    if not isinstance(node, Sequence | Iterate):
        return node
    # Conjuncts that read nothing go left.
    sides: dict[int | None, list[Predicate]] = {0: [], 1: [], None: []}
    for one in node.condition:
        read = {leaf.side for leaf in leaves(one) if isinstance(leaf, Column | Age)} or {0}
        sides[read.pop() if read in ({0}, {1}) else None].append(one)
    if not sides[0] and not sides[1]:
        return node
    return replace(
        node,
        condition=tuple(sides[None]),
        left=_selected(sides[0], node.left),
        right=_selected(sides[1], node.right),
    )


def select_below_first(node: Node) -> Node:
    """σθ over R ; S or µ(R, S): conjuncts over R only go to R, none to S: they judge what was
    chosen."""
    match node:
        case Select(condition, Sequence() | Iterate() as inner):
            down = {one: _of_left(one, inner) for one in condition}
            left = tuple(one for one in down.values() if one is not None)
            if left:
                rest = tuple(one for one, moved in down.items() if moved is None)
                return Select(rest, replace(inner, left=Select(left, inner.left)))
    return node


RULES: tuple[Callable[[Node], Node], ...] = (
    fold_conditions,
    merge_selects,
    merge_maps,
    select_below_map,
    condition_down,
    select_below_first,
)


def normal_form(root: Node) -> Node:
    """A plan's normal form: the same events, with the same attributes."""
    return _normal(root, {})


def _normal(node: Node, done: dict[int, Node]) -> Node:
    """The same; `done` are nodes, by identity, that no rule changes."""
    while id(node) not in done:
        node = node.over([_normal(one, done) for one in node.inputs])
        changed = next((one for rule in RULES if (one := rule(node)) is not node), node)
        if changed is node:
            done[id(node)] = node
        node = changed
    return node


def _through(term: Any, inner: Map) -> Any:
    """A term over a Map's events as one over its input's; None where that grows too large."""
    items = dict(inner.items)

    def below(leaf: Column | Age) -> Term:
        scalar = items.get(leaf.name) if isinstance(leaf, Column) else None
        if scalar is None:
            if not inner.star and isinstance(leaf, Column):
                raise ValueError(f"{leaf.name} is not in the list")
            return leaf
        if isinstance(scalar, Column | Constant) or not is_number(scalar):
            return scalar
        return scalar if leaf is term else kept(scalar)

    found = replaced(term, below)
    return found if size(found) <= max(_LARGEST, size(term)) else None


def _selected(condition: list[Predicate], input_: Node) -> Node:
    if not condition:
        return input_

    return Select(_as_only(tuple(condition)), input_)


def _as_only(condition: Condition) -> Condition:
    """A condition over one event."""

    def as_only(leaf: Column | Age) -> Term:
        return Column(0, leaf.name) if isinstance(leaf, Column) else Age(0)

    only: Condition = replaced(condition, as_only)
    return only


def _of_left(one: Predicate, inner: Sequence | Iterate) -> Predicate | None:
    """A predicate over composites as one over their left events; None where it reads more."""
    names = dict[str, str]()
    for leaf in leaves(one):
        if isinstance(leaf, Age):
            return None
        if isinstance(leaf, Column):
            name = inner.inner(leaf.name)
            if name is None or _shown(leaf.name, inner) or not _may_show(inner.left, name):
                return None
            names[leaf.name] = name
    if not names:
        return None
    moved: Predicate = replaced(
        one, lambda leaf: Column(0, names[leaf.name]) if isinstance(leaf, Column) else leaf
    )
    return moved


def _shown(name: str, inner: Sequence | Iterate) -> bool:
    """Whether a composite may have an attribute that is not its left event's."""
    if isinstance(inner, Sequence):
        return _may_show(inner.right, name)
    if name in dict(inner.aggregates):
        return True
    names = inner.right_names
    return _may_show(inner.right, name) if names is None else name in names


def _may_show(node: Node, name: str) -> bool:
    return node.open or name in node.names
