"""σ as an m-op: below each member of the input the members that select from it, whatever their
conditions compare, found by an index over their equalities with constants (s_σ: the predicate
index over a source, FR over a state).

Few members are tested one by one.  Where many have no equality, those that compare a number by
order are found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from pattern_stage.algebra import Texts, admits, function
from pattern_stage.algebra.nodes import Condition, Select
from pattern_stage.plan.channels import Channel, Event
from pattern_stage.plan.kinds.conditions import equalities, key, orders, without
from pattern_stage.plan.members import MANY, NONE, Bucket, Constants, members_in
from pattern_stage.plan.memberships import Membership, Order, Prefix
from pattern_stage.plan.operators import Context, Operator

__all__ = ["Form", "SelectOperator"]

_MANY = 8
"""Of a larger membership that comes again the members with equal constants are evaluated once."""


_LATELY = 256
"""So many memberships are remembered."""


class Form:
    """The members of a Select whose conditions are alike but for constants."""

    __slots__ = (
        "bound", "condition", "consumers", "count", "hold", "key", "key_of", "of", "order", "place",
        "rest", "test", "value",
    )  # fmt: skip

    def __init__(
        self, node: Select, of: SelectOperator, place: int, context: Context, indexed: bool
    ) -> None:
        self.condition, self.place, self.count = node.condition, place, 0
        self.of: SelectOperator | None = of
        """Whose form it is, None once it has no members any more."""
        self.consumers: dict[Operator, None] = {}
        """Who reads members of the form."""
        texts = Texts.over(node.input, context.layout)
        equal, rest = equalities(node.condition) if indexed else ([], node.condition)
        equal.sort(key=repr)
        self.test = admits(node, context.layout)
        self.rest = admits(without(node, rest), context.layout) if rest else None
        """What is left to test of an event with the key."""
        self.key: Callable[..., Any] | None = None
        """What the equalities ask of an event; forms with the same share an index."""
        self.key_of: Callable[[Constants], object] | None = None
        if equal:
            self.key = key([(one.one, one.number) for one in equal], texts, "a")
            self.key_of = key([(one.other, one.number) for one in equal], texts, "c")
        self.order, rest = orders(rest) if indexed and not equal else (None, rest)
        if self.order is not None:
            self.value = function("a", texts.number(self.order.value))
            self.bound = function("c", texts.number(self.order.constant))
        self.hold: Callable[..., list[int]] | None = None
        """Of pairs of a member and its constants the members that hold what is asked beside the
        order; None where nothing is."""
        if rest:
            self.hold = function("a, pairs", f"[m for m, c in pairs if {texts.condition(rest)}]")


class SelectOperator(Operator):
    """Selects over one stream: a member's place in `members.right` is that of its form."""

    node: Select
    by_form = True

    def __init__(self, *arguments: Any) -> None:
        node, inputs, context, design = arguments
        self._indexed = design.indexed and not ("FR" in context.without and inputs[0].inputs)
        self._forms: list[Form] = []
        self._rests: list[Callable[..., Any] | None] = []
        self._tested: set[object] = set()
        """What equalities ask where some condition asks for more."""
        self._known: dict[Condition, Form] = {}
        self._free: list[Form] = []
        self._listed: dict[tuple[int, Form], tuple[list[float], list[Any]]] = {}
        self._lately: set[tuple[int, ...] | Order] = set()
        super().__init__(Select((), node.input), inputs, context, design)

    # Members

    def form(self, node: Select) -> Form:
        """The form of a condition."""
        form = self._known.get(node.condition)
        if form is None:
            place = self._free.pop().place if self._free else len(self._forms)
            form = Form(node, self, place, self.context, self._indexed)
            self._forms[place : place + 1] = [form]
            self._rests[place : place + 1] = [form.rest]
            if form.rest is not None:
                self._tested.add(form.key)
            self._known[node.condition] = form
        return form

    def key_of(self) -> Callable[[int, Constants], tuple[object, object]] | None:
        """By what the equalities of its form compare; without any by its form."""

        def key_of(place: int, constants: Constants) -> tuple[object, object]:
            form = self._forms[place]
            return (form, None) if form.key_of is None else (form.key, form.key_of(constants))

        return key_of

    def gained(self, member: int) -> None:
        """A new member."""
        self._forms[self.members.right[member]].count += 1
        if self._listed:
            self._listed.clear()

    def lost(self, member: int) -> None:
        """A member less; a form without any goes."""
        self._listed.clear()
        form = self._forms[self.members.right[member]]
        form.count -= 1
        if not form.count:
            del self._known[form.condition]
            form.of = None
            self._free.append(form)
        super().lost(member)

    def reads(self, consumer: Operator, member: int) -> None:
        """Remembered by form: queries of one form are mostly of one kind."""
        self._forms[self.members.right[member]].consumers[consumer] = None

    def left(self, consumer: Operator) -> None:
        """Its forms forget it, too."""
        super().left(consumer)
        for form in self._forms:
            form.consumers.pop(consumer, None)

    def reading(self) -> Iterable[Operator]:
        """Those who read a form that events are of."""
        consumers = self.consumers
        if len(consumers) == 1:
            return consumers
        place_of, forms = self.members.right, self._forms
        places = {place_of[member] for _, members in self.out for member in members}
        found = {one for place in places for one in forms[place].consumers}
        return [one for one in consumers if one in found]

    def alike(self, member: int) -> object:
        """Equal conditions."""
        return self.members.right[member], self.constants[member]

    # Batches

    def take(self) -> Channel:
        """The events that some members select."""
        found = Channel()
        below, constants, place_of = self.members.below, self.constants, self.members.right
        forms, many = self._forms, _MANY if self.design.channel else len(constants)
        for event, membership in self.inputs[0].out:
            if len(membership) > many and self._comes_again(membership):
                hits = self._once(event, membership)
                if hits:
                    found.append((event, hits))
                continue
            several: list[int] = []
            for left in membership:
                at = below[left] if left < len(below) else NONE
                if at >= 0:
                    if forms[place_of[at]].test(event, constants[at]):
                        several.append(at)
                elif at != NONE:
                    bucket = self.members.many[MANY - at]
                    if bucket.__class__ is dict:
                        self._among(left, bucket, event, several)
                        continue
                    for one in bucket:
                        if forms[place_of[one]].test(event, constants[one]):
                            several.append(one)
            if several:
                found.append((event, tuple(several)))
        return found

    def _among(self, left: int, bucket: dict[Any, Bucket], event: Event, found: list[int]) -> None:
        """Finds members among many."""
        constants, place_of, rests = self.constants, self.members.right, self._rests
        for by, members in bucket.items():
            if by.__class__ is Form:
                some = self._below(left, by, members, event)
                found += some if by.hold is None else by.hold(event, some)
                continue
            key = by(event)
            if key is None or (part := members.get(key)) is None:
                continue
            if part.__class__ is int:
                part = (part,)
            elif part.__class__ is dict:
                part = members_in(part)
            if by not in self._tested:
                found += part
                continue
            for one in part:
                rest = rests[place_of[one]]
                if rest is None or rest(event, constants[one]):
                    found.append(one)

    def _below(self, left: int, form: Form, bucket: Bucket, event: Event) -> list[Any]:
        """The members of a form that an order with a number leaves; with their constants where more
        is asked."""
        listed = self._listed.get((left, form))
        if listed is None:
            members: list[Any] = list(members_in(bucket))
            bounds: list[float] = []
            if form.order is not None:
                bound_of = {one: form.bound(self.constants[one]) for one in members}
                # What is no number is in no order.
                members = [one for one in members if bound_of[one] == bound_of[one]]
                members.sort(key=bound_of.__getitem__)
                bounds = [bound_of[one] for one in members]
            if form.hold is not None:
                members = [(one, self.constants[one]) for one in members]
            listed = self._listed[left, form] = bounds, members
        bounds, members = listed
        if form.order is None:
            return members
        value, operator = form.value(event), form.order.operator
        if value != value:
            return []
        if operator in ("<", "<="):
            return members[(bisect_right if operator == "<" else bisect_left)(bounds, value) :]
        return members[: (bisect_left if operator == ">" else bisect_right)(bounds, value)]

    def _comes_again(self, membership: Membership) -> bool:
        """Whether it has been asked lately: it takes as long to find out which constants are equal
        as to go through all once."""
        of = membership.order if isinstance(membership, Prefix) else membership
        if of in self._lately:
            return True
        if len(self._lately) >= _LATELY:
            self._lately.clear()
        self._lately.add(of)
        return False

    def _once(self, event: Event, membership: Membership) -> Membership:
        """Of a large membership each set of constants once (c_σ)."""
        place_of, forms = self.members.right, self._forms
        groups = self.grouped(membership)
        hits = [
            members
            for constants, members in groups
            if forms[place_of[members[0]]].test(event, constants)
        ]
        if len(hits) == 1:
            return hits[0]
        return tuple([member for members in hits for member in members])
