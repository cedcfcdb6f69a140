"""Automata without runs, by the events that may begin one: an event finds those whose start arcs
ask for its values, and no others.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from xscl.pattern_stage.automata.group import AutomatonGroup
from xscl.pattern_stage.layouts import Event

__all__ = ["Dormant"]

_Found = dict[Any, dict[AutomatonGroup, None]]


class Dormant:
    """The automata that sleep."""

    def __init__(self) -> None:
        self._by: dict[int, dict[int, _Found]] = {}
        """By type, the place of a value in its events, and the value."""
        self._of: dict[AutomatonGroup, Collection[tuple[int, int, Any]]] = {}

    def __contains__(self, group: object) -> bool:
        return group in self._of

    def add(self, group: AutomatonGroup) -> None:
        """An automaton sleeps."""
        starters = group.query.starters or ()
        self._of[group] = starters
        for type_, place, value in starters:
            of_value = self._by.setdefault(type_, {}).setdefault(place, {})
            of_value.setdefault(value, {})[group] = None

    def remove(self, group: AutomatonGroup) -> bool:
        """An automaton sleeps no more; returns whether it did."""
        starters = self._of.pop(group, None)
        for type_, place, value in starters or ():
            of_value = self._by[type_][place]
            of_value[value].pop(group, None)
            if not of_value[value]:
                del of_value[value]
            if not of_value:
                del self._by[type_][place]
        return starters is not None

    def woken(self, type_: int, event: Event) -> list[AutomatonGroup]:
        """Those that an event may begin a run of."""
        by = self._by.get(type_)
        if not by:
            return []
        found = dict[AutomatonGroup, None]()
        for place, of_value in by.items():
            found |= of_value.get(event[place], {})
        return [*found]
