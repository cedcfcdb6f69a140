"""An m-op: one form of operator for all its members, from channels to a channel.

A form is a node without constants; its *members* are the distinct (members of the inputs, own
constants) of all queries.  What comes in and goes out, a batch at a time, are channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakKeyDictionary

from pattern_stage.algebra.layout import Layout
from pattern_stage.algebra.nodes import Node
from pattern_stage.bounds import MOST
from pattern_stage.plan.channels import Channel
from pattern_stage.plan.members import Constants, Members, members_in
from pattern_stage.plan.memberships import Membership, Prefix

__all__ = ["Context", "Design", "Operator"]

_REMEMBERED = 256
"""So many memberships are mapped to this operator's before all are forgotten."""


@dataclass(frozen=True, slots=True)
class Context:
    """What operators share: where attributes stand, and what is switched off."""

    layout: Layout
    without: frozenset[str]
    missed: dict[int, dict[int, int]] = field(default_factory=dict)
    """Events of before that queries do not see, although they see others of before: by the number
    from which on these see events, that of an event, and its end."""
    grouped: MutableMapping[Operator, dict[object, Any]] = field(default_factory=WeakKeyDictionary)
    """What the aggregates over one stream share, by stream and keys."""
    most: int = MOST
    """So many instances may a query have, and so many outputs in one step."""
    exceeded: dict[tuple[Operator, int], str] = field(default_factory=dict)
    """Members that have more, and why their queries are to be stopped."""


@dataclass(frozen=True, slots=True)
class Design:
    """How the m-op of a form is made, as rules decide; without any each query has operators of
    its own."""

    of: Literal["query", "definition", "form"] = "query"
    """What one m-op takes in: what equal queries share, operators with equal constants and inputs,
    or all members of the form."""

    consed: bool = False
    """Whether equal members are one."""

    indexed: bool = False
    """Whether an event finds members by index, or goes through them one by one."""

    channel: bool = False
    """Whether members with equal constants are evaluated once, for a membership."""

    buffered: bool = False
    """Whether Aggregates of all forms over one stream go through its events once."""


class Operator:
    """An m-op; `node` is its form, with places among each operator's own constants."""

    by_form = False
    """Whether consumers are called for the members that they read alone."""

    def __init__(
        self, node: Node, inputs: tuple[Operator, ...], context: Context, design: Design
    ) -> None:
        self.node, self.inputs, self.context, self.design = node, inputs, context, design
        self.rank: int = 1 + max((one.rank for one in inputs), default=-1)
        self.members = Members(self.key_of(), not design.consed)
        self._by_form = any(one.by_form for one in inputs)
        self.out = Channel()
        """What has come of the batch."""
        self.consumers: list[Operator] = []
        """Who reads it, always."""
        self.listeners: dict[int | None, dict[Operator, None]] = {}
        """Who reads it for the instances that it holds: by the member whose events they wait for,
        None for all."""
        self.due = self.gone = False
        self.touched = 0
        """How many instances events have taken."""
        self.root: Any = None
        """Who tells of its events, where it is the root of queries."""
        self._grouped: dict[object, list[tuple[Constants, tuple[int, ...]]]] = {}

    @property
    def constants(self) -> list[Any]:
        """The own constants of each member."""
        return self.members.constants

    def key_of(self) -> Callable[[int, Constants], tuple[object, object]] | None:
        """How an event finds a member among many (`Members`)."""
        return None

    # Members

    def add(self, left: int, right: int, constants: Constants, uses: int = 1) -> int:
        """A member, with uses more, by the inputs' members."""
        member = self.members.found(left, right, constants, uses)
        if member is None:
            member = self.members.add(left, right, constants, uses)
            if self._grouped:
                self._grouped.clear()
            self.gained(member)
            if self._by_form:
                for one, below in zip(self.inputs, (left, right), strict=False):
                    one.reads(self, below)
        return member

    def remove(self, member: int) -> bool:
        """A member once less; whether it is gone."""
        if not self.members.remove(member):
            return False
        self._grouped.clear()
        self.lost(member)
        return True

    def gained(self, member: int) -> None:
        """A new member."""

    def lost(self, member: int) -> None:
        """A member that no query has any more; whoever holds instances of it frees it later."""
        self.members.free(member)

    def reads(self, consumer: Operator, member: int) -> None:
        """A consumer has a member more that reads one of these."""

    def left(self, consumer: Operator) -> None:
        """A consumer has gone."""
        if consumer in self.consumers:
            self.consumers.remove(consumer)

    def reading(self) -> Iterable[Operator]:
        """Who reads what has come: all consumers, or those with members for it."""
        return self.consumers

    def listening(self) -> Iterable[Operator]:
        """Who holds instances that wait for an event that has come."""
        listeners = self.listeners
        found = dict(listeners.get(None, ()))
        for member in self.out.within(listeners):
            found.update(listeners[member])
        return found

    def ignored(self, operator: Operator, member: int | None) -> None:
        """An operator waits no longer for the events of a member."""
        here = self.listeners.get(member)
        if here is not None:
            here.pop(operator, None)
            if not here:
                del self.listeners[member]

    def alike(self, member: int) -> object:
        """Equal for members that are evaluated once, if they read the same event."""
        return self.constants[member]

    def grouped(self, members: Membership) -> list[tuple[Constants, tuple[int, ...]]]:
        """What a membership of the (left) input is here, by own constants."""
        # A prefix by what it is of: to be asked for its hash takes longer.
        key = (members.order, members.count) if isinstance(members, Prefix) else members
        found = self._grouped.get(key)
        if found is None:
            by: dict[object, list[int]] = {}
            apart = not self.design.channel
            under, constants, alike = self.members.under, self.members.constants, self.alike
            for left in members:
                for member in members_in(under(left)):
                    by.setdefault(member if apart else alike(member), []).append(member)
            found = [(constants[here[0]], tuple(here)) for here in by.values()]  # type: ignore[misc]
            if len(self._grouped) >= _REMEMBERED:
                self._grouped.clear()
            self._grouped[key] = found
        return found

    # Batches

    def take(self) -> Channel:
        """What comes of what has come of the inputs."""
        raise NotImplementedError

    def forget(self, watermark: int) -> None:
        """Lets go of what no event from the watermark on can meet."""

    def held(self) -> int:
        """How many instances, or events of a buffer, are held."""
        return 0

    def states(self) -> int:
        """How many states have instances."""
        return 0

    def save(self) -> object:
        """What is held, to be loaded again, whatever happens in between."""
        return None

    def load(self, saved: Any) -> None:
        """What was saved is held again."""

    def state(self, name: Callable[[Operator, int], object]) -> object:
        """What is held as plain data, members by their names; None for nothing."""
        return None

    def restore(self, state: Any, members: Callable[[Iterable[object]], list[int]]) -> None:
        """What `state` gave is held again; members whose name is unknown are left out."""
