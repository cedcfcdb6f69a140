r"""`\\` as an m-op: the events of the exception are retained until no composite can have them in
its scope; an index finds those that a composite compares for equality."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from xscl.pattern_stage.algebra import SideTexts, admits
from xscl.pattern_stage.algebra.nodes import Except
from xscl.pattern_stage.layouts import END, START, Event
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.kinds.conditions import joins, key
from xscl.pattern_stage.plan.members import Constants
from xscl.pattern_stage.plan.operators import Operator
from xscl.pattern_stage.plan.retained import Retained

__all__ = ["ExceptOperator"]

_Events = dict[object, list[Event]]
"""By key, in order of their ends."""


class _Exceptions(Retained):
    """The events of exceptions, by member of the right input."""

    def __init__(self, longest: Callable[[], float | None]) -> None:
        self._longest = longest
        self.of: dict[int, _Events] = {}

    def evict(self, watermark: int) -> None:
        """Evicts those that are before all composites to come."""
        longest = self._longest()
        if longest is None:
            return
        for by in self.of.values():
            for at, events in [*by.items()]:
                by[at] = [one for one in events if one[START] > watermark - longest]
                if not by[at]:
                    del by[at]

    def size(self) -> int:
        """The number of events."""
        return sum(len(events) for by in self.of.values() for events in by.values())

    def snapshot(self) -> object:
        """The events, in lists of their own."""
        return {
            member: {at: [*events] for at, events in by.items()} for member, by in self.of.items()
        }

    def restore(self, snapshot: Any) -> None:
        """Restores a snapshot."""
        self.of = snapshot


class ExceptOperator(Operator):
    """Exceptions over the same streams that are the same up to constants."""

    node: Except

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        node, layout = self.node, self.context.layout
        equal, rest = joins(node.condition) if "AI" not in self.context.without else ([], ())
        texts = SideTexts.between(node.left, node.right, layout)
        self._indexed = bool(equal)
        if equal:
            self._key_left = key([(one.one, one.number) for one in equal], texts, "a")
            self._key_right = key([(one.other, one.number) for one in equal], texts, "b")
        rest = rest if equal else node.condition
        self._admits = admits(replace(node, condition=rest), layout) if rest else None
        self.retained = self._exceptions = _Exceptions(self._longest)

    def lost(self, member: int) -> None:
        """Removes a member; what no other reads of the right input is dropped."""
        right = self.members.right[member]
        super().lost(member)
        read = {
            self.members.right[one]
            for one, constants in enumerate(self.constants)
            if constants is not None
        }
        if right not in read:
            self._exceptions.of.pop(right, None)

    def _longest(self) -> float | None:
        """The longest duration of a composite of any member; None where one has no end."""
        place = self.node.window
        some = [one for one in self.constants if one is not None]
        return None if place is None or not some else max(one[place] for one in some)

    def take(self) -> Channel:
        """The composites that no exception is in the scope of.  Those that end together do not
        see each other."""
        known = self._exceptions.of
        for event, membership in self.inputs[1].out:
            at = self._key_right(event) if self._indexed else None
            if self._indexed and at is None:
                continue
            for right in membership:
                events = known.setdefault(right, {}).setdefault(at, [])
                if not events or events[-1][END] <= event[END]:
                    events.append(event)
                else:
                    insort(events, event, key=_end)
        found, right_of = Channel(), self.members.right
        for event, membership in self.inputs[0].out:
            for constants, members in self.grouped(membership):
                by_right: dict[int, bool] = {}
                left = list[int]()
                for member in members:
                    right = right_of[member]
                    if right not in by_right:
                        by_right[right] = self._is_excepted(event, known.get(right), constants)
                    if not by_right[right]:
                        left.append(member)
                if left:
                    found.append((event, tuple(left)))
        return found

    def _is_excepted(self, event: Event, by: _Events | None, constants: Constants) -> bool:
        if not by:
            return False
        at = self._key_left(event) if self._indexed else None
        node, admits = self.node, self._admits
        low = _inner(event, node.low)[END] if node.low else event[START]
        for one in _within(by.get(at, ()), _inner(event, node.high)[END]):
            if one[END] <= low:
                return False
            if one[START] > low and (admits is None or admits(event, one, constants)):
                return True
        return False


def _inner(event: Event, places: Iterable[int]) -> Event:
    for place in places:
        event = event[place]
    return event


def _within(events: Any, end: int) -> Iterable[Event]:
    """The events that end before a time, the latest first."""
    return (events[place] for place in range(bisect_left(events, end, key=_end) - 1, -1, -1))


def _end(event: Event) -> Any:
    return event[END]
