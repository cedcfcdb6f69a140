"""σ₀ as an m-op: the events of sharable types, with their members.

A member is (type, since): a query that comes late sees the events with a number from `since` on,
and shares all operators with others.  Equal events of sharable types are one channel tuple.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xscl.pattern_stage.algebra import frozen
from xscl.pattern_stage.algebra.nodes import Source
from xscl.pattern_stage.layouts import END, NUMBER, SLOTS, Event, TypedEvent
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.operators import Operator

__all__ = ["SourceOperator"]

_TOLD_APART = frozenset([bool, list, dict])

_RECENT = 4
"""An event is compared with so many previous ones: equal events come together."""


class SourceOperator(Operator):
    """The events of one class of types."""

    def gained(self, member: int) -> None:
        """Adds a type, or another beginning."""
        self._all.clear()
        self._types.add(self.constants[member][0])

    def lost(self, member: int) -> None:
        """Removes a type or a beginning."""
        self._all.clear()
        super().lost(member)

    def __init__(self, *arguments: object) -> None:
        self._all: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
        """By types the number from which on all members see an event, and these."""
        self._types: set[int] = set()
        """The number of all events so far."""
        self._version, self._width = -1, 0
        self.coming: list[TypedEvent] = []
        """The events of a batch with their types."""
        super().__init__(*arguments)  # type: ignore[arg-type]

    def take(self) -> Channel:
        """The channel tuples of the new events, without those of no query."""
        coming, self.coming = self.coming, []
        layout = self.context.layout
        if layout.version != self._version:
            # Events from before a query needed more are shorter.
            self._version = layout.version
            assert isinstance(self.node, Source)
            self._width = SLOTS + len(layout.slots(self.node.type))
        width, found, missed = self._width, Channel(), self.context.missed
        for place, (type_, event) in enumerate(coming):
            if len(event) < width:
                coming[place] = type_, event + (None,) * (width - len(event))
        if len(self._types) == 1:
            latest, members = self._all_members(tuple(self._types))
            if members and not missed and latest <= min(event[NUMBER] for _, event in coming):
                return Channel([(event, members) for _, event in coming])
        came: list[Any] = []
        for type_, event in coming:
            # Equal events of different types are one; two events of one type stay two.
            for one in came[: -_RECENT - 1 : -1]:
                if type_ not in one[1] and _equal(one[0], event):
                    one[1] += (type_,)
                    one[2] += (event[NUMBER],)
                    break
            else:
                came.append([event, (type_,), (event[NUMBER],)])
        for event, types, numbers in came:
            latest, members = self._all_members(types)
            if missed or latest > min(numbers):
                constants, seen = self.constants, dict(zip(types, numbers, strict=True))
                members = tuple([m for m in members if constants[m][1] <= seen[constants[m][0]]])
                if missed:
                    members = tuple([m for m in members if not self._missed(m, seen)])
            if members:
                found.append((event, members))
        return found

    def _missed(self, member: int, seen: Mapping[int, int]) -> bool:
        """Whether a member does not see an event, given its number by type."""
        type_, since = self.constants[member]
        return seen[type_] in self.context.missed.get(since, ())

    def _all_members(self, types: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """The members of events of types, and the number from which on all see them."""
        found = self._all.get(types)
        if found is not None:
            return found
        members = [
            (*constants, member)
            for member, constants in enumerate(self.constants)
            if constants is not None and constants[0] in types
        ]
        latest = max((since for _, since, _ in members), default=0)
        found = self._all[types] = latest, tuple([member for *_, member in members])
        return found


def _equal(one: Event, other: Event) -> bool:
    """Whether two events are equal up to their numbers."""
    if one[END] != other[END] or one[:NUMBER] != other[:NUMBER]:
        return False
    values, others = one[NUMBER + 1 :], other[NUMBER + 1 :]
    if values != others:
        return False
    # True is 1 in Python, and no number in JSON.
    kinds = {*map(type, values), *map(type, others)}
    return kinds.isdisjoint(_TOLD_APART) or frozen(values) == frozen(others)
