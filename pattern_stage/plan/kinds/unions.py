"""∪ as an m-op: the events of either input; a document or composite in both is one event."""

from __future__ import annotations

from typing import Any

from xscl.pattern_stage.algebra import is_document, same
from xscl.pattern_stage.algebra.nodes import Union
from xscl.pattern_stage.layouts import END, NUMBER, START, Event
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.memberships import Membership
from xscl.pattern_stage.plan.operators import Operator

__all__ = ["UnionOperator"]


class UnionOperator(Operator):
    """Unions of two streams."""

    node: Union

    def __init__(self, *arguments: Any) -> None:
        self._right: dict[int, dict[int, None]] = {}
        super().__init__(*arguments)
        sides = self.node.left, self.node.right
        self._composites = bool({*sides[0].variables} & {*sides[1].variables})
        """Whether events of both may be the same composite."""
        self._documents = [
            same(side, self.context.layout) if self._composites or is_document(side) else None
            for side in sides
        ]

    def gained(self, member: int) -> None:
        """Adds a member, also below its right input's."""
        self._right.setdefault(self.members.right[member], {})[member] = None

    def lost(self, member: int) -> None:
        """Removes a member."""
        right = self.members.right[member]
        del self._right[right][member]
        if not self._right[right]:
            del self._right[right]
        super().lost(member)

    def take(self) -> Channel:
        """The events of either, each with its side."""
        found = Channel()
        known: dict[object, set[int]] = {}
        for event, membership in self.inputs[0].out:
            for _, members in self.grouped(membership):
                self._add(event, 0, members, known, found)
        for event, membership in self.inputs[1].out:
            members = tuple([one for right in membership for one in self._right.get(right, ())])
            self._add(event, 1, members, known, found)
        return found.in_order()

    def _add(
        self,
        event: Event,
        side: int,
        members: Membership,
        known: dict[object, set[int]],
        found: Channel,
    ) -> None:
        key, number = self._documents[side], None
        if not (key is None or self._composites):
            number = event[NUMBER]
        if key is not None and (self._composites or number is not None):
            before = known.setdefault(key(event), set())
            if before:
                members = tuple([one for one in members if one not in before])
            before.update(members)
        if members:
            found.append(((event[START], event[END], number, side, event), members))
