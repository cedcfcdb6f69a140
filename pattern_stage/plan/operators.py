"""An m-op: one form of operator for all its members, from channels to a channel.

A form is a node without constants; its *members* are the distinct (members of the inputs, own
constants) of all queries.  Input and output, a batch at a time, are channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from xscl.pattern_stage.algebra.nodes import Node
from xscl.pattern_stage.bounds import MOST
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.members import Constants, Members, members_in
from xscl.pattern_stage.plan.memberships import Membership, Prefix
from xscl.pattern_stage.plan.retained import Retained
from xscl.pattern_stage.plan.rules import Design

__all__ = ["Context", "Operator", "Readers"]

_CACHED = 256
"""The maximal number of cached mappings of memberships to this operator's."""


@dataclass(frozen=True, slots=True)
class Context:
    """The common context of operators: places of attributes, and what is switched off."""

    layout: Layouts
    without: frozenset[str]
    missed: dict[int, dict[int, int]] = field(default_factory=dict)
    """Earlier events that queries do not see, although they see other earlier ones: by the number
    from which on these see events, that of an event, and its end."""
    grouped: MutableMapping[Operator, dict[object, Any]] = field(default_factory=WeakKeyDictionary)
    """The common part of the aggregates over one stream, by stream and keys."""
    most: int = MOST
    """The maximal number of instances of a query, and of its outputs in one step."""
    exceeded: dict[tuple[Operator, int], str] = field(default_factory=dict)
    """Members that have more, and why their queries are to be stopped."""


class Readers:
    """The m-ops that read the output of one."""

    by_member = False
    """Whether they are called only for the members that they read."""

    def __init__(self) -> None:
        self.always: list[Operator] = []
        self.listeners: dict[int | None, dict[Operator, None]] = {}
        """Those that read it for their instances: by the member whose events these need, None for
        all."""

    def of(self, out: Channel) -> Iterable[Operator]:
        """The readers of a batch: all, or those with members for it."""
        return self.always

    def listening(self, out: Channel) -> Iterable[Operator]:
        """Those with instances that need an event of a batch."""
        listeners = self.listeners
        found = dict(listeners.get(None, ()))
        for member in out.within(listeners):
            found.update(listeners[member])
        return found

    def reads(self, reader: Operator, member: int) -> None:
        """Adds a reader's member that reads one of these."""

    def listen(self, reader: Operator, member: int | None) -> None:
        """Registers a reader for the events of a member."""
        self.listeners.setdefault(member, {})[reader] = None

    def ignore(self, reader: Operator, member: int | None) -> None:
        """Unregisters it."""
        here = self.listeners.get(member)
        if here is not None:
            here.pop(reader, None)
            if not here:
                del self.listeners[member]

    def drop(self, reader: Operator) -> None:
        """Removes a reader."""
        if reader in self.always:
            self.always.remove(reader)
        for member in [*self.listeners]:
            self.ignore(reader, member)


class Operator:
    """An m-op; `node` is its form, with places among each operator's own constants."""

    def __init__(
        self, node: Node, inputs: tuple[Operator, ...], context: Context, design: Design
    ) -> None:
        self.node, self.inputs, self.context, self.design = node, inputs, context, design
        self.rank: int = 1 + max((one.rank for one in inputs), default=-1)
        self.members = Members(self.key_of(), not design.consed)
        self._by_member = any(one.readers.by_member for one in inputs)
        self.out = Channel()
        """The output for the batch."""
        self.readers: Readers = Readers()
        self.retained = Retained()
        self.due = self.gone = False
        self.touched = 0
        """The number of instances that events have taken."""
        self.root: Any = None
        """Reports its events, where it is the root of queries."""
        self._grouped: dict[object, list[tuple[Constants, tuple[int, ...]]]] = {}

    @property
    def constants(self) -> list[Any]:
        """The own constants of each member."""
        return self.members.constants

    def key_of(self) -> Callable[[int, Constants], tuple[object, object]] | None:
        """The key by which an event finds a member among many (`Members`)."""
        return None

    # Members

    def add(self, left: int, right: int, constants: Constants, uses: int = 1) -> int:
        """Adds a member, with uses, by the inputs' members."""
        member = self.members.found(left, right, constants, uses)
        if member is None:
            member = self.members.add(left, right, constants, uses)
            if self._grouped:
                self._grouped.clear()
            self.gained(member)
            if self._by_member:
                for one, below in zip(self.inputs, (left, right), strict=False):
                    one.readers.reads(self, below)
        return member

    def remove(self, member: int) -> bool:
        """Removes a use of a member; returns whether the member was removed."""
        if not self.members.remove(member):
            return False
        self._grouped.clear()
        self.lost(member)
        return True

    def gained(self, member: int) -> None:
        """Adds a member."""

    def lost(self, member: int) -> None:
        """Removes a member that no query has any more; one with instances is freed later."""
        self.members.free(member)

    def evaluation_key(self, member: int) -> object:
        """The key of members that are evaluated together, if they read the same event."""
        return self.constants[member]

    def grouped(self, members: Membership) -> list[tuple[Constants, tuple[int, ...]]]:
        """The members here for a membership of the (left) input, by own constants."""
        # A prefix is keyed by its order: hashing it takes longer.
        key = (members.order, members.count) if isinstance(members, Prefix) else members
        found = self._grouped.get(key)
        if found is None:
            by: dict[object, list[int]] = {}
            separate = not self.design.channel
            under, constants, evaluation_key = (
                self.members.under,
                self.members.constants,
                self.evaluation_key,
            )
            for left in members:
                for member in members_in(under(left)):
                    by.setdefault(member if separate else evaluation_key(member), []).append(member)
            found = [(constants[here[0]], tuple(here)) for here in by.values()]  # type: ignore[misc]
            if len(self._grouped) >= _CACHED:
                self._grouped.clear()
            self._grouped[key] = found
        return found

    # Batches

    def take(self) -> Channel:
        """Computes the output from the outputs of the inputs."""
        raise NotImplementedError
