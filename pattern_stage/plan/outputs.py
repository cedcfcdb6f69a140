"""The outputs of roots: channel tuples until they are read one by one, by event, or counted without
enumerating queries.

A root's events are a set: equal ones that end together are one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, TypeVar

from xscl.pattern_stage.algebra import (
    attributes,
    events,
    is_document,
    is_union,
    may_repeat,
    reader,
    same,
)
from xscl.pattern_stage.layouts import END, NUMBER, START, Event, Layouts
from xscl.pattern_stage.plan.channels import Channel, epochs
from xscl.pattern_stage.plan.memberships import Membership, Order, Prefix, joined, within
from xscl.pattern_stage.plan.network import Network
from xscl.pattern_stage.plan.operators import Operator
from xscl.pattern_stage.values.terms import Slot

__all__ = ["EventFound", "Key", "Output", "Outputs", "Root", "distinct"]

_FEW = 8
"""Up to so many queries of a root are a tuple; more are the keys of a dict."""

Sink = Any
"""None, a query, a tuple of queries, or a dict of them."""

T = TypeVar("T")


class Root:
    """The interface of an operator whose events are outputs: by member the queries to which they
    are reported, and in `feeds` those that publish them, reported or not."""

    __slots__ = (
        "_asked",
        "_layout",
        "_ones",
        "attributes",
        "events",
        "feeds",
        "is_document",
        "is_union",
        "key",
        "may_repeat",
        "network",
        "operator",
        "place",
        "queries",
        "sizes",
        "version",
    )

    def __init__(self, operator: Operator, network: Network, layout: Layouts) -> None:
        self.operator, self.network, self.place = operator, network, 0
        self._layout = layout
        composite = bool(operator.node.variables)
        self.key, self.may_repeat = same(operator.node, layout), may_repeat(operator.node)
        self.attributes = (lambda event: {}) if composite else attributes(operator.node, layout)
        self.events = events(operator.node, layout) if composite else None
        """Of composites, the events that they consist of, each with the place of its variable."""
        self.is_document = is_document(operator.node)
        self.is_union = is_union(operator.node)
        self.queries: list[Sink] = []
        self.sizes = array("i")
        """The number of queries of each member."""
        self._ones = self._asked = 0
        """The number of members with one, and of those with any or with one that publishes."""
        self.feeds: dict[int, tuple[int, ...]] = {}
        self.version = 0
        """Grows as queries come and go."""

    def add(self, member: int, number: int, *, feeds: bool, reports: bool) -> None:
        """Adds a query of a member: reporting, or publishing."""
        self._asked += not self._asks(member)
        if feeds:
            self.feeds[member] = (*self.feeds.get(member, ()), number)
        self.version += 1
        if not reports:
            return
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
        self._resize(member, 1)

    def _extend(self, size: int) -> None:
        self.queries.extend([None] * (size - len(self.queries)))
        self.sizes.extend([0] * (size - len(self.sizes)))

    def _resize(self, member: int, by: int) -> None:
        size = self.sizes[member]
        self._ones += (size + by == 1) - (size == 1)
        self.sizes[member] = size + by

    def remove(self, member: int, number: int) -> None:
        """Removes a query; the operator's members know whether any is left."""
        self._remove(member, number)
        self._asked -= not self._asks(member)

    def _remove(self, member: int, number: int) -> None:
        self.version += 1
        if number in self.feeds.get(member, ()):
            left = tuple([one for one in self.feeds.pop(member) if one != number])
            if left:
                self.feeds[member] = left
        if number not in self.of(member):
            return
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
        self._resize(member, -1)

    def _asks(self, member: int) -> bool:
        return bool(self.of(member)) or member in self.feeds

    def asked(self, channel: Channel) -> Channel:
        """The events of a channel that any query of the root reports or publishes.  Others of the
        operator's may lack attributes that this root's queries read: they came before these."""
        if self._asked == self.operator.members.taken:
            return channel
        feeds = self.feeds
        return Channel(
            [
                one
                for one in channel
                if self.size(one[1]) or any(True for _ in within(one[1], feeds))
            ]
        )

    def of(self, member: int) -> Collection[int]:
        """The queries of a member."""
        there = self.queries[member] if member < len(self.queries) else None
        if there is None:
            return ()
        return (there,) if isinstance(there, int) else there

    def interested(self, member: int) -> set[int]:
        """The queries of a member, reporting or publishing."""
        return {*self.of(member), *self.feeds.get(member, ())}

    def numbers(self, members: Membership) -> list[int]:
        """The queries of a membership, in order."""
        return sorted([number for member in members for number in self.of(member)])

    def feeding(self, members: Membership) -> list[int]:
        """Its queries that publish."""
        feeds = self.feeds
        return [number for member in within(members, feeds) for number in feeds[member]]

    def values(self, slots: Sequence[Slot | None]) -> Callable[[Event], tuple[Any, ...]]:
        """From an event to the values of slots of another type."""
        return reader(self.operator.node, slots, self._layout)

    def size(self, members: Membership) -> int:
        """The number of queries of a membership."""
        taken = self.operator.members.taken
        if self._ones == taken:
            # As for most roots: each member is one query.
            return len(members)
        if len(self.sizes) < (places := len(self.operator.constants)):
            # More than are used: numbers of removed members may be free.
            self._extend(places)
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


Output = tuple[Root, Event, Membership]

Key = tuple[Root, Membership]
"""The key that outputs of the same queries share."""


class EventFound:
    """An output of query `number`: its event, which is from `start` to `time` in microseconds."""

    __slots__ = ("_root", "event", "number")

    def __init__(self, number: int, event: Event, root: Root) -> None:
        self.number, self.event, self._root = number, event, root

    @property
    def start(self) -> int:
        """The event's start."""
        return self.event[START]  # type: ignore[no-any-return]

    @property
    def time(self) -> int:
        """The event's end."""
        return self.event[END]  # type: ignore[no-any-return]

    @property
    def document(self) -> int | None:
        """The number of the document's event that it still is."""
        return self.event[NUMBER] if self._root.is_document else None

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes as JSON values."""
        return self._root.attributes(self.event)

    def __repr__(self) -> str:
        return f"EventFound({self.number}, {self.start}, {self.time}, {self.attributes})"


class Outputs:
    """The reported events of roots, each event once, with the members that have it.

    It is valid as long as queries are as they were when it was read.  `gone` are those that were
    reported before, and are no more.
    """

    def __init__(self, outputs: Sequence[Output] = (), gone: Outputs | None = None) -> None:
        self._outputs = outputs
        self.gone = gone
        self._numbers: dict[Key, list[int]] = {}

    def __len__(self) -> int:
        return len(self._outputs)

    def with_gone(self, outputs: Sequence[Output]) -> Outputs:
        """These, and others that are no more."""
        return Outputs(self._outputs, Outputs(outputs)) if outputs else self

    def __getitem__(self, place: int) -> Output:
        return self._outputs[place]

    @cached_property
    def sizes(self) -> list[int]:
        """The number of queries to which each is reported."""
        return [root.size(members) for root, _, members in self._outputs]

    @cached_property
    def feed(self) -> bool:
        """Whether any is published."""
        return any(root.feeds for root in {root for root, _, _ in self._outputs})

    def key(self, place: int) -> Key:
        """The key that events with the same queries share."""
        root, _, members = self._outputs[place]
        return root, members

    def numbers(self, place: int) -> list[int]:
        """The queries to which one is reported, in order."""
        at = self.key(place)
        found = self._numbers.get(at)
        if found is None:
            found = self._numbers[at] = at[0].numbers(at[1])
        return found

    def found(self) -> list[EventFound]:
        """One by one, by query."""
        return [
            EventFound(number, event, root)
            for place, (root, event, _) in enumerate(self._outputs)
            for number in self.numbers(place)
        ]

    def by_query(
        self, make: Callable[[Root, Event], T], *, reports: bool
    ) -> Iterator[tuple[int, list[T]]]:
        """A function of each event, once for all queries that have it, by query: those that publish
        and, with `reports`, those that report.  In order of time, query and start."""
        places = sorted(range(len(self._outputs)), key=lambda one: self._outputs[one][1][END::-1])
        for _, together in groupby(places, key=lambda one: self._outputs[one][1][END]):
            by: dict[int, list[T]] = {}
            for place in together:
                root, event, members = self._outputs[place]
                numbers: Collection[int] = self.numbers(place) if reports else ()
                if root.feeds and (feeding := root.feeding(members)):
                    numbers = {*numbers, *feeding}
                if numbers:
                    one = make(root, event)
                    for number in numbers:
                        if number in by:
                            by[number].append(one)
                        else:
                            by[number] = [one]
            for number in sorted(by):
                yield number, by[number]

    def counts(self) -> dict[int, int]:
        """The number of outputs reported to each query, without queries that have none.  For
        prefixes, the last members are counted, and then each member once; a query is visited once,
        however many outputs there are."""
        times: dict[Root, Counter[Membership]] = {}
        ends: dict[Root, dict[int, tuple[Order, Counter[int]]]] = {}
        for root, _, members in self._outputs:
            if isinstance(members, Prefix):
                order = members.order
                of_root = ends.setdefault(root, {})
                of_root.setdefault(id(order), (order, Counter()))[1][members.count] += 1
            else:
                times.setdefault(root, Counter())[members] += 1
        counts: dict[int, int] = {}
        for root in {**times, **ends}:
            of: dict[int, int] = {}
            for members, many in times.get(root, {}).items():
                for member in members:
                    of[member] = of.get(member, 0) + many
            for order, lasts in ends.get(root, {}).values():
                total = 0
                for place in range(max(lasts), 0, -1):
                    total += lasts[place]
                    member = order.members[place - 1]
                    of[member] = of.get(member, 0) + total
            for member, count in of.items():
                # A query has one member.
                counts.update(dict.fromkeys(root.of(member), count))
        return counts

    def latest(self) -> dict[int, int]:
        """The end of the last event that is reported to each query."""
        ends: dict[Key, int] = {}
        for root, event, members in self._outputs:
            at = root, members
            ends[at] = max(event[END], ends.get(at, event[END]))
        latest: dict[int, int] = {}
        for (root, members), end in ends.items():
            for number in root.numbers(members):
                latest[number] = max(end, latest.get(number, end))
        return latest


def distinct(root: Root, channel: Channel) -> list[Output]:
    """The events of a root's channel, equal ones once."""
    key, outputs = root.key, list[Output]()
    for epoch in epochs(root.asked(channel)):
        first = epoch[0][1]
        if len(epoch) == 1 or not (
            root.may_repeat or any(members is not first for _, members in epoch)
        ):
            outputs += [(root, event, members) for event, members in epoch]
            continue
        by: dict[object, Output] = {}
        for event, members in epoch:
            one = key(event)
            if one in by:
                _, event, others = by[one]
                members = joined(others, members)
            by[one] = root, event, members
        outputs += by.values()
    return outputs
