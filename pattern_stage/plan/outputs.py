"""The outputs of roots, and how they are read: one by one, by event, or counted without going
through queries.

A root's events are a set: equal ones that end together are one.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from pattern_stage.algebra import attributes, is_document, same
from pattern_stage.algebra.layout import Layout
from pattern_stage.plan.channels import Channel, Event, epochs
from pattern_stage.plan.memberships import Membership, Order, Prefix, joined
from pattern_stage.plan.network import Network
from pattern_stage.plan.operators import Operator

__all__ = ["EventFound", "EventGroup", "Output", "Root", "counted", "distinct", "found", "grouped"]

_FEW = 8
"""So many queries of a root are a tuple; more are the keys of a dict."""

Sink = Any
"""None, a query, a tuple of queries, or a dict of them."""


class Root:
    """What readers ask of an operator whose events are outputs: by member the queries."""

    __slots__ = (
        "attributes",
        "is_document",
        "key",
        "network",
        "operator",
        "place",
        "queries",
        "sizes",
        "version",
    )

    def __init__(self, operator: Operator, network: Network, layout: Layout) -> None:
        self.operator, self.network, self.place = operator, network, 0
        self.key = same(operator.node, layout)
        self.attributes = attributes(operator.node, layout)
        self.is_document = is_document(operator.node)
        self.queries: list[Sink] = []
        self.sizes = array("i")
        """How many queries each member has."""
        self.version = 0
        """Grows as queries come and go."""

    def add(self, member: int, number: int) -> None:
        """A query of a member."""
        queries = self.queries
        if member >= len(queries):
            self._extend(member + 1)
        there = queries[member]
        if there is None:
            queries[member] = number
        elif isinstance(there, int):
            queries[member] = (there, number)
        elif isinstance(there, tuple) and len(there) < _FEW:
            queries[member] = (*there, number)
        elif isinstance(there, tuple):
            queries[member] = dict.fromkeys((*there, number))
        else:
            there[number] = None
        self.sizes[member] += 1
        self.version += 1

    def _extend(self, size: int) -> None:
        self.queries.extend([None] * (size - len(self.queries)))
        self.sizes.extend([0] * (size - len(self.sizes)))

    def remove(self, member: int, number: int) -> None:
        """A query less; whether any is left does not matter: the operator's members say."""
        there = self.queries[member]
        if isinstance(there, int):
            self.queries[member] = None
        elif isinstance(there, tuple):
            rest = tuple([one for one in there if one != number])
            self.queries[member] = rest if len(rest) > 1 else rest[0]
        else:
            del there[number]
            if len(there) == 1:
                (self.queries[member],) = there
        self.sizes[member] -= 1
        self.version += 1

    def of(self, member: int) -> Collection[int]:
        """The queries of a member."""
        there = self.queries[member] if member < len(self.queries) else None
        if there is None:
            return ()
        return (there,) if isinstance(there, int) else there

    def settled(self) -> Root:
        """One for which members are queries."""
        return _Settled(self)

    def size(self, members: Membership) -> int:
        """How many queries a membership is."""
        if len(self.sizes) < len(self.operator.constants):
            self._extend(len(self.operator.constants))
        if isinstance(members, Prefix):
            order = members.order
            if order.sums is None or order.sums[0] != (self, self.version):
                total, sums = 0, [0]
                for member in order.members:
                    total += self.sizes[member]
                    sums.append(total)
                order.sums = (self, self.version), sums
            return order.sums[1][members.count]
        return sum(map(self.sizes.__getitem__, members))


class _Settled(Root):
    """What was told before queries changed: its members are queries."""

    __slots__ = ()

    def __init__(self, root: Root) -> None:
        self.key, self.attributes = root.key, root.attributes
        self.is_document = root.is_document
        self.queries, self.version = [], 0

    def size(self, members: Membership) -> int:
        """All are queries."""
        return len(members)

    def of(self, member: int) -> Collection[int]:
        """A query."""
        return (member,)

    def settled(self) -> Root:
        """Itself."""
        return self


Output = tuple[Root, Event, Membership]


class EventFound:
    """An output of query `number`: its event, which is from `start` to `time` in microseconds."""

    __slots__ = ("_root", "event", "number")

    def __init__(self, number: int, event: Event, root: Root) -> None:
        self.number, self.event, self._root = number, event, root

    @property
    def start(self) -> int:
        """The event's start."""
        return self.event[0]  # type: ignore[no-any-return]

    @property
    def time(self) -> int:
        """The event's end."""
        return self.event[1]  # type: ignore[no-any-return]

    @property
    def document(self) -> int | None:
        """The number of the document's event that it still is."""
        return self.event[2] if self._root.is_document else None

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes as JSON values."""
        return self._root.attributes(self.event)

    def __repr__(self) -> str:
        return f"EventFound({self.number}, {self.start}, {self.time}, {self.attributes})"


class EventGroup(EventFound):
    """An output of several queries; `number` is one of them."""

    __slots__ = ("_members",)

    def __init__(self, event: Event, root: Root, members: Membership) -> None:
        super().__init__(-1, event, root)
        self._members = members

    @property
    def numbers(self) -> list[int]:
        """The queries."""
        return [number for member in self._members for number in self._root.of(member)]

    def found(self) -> list[EventFound]:
        """The output of each query."""
        return [EventFound(number, self.event, self._root) for number in self.numbers]

    @property
    def count(self) -> int:
        """How many queries there are, without going through them."""
        return self._root.size(self._members)


def distinct(root: Root, channel: Channel) -> Iterator[Output]:
    """The events of a root's channel, equal ones once."""
    key = root.key
    for epoch in epochs(channel):
        if len(epoch) > 1:
            by: dict[object, tuple[Event, Membership]] = {}
            for entry in epoch:
                one = key(entry[0])
                if one in by:
                    event, members = by[one]
                    entry = event, joined(members, entry[1])
                by[one] = entry
            epoch = [*by.values()]
        for event, members in epoch:
            yield root, event, members


def found(outputs: Iterable[Output]) -> list[EventFound]:
    """Each output of each query."""
    return [
        EventFound(number, event, root)
        for root, event, members in outputs
        for member in members
        for number in root.of(member)
    ]


def grouped(outputs: Iterable[Output]) -> list[EventGroup]:
    """Each output with its queries."""
    groups = [EventGroup(event, root, members) for root, event, members in outputs]
    return [group for group in groups if group.count]


def counted(outputs: Iterable[Output]) -> dict[int, int]:
    """How many outputs each query has.  Of prefixes the last members are counted, and then each
    member once; a query is gone through once, however many outputs there are."""
    plain: dict[tuple[Root, int], int] = {}
    ends: dict[tuple[Root, int], tuple[Order, dict[int, int]]] = {}
    for root, _, members in outputs:
        if isinstance(members, Prefix):
            of = ends.setdefault((root, id(members.order)), (members.order, {}))[1]
            of[members.count] = of.get(members.count, 0) + 1
        else:
            for member in members:
                plain[root, member] = plain.get((root, member), 0) + 1
    for (root, _), (order, of) in ends.items():
        total, last = 0, max(of)
        for place in range(last, 0, -1):
            total += of.get(place, 0)
            one = root, order.members[place - 1]
            plain[one] = plain.get(one, 0) + total
    counts: dict[int, int] = {}
    for (root, member), count in plain.items():
        if not isinstance(root, _Settled):
            # A query is of one member.
            counts.update(dict.fromkeys(root.of(member), count))
    for (root, number), count in plain.items():
        if isinstance(root, _Settled):
            counts[number] = counts.get(number, 0) + count
    return counts
