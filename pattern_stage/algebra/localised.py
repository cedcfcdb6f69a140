"""A plan with the constants of each operator counted from 0, and where they are in the query's.

Operators that are equal up to constants are then equal, and equal ones are one object (common
sub-expressions; docs/semantics.md#sharing), in any plan: users of the object can compare by
identity.  It does not matter to an operator which events its inputs select: it reads them in the
same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from xscl.pattern_stage.algebra.nodes import INPUTS, Aggregate, Except, Node, Select, Source
from xscl.pattern_stage.values.terms import Constant, rebuilt

__all__ = ["Localised", "Operators", "typed"]


@dataclass(frozen=True, slots=True)
class Localised:
    """An operator of a plan: its node with local places, equal ones one object; the places of these
    constants in the query's tuple, by local place; its inputs."""

    node: Node
    places: tuple[int, ...]
    inputs: tuple[Localised, ...]


class Operators:
    """All operators seen so far, each once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Node] = {}

    def keep(self, live: Iterable[Node]) -> None:
        """Drops operators that no current plan contains."""
        kept = set[int]()
        pending = [*live]
        while pending:
            node = pending.pop()
            if id(node) not in kept:
                kept.add(id(node))
                pending += node.inputs
        self._known = {key: node for key, node in self._known.items() if id(node) in kept}

    def __len__(self) -> int:
        return len(self._known)

    def localise(self, node: Node) -> Localised:
        """A plan, from its root."""
        below = tuple(self.localise(one) for one in node.inputs)
        places: dict[int, int] = {}
        known = iter(_read(one.node) for one in below)
        values: dict[str, Any] = {}
        for field in fields(node):
            if field.name in INPUTS:
                values[field.name] = next(known)
            elif field.name == "window" and isinstance(node, Aggregate | Except):
                window = node.window
                values["window"] = None if window is None else _local(window, places)
            elif field.name not in ("type", "listed"):
                values[field.name] = _replaced(getattr(node, field.name), places)
        local = replace(node, **values)
        # Inputs are compared by identity, so that no plan is hashed down to its sources.
        own = tuple(
            id(value) if field.name in INPUTS else value
            for field in fields(local)
            for value in [getattr(local, field.name)]
        )
        return Localised(self._known.setdefault((type(local), *own), local), (*places,), below)


def typed(node: Node, types: Sequence[int]) -> Node:
    """A plan whose sources have these types, in place of their numbers."""
    if isinstance(node, Source):
        return replace(node, type=types[node.type])
    return node.over([typed(one, types) for one in node.inputs])


def _read(node: Node) -> Node:
    """The nodes that determine the events of a node."""
    return node.input if isinstance(node, Select) else node


def _local(place: int, places: dict[int, int]) -> int:
    return places.setdefault(place, len(places))


def _replaced(value: Any, places: dict[int, int]) -> Any:
    """A term or condition with local places."""

    def local(part: object) -> Constant | None:
        if isinstance(part, Constant):
            return Constant(_local(part.place, places), part.number)
        return None

    return rebuilt(value, local)
