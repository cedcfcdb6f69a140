"""A plan with the constants of each operator counted from 0, and where they stand in the query's.

Operators alike but for constants are then equal, and equal ones one object (common sub-expressions;
patterns-cel.md, section 6), whatever stands around them: who has the object can go by identity.
Nor does it matter to an operator which events its inputs select: it reads them the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from pattern_stage.algebra.nodes import Aggregate, Node, Select
from pattern_stage.algebra.terms import Constant, rebuilt

__all__ = ["Localised", "Operators", "inputs"]


def inputs(node: Node) -> tuple[Node, ...]:
    """The nodes that a node reads, left to right."""
    return tuple(getattr(node, name) for name in ("input", "left", "right") if hasattr(node, name))


@dataclass(frozen=True, slots=True)
class Localised:
    """An operator of a plan: its node with local places, equal ones one object; the places of
    these constants in the query's tuple, by local place; its inputs."""

    node: Node
    places: tuple[int, ...]
    inputs: tuple[Localised, ...]


class Operators:
    """The operators that have been seen, each once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Node] = {}

    def keep(self, live: Iterable[Node]) -> None:
        """Forgets operators that are no part of plans that live."""
        kept = set[int]()
        pending = [*live]
        while pending:
            node = pending.pop()
            if id(node) not in kept:
                kept.add(id(node))
                pending += inputs(node)
        self._known = {key: node for key, node in self._known.items() if id(node) in kept}

    def __len__(self) -> int:
        return len(self._known)

    def localise(self, node: Node) -> Localised:
        """A plan, from its root."""
        below = tuple(self.localise(one) for one in inputs(node))
        places: dict[int, int] = {}
        known = iter(_read(one.node) for one in below)
        values: dict[str, Any] = {}
        for field in fields(node):
            if field.name in ("input", "left", "right"):
                values[field.name] = next(known)
            elif field.name == "window" and isinstance(node, Aggregate):
                window = node.window
                values["window"] = None if window is None else _local(window, places)
            elif field.name not in ("type", "listed"):
                values[field.name] = _replaced(getattr(node, field.name), places)
        local = replace(node, **values)
        # Inputs go by identity, so that nobody hashes a plan to its sources.
        own = tuple(
            id(value) if field.name in ("input", "left", "right") else value
            for field in fields(local)
            for value in [getattr(local, field.name)]
        )
        return Localised(self._known.setdefault((type(local), *own), local), (*places,), below)


def _read(node: Node) -> Node:
    """What the events of a node are."""
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
