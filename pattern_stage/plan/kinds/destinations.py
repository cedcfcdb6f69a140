"""The states in which left events of a Sequence or an Iterate are pending, and the members: by
membership the states, and for each the order of members
(docs/semantics.md#states-and-instances)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from xscl.pattern_stage.plan.kinds.conditions import Bound
from xscl.pattern_stage.plan.members import MANY, NONE, Constants, Members, members_in
from xscl.pattern_stage.plan.memberships import Membership, Order
from xscl.pattern_stage.plan.rules import Design

__all__ = ["Destinations"]

_CACHED = 256
"""The maximal number of cached memberships."""


class Destinations:
    """The states of some members, which come and go."""

    def __init__(self, members: Members, bound: Bound | None, design: Design) -> None:
        self._members, self._bound = members, bound
        self._indexed, self._channel = design.indexed, design.channel
        self._rights: dict[int, int] = {}
        """The number of members that read each of the right input's."""
        self._known: dict[Membership, list[tuple[int, Constants, Order]]] = {}

    def gained(self, member: int) -> None:
        """Adds a member."""
        right = self._members.right[member]
        self._rights[right] = self._rights.get(right, 0) + 1
        if self._known:
            self._known.clear()

    def lost(self, member: int) -> None:
        """Removes a member."""
        right = self._members.right[member]
        self._rights[right] -= 1
        if not self._rights[right]:
            del self._rights[right]
        self._known.clear()

    def of(self, membership: Membership) -> list[tuple[int, Constants, Order]]:
        """Where a left event is pending, and for which members: by right member and constants."""
        if len(membership) == 1:
            (left,) = membership
            bucket = self._members.under(left)
            if bucket.__class__ is int:
                return [self._alone(bucket)]
        found = self._known.get(membership)
        if found is not None:
            return found
        left_of = self._members.left
        found = []
        for (right, constants), some in self.by_state(self._reading(membership)).items():
            streams = {0: some}
            if not self._channel:
                # Without channels each stream's event is pending separately.
                streams = {}
                for one in some:
                    streams.setdefault(left_of[one], []).append(one)
            found += [(right, constants, self.order(each)) for each in streams.values()]
        if len(self._known) >= _CACHED:
            self._known.clear()
        self._known[membership] = found
        return found

    def _reading(self, membership: Membership) -> Iterator[int]:
        below = self._members.below
        for left in membership:
            at = below[left] if left < len(below) else NONE
            if at >= 0:
                yield at
            elif at != NONE:
                yield from members_in(self._members.many[MANY - at])

    def by_state(self, members: Iterable[int]) -> dict[tuple[int, Constants], list[int]]:
        """Members by the state that they share: of a right member and constants."""
        by: dict[int, list[int]] = {}
        right_of = self._members.right
        constants: list[Any] = self._members.constants
        if len(self._rights) == 1:
            # There is no need to iterate over hundreds of thousands of members.
            (right,) = self._rights
            by[right] = [*members]
            members = ()
        for member in members:
            right = right_of[member]
            if right in by:
                by[right].append(member)
            else:
                by[right] = [member]
        found: dict[tuple[int, Constants], list[int]] = {}
        for right, some in by.items():
            if not some:
                continue
            first = self._distinguishing(constants[some[0]])
            if not first:
                # No constants distinguish states.
                found[right, first] = some
                continue
            for member in some:
                found.setdefault((right, self._distinguishing(constants[member])), []).append(
                    member
                )
        return found

    def _distinguishing(self, constants: Constants) -> Constants:
        """The constants that distinguish states: members may differ in the bound within one."""
        if self._bound is None or not self._indexed:
            return constants
        place = self._bound.place
        return constants[:place] + constants[place + 1 :]

    def _alone(self, member: int) -> tuple[int, Constants, Order]:
        constants: Any = self._members.constants[member]
        right, bound = self._members.right[member], self._bound
        if bound is None:
            return right, constants, Order((member,))
        return right, self._distinguishing(constants), Order((member,), [-constants[bound.place]])

    def order(self, members: list[int]) -> Order:
        """Members in the order of their bounds."""
        if self._bound is None:
            return Order(tuple(members))
        place = self._bound.place
        constants: list[Any] = self._members.constants
        negative = [-constants[one][place] for one in members]
        if min(negative) == max(negative):
            return Order(tuple(members), negative)
        pairs = sorted(zip(negative, members, strict=True))
        return Order(tuple([one for _, one in pairs]), [bound for bound, _ in pairs])
