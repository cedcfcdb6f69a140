"""σ₀ as an m-op: the events of types that are sharable, with whose they are.

A member is (type, since): a query that comes late sees the events with a number from `since` on,
and shares all operators with others.  Equal events of sharable types are one channel tuple.
"""

from __future__ import annotations

from collections.abc import Iterable

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
        self._memberships: dict[object, Membership] = {}
        super().__init__(*arguments)  # type: ignore[arg-type]

    def membership(self, types: tuple[int, ...], number: int) -> Membership:
        """Whose an event is that came as these types under a number."""
        found = self._memberships.get(types)
        if found is None:
            members = [
                (constants[1], member)
                for member, constants in enumerate(self.constants)
                if constants is not None and constants[0] in types
            ]
            found = tuple([member for _, member in sorted(members)])
            if not any(since for since, _ in members):
                self._memberships[types] = found
            else:
                found = tuple([member for since, member in members if since <= number])
        return found

    def channel(self, events: Iterable[tuple[int, Event]]) -> Channel:
        """The channel tuples of events that end together."""
        coming = [*events]
        if len(coming) == 1:
            ((type_, event),) = coming
            return [(event, self.membership((type_,), event[2]))]
        several = len({type_ for type_, _ in coming}) > 1
        if not several:
            return [(event, self.membership((type_,), event[2])) for type_, event in coming]
        equal: dict[object, tuple[Event, dict[int, None]]] = {}
        for type_, event in coming:
            alike = (event[0], repr(event[_FIRST - 1]), event[_FIRST:])
            # Of one type two events are two, however alike.
            while type_ in equal.setdefault(alike, (event, {}))[1]:
                alike = (*alike, None)  # type: ignore[assignment]
            equal[alike][1][type_] = None
        return [(event, self.membership(tuple(types), event[2])) for event, types in equal.values()]
