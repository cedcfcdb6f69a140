"""σ as an m-op: below each member of the input the members that select from it, whatever their
conditions compare, found by an index over their equalities with constants (s_σ: the predicate index
over a source, FR over a state).

Few members are tested one by one.  Where many have no equality, those that compare a number by
order are found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from xscl.pattern_stage.algebra import SideTexts, admits, function
from xscl.pattern_stage.algebra.nodes import Condition, Select
from xscl.pattern_stage.layouts import Event
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.kinds.conditions import index_of, key, without
from xscl.pattern_stage.plan.members import (
    MANY,
    NONE,
    Bucket,
    Constants,
    Members,
    MemberSet,
    members_in,
)
from xscl.pattern_stage.plan.memberships import Membership, Order, Prefix
from xscl.pattern_stage.plan.operators import Context, Operator, Readers

__all__ = ["ConditionForm", "SelectOperator"]

_MANY = 8
"""For a larger recurring membership the members with equal constants are evaluated once."""


_LATELY = 256
"""The maximal number of cached memberships."""


class ConditionForm:
    """The members of a Select whose conditions are the same up to constants."""

    __slots__ = (
        "bound", "condition", "consumers", "count", "hold", "key", "key_of", "of", "order", "place",
        "rest", "test", "value",
    )  # fmt: skip

    def __init__(
        self, node: Select, of: SelectOperator, place: int, context: Context, indexed: bool
    ) -> None:
        self.condition, self.place, self.count = node.condition, place, 0
        self.of: SelectOperator | None = of
        """The owner of the form, None once it has no members."""
        self.consumers: dict[Operator, None] = {}
        """The readers of the form's members."""
        texts = SideTexts.over(node.input, context.layout)
        equal, self.order, rest = (
            index_of(node.condition) if indexed else ([], None, node.condition)
        )
        self.test = admits(node, context.layout)
        self.rest = admits(without(node, rest), context.layout) if equal and rest else None
        """The rest to test of an event with the key."""
        self.key: Callable[..., Any] | None = None
        """The key of an event for the equalities; forms with the same share an index."""
        self.key_of: Callable[[Constants], object] | None = None
        if equal:
            self.key = key([(one.one, one.number) for one in equal], texts, "a")
            self.key_of = key([(one.other, one.number) for one in equal], texts, "c")
        if self.order is not None:
            self.value = function("a", texts.number(self.order.value))
            self.bound = function("c", texts.number(self.order.constant))
        self.hold: Callable[..., list[int]] | None = None
        """Filters pairs of a member and its constants by the conditions other than the order; None
        where there are none."""
        if rest:
            self.hold = function("a, pairs", f"[m for m, c in pairs if {texts.condition(rest)}]")


class _ReadersByForm(Readers):
    """Readers by form: queries of one form are mostly of one kind."""

    by_member = True

    def __init__(self, members: Members, forms: list[ConditionForm]) -> None:
        super().__init__()
        self._members, self._forms = members, forms

    def of(self, out: Channel) -> Iterable[Operator]:
        """The readers of a form that has events."""
        if len(self.always) == 1:
            return self.always
        place_of, forms = self._members.right, self._forms
        places = {place_of[member] for _, members in out for member in members}
        found = {one for place in places for one in forms[place].consumers}
        return [one for one in self.always if one in found]

    def reads(self, reader: Operator, member: int) -> None:
        """Cached by form."""
        self._forms[self._members.right[member]].consumers[reader] = None

    def drop(self, reader: Operator) -> None:
        """Removes the cache from its forms, too."""
        super().drop(reader)
        for form in self._forms:
            form.consumers.pop(reader, None)


class SelectOperator(Operator):
    """Selects over one stream: a member's place in `members.right` is that of its form."""

    node: Select

    def __init__(self, *arguments: Any) -> None:
        node, inputs, context, design = arguments
        self._indexed = design.indexed and not ("FR" in context.without and inputs[0].inputs)
        self._forms: list[ConditionForm] = []
        self._rests: list[Callable[..., Any] | None] = []
        self._tested: set[object] = set()
        """The index keys for which some condition has more to test."""
        self._known: dict[Condition, ConditionForm] = {}
        self._free: list[ConditionForm] = []
        self._listed: dict[tuple[int, ConditionForm], tuple[list[float], list[Any]]] = {}
        self._lately: set[tuple[int, ...] | Order] = set()
        super().__init__(Select((), node.input), inputs, context, design)
        self.readers = _ReadersByForm(self.members, self._forms)

    # Members

    def form(self, node: Select) -> ConditionForm:
        """The form of a condition."""
        form = self._known.get(node.condition)
        if form is None:
            place = self._free.pop().place if self._free else len(self._forms)
            form = ConditionForm(node, self, place, self.context, self._indexed)
            self._forms[place : place + 1] = [form]
            self._rests[place : place + 1] = [form.rest]
            if form.rest is not None:
                self._tested.add(form.key)
            self._known[node.condition] = form
        return form

    def key_of(self) -> Callable[[int, Constants], tuple[object, object]] | None:
        """The equalities' values of its form; for a form without any, the form."""

        def key_of(place: int, constants: Constants) -> tuple[object, object]:
            form = self._forms[place]
            return (form, None) if form.key_of is None else (form.key, form.key_of(constants))

        return key_of

    def gained(self, member: int) -> None:
        """Adds a member."""
        self._forms[self.members.right[member]].count += 1
        if self._listed:
            self._listed.clear()

    def lost(self, member: int) -> None:
        """Removes a member, and a form without members."""
        self._listed.clear()
        form = self._forms[self.members.right[member]]
        form.count -= 1
        if not form.count:
            del self._known[form.condition]
            form.of = None
            self._free.append(form)
        super().lost(member)

    def evaluation_key(self, member: int) -> object:
        """The key of equal conditions."""
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
                    bucket: Any = self.members.many[MANY - at]
                    if bucket.__class__ is Bucket:
                        self._among(left, bucket, event, several)
                        continue
                    for one in bucket:
                        if forms[place_of[one]].test(event, constants[one]):
                            several.append(one)
            if several:
                found.append((event, tuple(several)))
        return found

    def _among(self, left: int, bucket: Bucket, event: Event, found: list[int]) -> None:
        """Finds members among many."""
        constants, place_of, rests = self.constants, self.members.right, self._rests
        for by, members in bucket.by.items():
            if by.__class__ is ConditionForm:
                some = self._below(left, by, members, event)
                found += some if by.hold is None else by.hold(event, some)
                continue
            key = by(event)
            if key is None or (part := members.get(key)) is None:
                continue
            part = (part,) if part.__class__ is int else members_in(part)
            if by not in self._tested:
                found += part
                continue
            for one in part:
                rest = rests[place_of[one]]
                if rest is None or rest(event, constants[one]):
                    found.append(one)

    def _below(self, left: int, form: ConditionForm, bucket: MemberSet, event: Event) -> list[Any]:
        """The members of a form that an order with a number leaves; with their constants where more
        must be tested."""
        listed = self._listed.get((left, form))
        if listed is None:
            members: list[Any] = list(members_in(bucket))
            bounds: list[float] = []
            if form.order is not None:
                bound_of = {one: form.bound(self.constants[one]) for one in members}
                # NaN is in no order.
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
        """Whether the membership was used recently: finding equal constants takes as long as
        iterating over all members once."""
        of = membership.order if isinstance(membership, Prefix) else membership
        if of in self._lately:
            return True
        if len(self._lately) >= _LATELY:
            self._lately.clear()
        self._lately.add(of)
        return False

    def _once(self, event: Event, membership: Membership) -> Membership:
        """Evaluates each set of constants of a large membership once (c_σ)."""
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
