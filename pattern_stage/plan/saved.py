"""The state of m-ops as plain data (JSON), and back: for a state file, or another stage with the
same queries.

An m-op, and a member of it, is named by a query that has it and its place among the operators of
that query, sources first, or by one of each of the groups of queries that are about to part; an
event by the places of its attributes, as another stage may have them elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from typing import Any

from xscl.pattern_stage.algebra.nodes import (
    Iterate,
    Map,
    Node,
    Select,
    Sequence,
    Source,
    Union,
)
from xscl.pattern_stage.algebra.nodes.map import INNER as MAPPED
from xscl.pattern_stage.algebra.nodes.map import computed
from xscl.pattern_stage.algebra.nodes.sequence import LEFT, RIGHT
from xscl.pattern_stage.algebra.nodes.union import INNER, SIDE
from xscl.pattern_stage.layouts import SLOTS, Event, Layouts, slot_names
from xscl.pattern_stage.plan.kinds.states import StateOperator
from xscl.pattern_stage.plan.operators import Operator
from xscl.pattern_stage.values.terms import NULL

__all__ = ["restore", "state_of"]

Name = tuple[int, int]
"""A query's number, and the place of an operator."""


def operators_of(root: Operator, member: int) -> Iterator[tuple[Operator, int]]:
    """The operators of a query with its members, each after its inputs."""
    ends = root.members.left[member], root.members.right[member]
    for one, below in zip(root.inputs, ends, strict=False):
        yield from operators_of(one, below)
    yield root, member


class Names:
    """The names of members: first the needed ones are collected, then queries are visited until all
    have one, or all queries where each `group` has one of its own."""

    def __init__(self, group: Callable[[int], Hashable] | None) -> None:
        self._group = group
        self._names: dict[tuple[Operator, int], dict[Hashable, Name]] = {}

    def ask(self, operator: Operator, member: int) -> object:
        """Notes that a name is needed."""
        self._names[operator, member] = {}
        return None

    def give(self, queries: Iterable[tuple[int, Operator, int]]) -> None:
        """Names from (number, root, member) of queries."""
        left, group = len(self._names), self._group
        for number, root, member in queries:
            if not left:
                return
            for place, one in enumerate(operators_of(root, member)):
                names = self._names.get(one)
                if names is None:
                    continue
                left -= not names and group is None
                names.setdefault(None if group is None else group(number), (number, place))

    def of(self, operator: Operator) -> list[list[int]]:
        """All names of members of an m-op."""
        return [
            [*name]
            for (one, _), names in self._names.items()
            if one is operator
            for name in names.values()
        ]

    def name(self, operator: Operator, member: int) -> object:
        """The names of a member, none where no query has it any more."""
        return [[*name] for name in self._names.get((operator, member), {}).values()]


def slots_of(node: Node, layout: Layouts) -> list[list[tuple[str, ...]]]:
    """The slots of the sources of a node, from left to right."""
    return [slot_names(layout.slots(source.type)) for source in _sources(node)]


def _sources(node: Node) -> Iterator[Source]:
    if isinstance(node, Source):
        yield node
    for one in node.inputs:
        yield from _sources(one)


class Moved:
    """Moves the attributes of a node's events from their former places to the current ones."""

    def __init__(
        self, node: Node, saved: Iterable[Iterable[Iterable[str]]], layout: Layouts
    ) -> None:
        self._node = node
        self._places: list[list[int | None]] = []
        for source, slots in zip(_sources(node), saved, strict=True):
            known = [tuple(slot) for slot in slots]
            wanted = slot_names(layout.slots(source.type))
            self._places.append(
                [SLOTS + known.index(one) if one in known else None for one in wanted]
            )

    def element(self, event: Event, first: bool) -> Event:
        """An instance of the node's state, or a left event of it."""
        assert isinstance(self._node, Sequence | Iterate)
        return self._event(self._node.left if first else self._node, event, 0)

    def event(self, event: Event) -> Event:
        """An event of the node."""
        return self._event(self._node, event, 0)

    def _event(self, node: Node, event: Event, at: int) -> Event:
        match node:
            case Source():
                places = self._places[at]
                return (
                    *event[:SLOTS],
                    *(None if one is None or one >= len(event) else event[one] for one in places),
                )
            case Select():
                return self._event(node.input, event, at)
            case Map():
                if not computed(node.items):
                    return self._event(node.input, event, at)
                inner = self._event(node.input, event[MAPPED], at)
                return (*event[:MAPPED], inner, *event[MAPPED + 1 :])
            case Union():
                side = (node.left, node.right)[event[SIDE]]
                at += event[SIDE] * sum(1 for _ in _sources(node.left))
                return (*event[:INNER], self._event(side, event[INNER], at))
            case Sequence() | Iterate():
                right = at + sum(1 for _ in _sources(node.left))
                return (
                    *event[:LEFT],
                    self._event(node.left, event[LEFT], at),
                    self._event(node.right, event[RIGHT], right),
                    *event[RIGHT + 1 :],
                )
        return event


_PLAIN = {str, int, float, bool, type(None)}


def plain(value: Any) -> Any:
    """A value as JSON has it; tuples, objects and null are marked."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, tuple):
        plain_already = _PLAIN.issuperset(map(type, value))
        return {"t": [*value] if plain_already else [*map(plain, value)]}
    if isinstance(value, list):
        return value if _PLAIN.issuperset(map(type, value)) else [*map(plain, value)]
    if isinstance(value, dict):
        return {"d": [[name, plain(one)] for name, one in value.items()]}
    return {"n": 0} if value is NULL else value


def raised(value: Any) -> Any:
    """The value that `plain` wrote."""
    if isinstance(value, list):
        return [raised(one) for one in value]
    if isinstance(value, dict):
        if "t" in value:
            return tuple(raised(one) for one in value["t"])
        return {name: raised(one) for name, one in value["d"]} if "d" in value else NULL
    return value


def name_of(key: Any) -> str:
    """The text of the key that equal events share; it is the same after a restart."""
    return json.dumps(_unordered(key))


def _unordered(key: Any) -> Any:
    if isinstance(key, frozenset):
        return sorted(map(name_of, key))
    if isinstance(key, tuple):
        return [*map(_unordered, key)]
    return key.__name__ if isinstance(key, type) else plain(key)


def state_of(
    operators: Iterable[Operator],
    queries: Callable[[], Iterable[tuple[int, Operator, int]]],
    layout: Layouts,
    group: Callable[[int], Hashable] | None = None,
) -> list[Any]:
    """The state of m-ops: for each the names of its members, the slots of its sources, the rest;
    `group` is that of a query, where these are about to part."""
    names = Names(group)
    holding = [one for one in operators if one.retained.dump(partial(names.ask, one)) is not None]
    names.give(queries())
    states = list[Any]()
    for one in holding:
        state: Any = one.retained.dump(partial(names.name, one))
        slots = []
        if isinstance(one, StateOperator):
            slots, state = slots_of(one.node, layout), [state[0], plain(state[1])]
        else:
            state = plain(state)
        states.append([names.of(one), slots, state])
    return states


def restore(
    states: Iterable[Any],
    queries: Callable[[int], tuple[Operator, int] | None],
    layout: Layouts,
) -> None:
    """Restores the state of m-ops, as far as their queries exist."""
    known: dict[int, list[tuple[Operator, int]]] = {}

    def at(name: Any) -> tuple[Operator, int] | None:
        number, place = name
        if number not in known:
            root = queries(number)
            known[number] = [] if root is None else [*operators_of(*root)]
        return known[number][place] if place < len(known[number]) else None

    def load(operator: Operator, slots: Any, state: Any) -> None:
        def members(some: Iterable[Any]) -> list[int]:
            there = (at(name) for names in some for name in _several(names))
            return [*dict.fromkeys([one[1] for one in there if one and one[0] is operator])]

        if slots:
            moved = Moved(operator.node, slots, layout)
            elements = [
                (moved.element(element, first), first, *members)
                for element, first, *members in raised(state[1])
            ]
            operator.retained.load((state[0], elements), members)
        else:
            operator.retained.load(raised(state), members)

    for names, slots, state in states:
        for operator in dict.fromkeys([one[0] for name in names if (one := at(name)) is not None]):
            load(operator, slots, state)


def _several(names: Any) -> Iterable[Any]:
    """The names of a member; there was one, or none, once."""
    if names is None:
        return ()
    return (names,) if names and isinstance(names[0], int) else names
