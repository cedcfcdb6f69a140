"""σ as an m-op: below each member of the input the members that select from it, found by an index
over their equalities with constants (s_σ: the predicate index over a source, FR over a state).

Few members are tested one by one.  Where many have no equality, those that compare a number by
order are found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from pattern_stage.algebra import Texts, admits, function
from pattern_stage.algebra.nodes import Select
from pattern_stage.plan.channels import Channel, Event
from pattern_stage.plan.kinds.conditions import equalities, key, orders, without
from pattern_stage.plan.members import Bucket, Constants, members_in
from pattern_stage.plan.memberships import Membership
from pattern_stage.plan.operators import Operator

__all__ = ["SelectOperator"]

_MANY = 8
"""Of a larger membership the members with equal constants are evaluated once."""


class SelectOperator(Operator):
    """Selects over one stream, alike but for constants."""

    node: Select

    def __init__(self, *arguments: Any) -> None:
        node, inputs, context, design = arguments
        indexed = design.indexed and not (
            "FR" in context.without and any(True for _ in _stateful(inputs))
        )
        texts = Texts.over(node.input, context.layout)
        equal, rest = equalities(node.condition) if indexed else ([], node.condition)
        equal.sort(key=repr)
        self._test = admits(node, context.layout)
        self._rest = admits(without(node, rest), context.layout) if rest else None
        self._key: Callable[..., Any] | None = None
        self._key_of: Callable[[Constants], object] | None = None
        if equal:
            self._key = key([(one.one, one.number) for one in equal], texts, "a")
            self._key_of = key([(one.other, one.number) for one in equal], texts, "c")
        self._order = orders(node.condition) if indexed and not equal else None
        if self._order is not None:
            self._value = function("a", texts.number(self._order.value))
            self._bound = function("c", texts.number(self._order.constant))
        self.picked = Channel()
        """What the source's index has found of a batch."""
        self._source = inputs[0] if equal and not inputs[0].inputs else None
        condition = texts.condition(node.condition)
        self._hold = function("a, pairs", f"[m for m, c in pairs if {condition}]")
        self._listed: dict[int, tuple[list[float], list[tuple[int, Constants]]]] = {}
        super().__init__(*arguments)

    def key_of(self) -> Callable[[Constants], object] | None:
        """What the equalities compare."""
        return self._key_of

    @property
    def is_indexed(self) -> bool:
        """Whether the source's index finds what it has members for."""
        return self._source is not None

    def gained(self, member: int) -> None:
        """A new member."""
        if self._listed:
            self._listed.clear()
        if self._source is not None:
            assert self._key is not None
            assert self._key_of is not None
            self._source.index.add(self._key, self._key_of(self.constants[member]), self)

    def lost(self, member: int) -> None:
        """A member less."""
        self._listed.clear()
        if self._source is not None:
            assert self._key is not None
            assert self._key_of is not None
            key = self._key_of(self.constants[member])
            if not self.members.has(key):
                self._source.index.remove(self._key, key, self)
        super().lost(member)

    def take(self) -> Channel:
        """What comes of the source, or of what its index has picked of it."""
        if self._source is None:
            return super().take()
        picked, self.picked = self.picked, Channel()
        return self.run(picked)

    def run(self, *channels: Channel) -> Channel:
        """The events that some members select."""
        found = Channel()
        under, constants, test = self.members.under, self.constants, self._test
        for event, membership in channels[0]:
            if len(membership) > _MANY and self.design.channel:
                hits = self._once(event, membership)
                if hits:
                    found.append((event, hits))
                continue
            several: list[int] = []
            for left in membership:
                bucket = under(left)
                if bucket.__class__ is int:
                    if test(event, constants[bucket]):
                        several.append(bucket)
                elif bucket.__class__ is tuple:
                    several += [one for one in bucket if test(event, constants[one])]
                elif bucket is not None:
                    several += self._among(left, bucket, event)
            if several:
                found.append((event, tuple(several)))
        return found

    def _among(self, left: int, bucket: dict[Any, Bucket], event: Event) -> Iterable[int]:
        """Of many members."""
        constants, rest = self.constants, self._rest
        if self._key is not None:
            key = self._key(event)
            if key is None:
                return ()
            part = bucket.get(key)
            if part is None:
                return ()
            members: Iterable[int] = (
                (part,)
                if part.__class__ is int
                else part
                if part.__class__ is tuple
                else part.values()
            )
            if rest is None:
                return members
            return [one for one in members if rest(event, constants[one])]
        return self._hold(event, self._below(left, event))  # type: ignore[no-any-return]

    def _below(self, left: int, event: Event) -> list[tuple[int, Constants]]:
        """The members, with their constants, that an order with a number leaves."""
        listed = self._listed.get(left)
        if listed is None:
            constants = self.constants
            pairs = [(one, constants[one]) for one in members_in(self.members.under(left))]
            bounds: list[float] = []
            if self._order is not None:
                bound = self._bound
                pairs.sort(key=lambda pair: bound(pair[1]))
                bounds = [bound(own) for _, own in pairs]
            listed = self._listed[left] = bounds, pairs
        bounds, pairs = listed
        if self._order is None:
            return pairs
        value, operator = self._value(event), self._order.operator
        if value != value:
            return []
        if operator in ("<", "<="):
            return pairs[(bisect_right if operator == "<" else bisect_left)(bounds, value) :]
        return pairs[: (bisect_left if operator == ">" else bisect_right)(bounds, value)]

    def _once(self, event: Event, membership: Membership) -> Membership:
        """Of a large membership each set of constants once (c_σ)."""
        test = self._test
        groups = self.grouped(membership)
        hits = [members for constants, members in groups if test(event, constants)]
        if len(hits) == 1:
            return hits[0]
        return tuple([member for members in hits for member in members])


def _stateful(inputs: tuple[Operator, ...]) -> Iterable[Operator]:
    return (one for one in inputs if one.inputs)
