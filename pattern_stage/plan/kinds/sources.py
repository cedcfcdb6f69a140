"""σ₀ as an m-op: the events of types that are sharable, with whose they are.

A member is (type, since): a query that comes late sees the events with a number from `since` on,
and shares all operators with others.  Equal events of sharable types are one channel tuple.
"""

from __future__ import annotations

from collections.abc import Mapping

from pattern_stage.algebra.nodes import Source
from pattern_stage.plan.memberships import Membership
from pattern_stage.plan.operators import Channel, Event, Operator

__all__ = ["SourceOperator"]

_RECENT = 4
"""An event is compared with so many that have come before: twins come together."""

_FIRST = 4
"""Where the attributes of an event begin."""


class SourceOperator(Operator):
    """The events of one class of types."""

    def gained(self, member: int) -> None:
        """A new type, or another beginning."""
        self._all.clear()

    def lost(self, member: int) -> None:
        """A type or beginning less."""
        self._all.clear()
        super().lost(member)

    def __init__(self, *arguments: object) -> None:
        self._all: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
        """By types from which number on all members see an event, and these."""
        self._version, self._width = -1, 0
        self.coming: list[tuple[int, Event]] = []
        """The events of an epoch with their types."""
        super().__init__(*arguments)  # type: ignore[arg-type]

    def _members(self, came: Mapping[int, int]) -> Membership:
        """Whose an event is, by the types as which it came with its numbers as these."""
        types = tuple(came)
        known = self._all.get(types)
        if known is None:
            members = [
                (*constants, member)
                for member, constants in enumerate(self.constants)
                if constants is not None and constants[0] in came
            ]
            everyone = tuple([member for *_, member in members])
            known = self._all[types] = max((one[1] for one in members), default=0), everyone
        latest, everyone = known
        if latest <= min(came.values()):
            return everyone
        constants = self.constants
        return tuple([one for one in everyone if constants[one][1] <= came[constants[one][0]]])

    def channel(self) -> Channel:
        """The channel tuples of the events that have come, those of no query left out."""
        coming, self.coming = self.coming, []
        layout = self.context.layout
        if layout.version != self._version:
            # Events that came before somebody asked for more are shorter.
            self._version = layout.version
            assert isinstance(self.node, Source)
            self._width = _FIRST + len(layout.slots(self.node.type))
        width = self._width
        # Equal events of different types are one; of one type two events are two.
        equal: list[tuple[Event, Event, dict[int, int]]] = []
        for type_, event in coming:
            if len(event) < width:
                event += (None,) * (width - len(event))
            values = event[_FIRST - 1 :]
            for other, others, came in equal[-_RECENT:]:
                if values == others and event[0] == other[0] and type_ not in came:
                    came[type_] = event[2]
                    break
            else:
                equal.append((event, values, {type_: event[2]}))
        found = [(event, self._members(came)) for event, _, came in equal]
        return [one for one in found if one[1]]
