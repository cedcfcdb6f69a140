"""σ₀ as an m-op: the events of types that are sharable, with whose they are.

A member is (type, since): a query that comes late sees the events with a number from `since` on,
and shares all operators with others.  Equal events of sharable types are one channel tuple.
"""

from __future__ import annotations

from collections.abc import Iterable

from pattern_stage.algebra.nodes import Source
from pattern_stage.plan.memberships import Membership
from pattern_stage.plan.operators import Channel, Event, Operator

__all__ = ["SourceOperator"]

_FIRST = 4
"""Where the attributes of an event begin."""


class SourceOperator(Operator):
    """The events of one class of types."""

    def gained(self, member: int) -> None:
        """A new type, or another beginning."""
        self._memberships.clear()

    def lost(self, member: int) -> None:
        """A type or beginning less."""
        self._memberships.clear()
        super().lost(member)

    def __init__(self, *arguments: object) -> None:
        self._memberships: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
        self._all: dict[tuple[int, ...], Membership | None] = {}
        """By types the members, where none came late."""
        self._version, self._width = -1, 0
        super().__init__(*arguments)  # type: ignore[arg-type]

    def _members(self, came: tuple[tuple[int, int], ...]) -> Membership:
        """Whose an event is, by the types as which it came and its numbers as these."""
        types = tuple([type_ for type_, _ in came])
        found = self._memberships.get(types)
        if found is None:
            found = self._memberships[types] = [
                (type_, since, member)
                for member, constants in enumerate(self.constants)
                if constants is not None
                for type_, since in [constants]
                if type_ in types
            ]
            late = any(since for _, since, _ in found)
            self._all[types] = None if late else tuple([member for *_, member in found])
        everyone = self._all[types]
        if everyone is not None:
            return everyone
        numbers = dict(came)
        return tuple([member for type_, since, member in found if since <= numbers[type_]])

    def channel(self, events: Iterable[tuple[int, Event]]) -> Channel:
        """The channel tuples of events that end together, those of no query left out."""
        layout = self.context.layout
        if layout.version != self._version:
            # Events that came before somebody asked for more are shorter.
            self._version = layout.version
            assert isinstance(self.node, Source)
            self._width = _FIRST + len(layout.slots(self.node.type))
        width = self._width
        coming = [
            (type_, event if len(event) == width else event + (None,) * (width - len(event)))
            for type_, event in events
        ]
        if len(coming) > 1 and len({type_ for type_, _ in coming}) > 1:
            pairs = self._equal(coming)
        else:
            pairs = [(event, ((type_, event[2]),)) for type_, event in coming]
        found = [(event, self._members(came)) for event, came in pairs]
        return [one for one in found if one[1]]

    def _equal(
        self, coming: list[tuple[int, Event]]
    ) -> list[tuple[Event, tuple[tuple[int, int], ...]]]:
        """Equal events of different types as one, with the types and numbers as which it came."""
        equal: dict[object, tuple[Event, dict[int, int]]] = {}
        for type_, event in coming:
            alike: tuple[object, ...] = (event[0], event[_FIRST - 1 :])
            try:
                hash(alike)
            except TypeError:
                alike = (event[0], repr(alike))
            # Of one type two events are two, however alike.
            while type_ in equal.setdefault(alike, (event, {}))[1]:
                alike = (*alike, None)
            equal[alike][1][type_] = event[2]
        return [(event, tuple(types.items())) for event, types in equal.values()]
