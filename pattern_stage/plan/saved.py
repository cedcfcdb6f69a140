"""The state of m-ops as plain data (JSON), and back: for a state file, or another stage with the
same queries.

An m-op, and a member of it, is named by a query that has it and its place among the operators of
that query, sources first; an event by the places of its attributes, as another stage may have them
elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
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
    have one."""

    def __init__(self) -> None:
        self._names: dict[tuple[Operator, int], Name | None] = {}

    def ask(self, operator: Operator, member: int) -> object:
        """Notes that a name is needed."""
        self._names[operator, member] = None
        return None

    def give(self, queries: Iterable[tuple[int, Operator, int]]) -> None:
        """Names from (number, root, member) of queries."""
        left = len(self._names)
        for number, root, member in queries:
            if not left:
                return
            for place, one in enumerate(operators_of(root, member)):
                if one in self._names and self._names[one] is None:
                    self._names[one] = number, place
                    left -= 1

    def of(self, operator: Operator) -> list[list[int]]:
        """All names of members of an m-op."""
        return [
            [*name]
            for (one, _), name in self._names.items()
            if one is operator and name is not None
        ]

    def name(self, operator: Operator, member: int) -> object:
        """The name, None for a member that no query has any more."""
        found = self._names.get((operator, member))
        return None if found is None else [*found]


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
) -> list[Any]:
    """The state of m-ops: for each the names of its members, the slots of its sources, the rest."""
    names = Names()
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

    for names, slots, state in states:
        operator = next((there[0] for name in names if (there := at(name)) is not None), None)
        if operator is None:
            continue
        if slots:
            moved = Moved(operator.node, slots, layout)
            state = (
                state[0],
                [
                    (moved.element(element, first), first, *members)
                    for element, first, *members in raised(state[1])
                ],
            )
        else:
            state = raised(state)

        def members(some: Iterable[Any], of: Operator = operator) -> list[int]:
            there = (at(name) for name in some if name is not None)
            return [one[1] for one in there if one is not None and one[0] is of]

        operator.retained.load(state, members)
