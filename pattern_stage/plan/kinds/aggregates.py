"""α and β as an m-op: for each epoch and group with an event in it one event of each window.

Members are processed together as long as they have had the same events (`windows.Cohort`): those of
one stream whose windows differ only (s_w), and those of different streams of a channel (c_α).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from xscl.pattern_stage.algebra import frozen, same
from xscl.pattern_stage.algebra.grouping import grouping
from xscl.pattern_stage.algebra.nodes import Aggregate
from xscl.pattern_stage.layouts import END, Event
from xscl.pattern_stage.plan.channels import Channel, epochs
from xscl.pattern_stage.plan.kinds.windows import Cohort, Cohorts, Group
from xscl.pattern_stage.plan.memberships import Membership, joined
from xscl.pattern_stage.plan.operators import Operator

__all__ = ["AggregateOperator"]


Grouped = tuple[Event, Membership, Hashable, tuple[Any, ...]]
"""An event with its members and its group: the key of this, and the values of its keys."""


class Distinct:
    """The distinct events of a channel that any of its `readers` has members for, each with its
    group.  Earlier events may lack attributes that only later readers need."""

    def __init__(
        self, key: Callable[[Event], Hashable], keys: Callable[..., tuple[Any, ...]]
    ) -> None:
        self._key, self._keys = key, keys
        self.readers: list[Operator] = []
        self._last: tuple[Channel, list[list[Grouped]]] = (Channel(), [])

    def of(self, channel: Channel) -> list[list[Grouped]]:
        """Epoch by epoch; equal events are one, in all streams that either was in.  The last
        channel is cached."""
        if self._last[0] is not channel:
            read = Channel([one for one in channel if self._is_read(one[1])])
            self._last = channel, [self._epoch(epoch) for epoch in epochs(read)]
        return self._last[1]

    def _is_read(self, membership: Membership) -> bool:
        return any(one.grouped(membership) for one in self.readers)

    def _epoch(self, epoch: list[tuple[Event, Membership]]) -> list[Grouped]:
        if len(epoch) > 1:
            events: dict[Hashable, tuple[Event, Membership]] = {}
            for event, membership in epoch:
                key = self._key(event)
                if key in events:
                    membership = joined(events[key][1], membership)
                events[key] = event, membership
            epoch = [*events.values()]
        read = self._keys
        return [
            (event, membership, frozen(keys), keys)
            for event, membership in epoch
            for keys in [read(event)]
        ]


class AggregateOperator(Operator):
    """Aggregates over one stream that are the same up to constants."""

    node: Aggregate

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        layout = self.context.layout
        self._grouping = grouping(self.node, layout)
        self._distinct = Distinct(same(self.node.input, layout), self._grouping.keys)
        if self.design.buffered:
            of = self.context.grouped.setdefault(self.inputs[0], {})
            self._distinct = of.setdefault((self.node.input, self.node.keys), self._distinct)
        self._distinct.readers = [one for one in self._distinct.readers if not one.gone] + [self]
        self._cohorts = Cohorts(self._cohort)
        self.retained = self._cohorts

    def gained(self, member: int) -> None:
        """Adds a member, which has had no event yet."""
        self._cohorts.met.clear()

    def lost(self, member: int) -> None:
        """Removes a member from its cohort."""
        self._cohorts.met.clear()
        cohort = self._cohorts.by_member.pop(member, None)
        if cohort is not None:
            cohort.leave(frozenset([member]))
        super().lost(member)

    def _window(self, member: int) -> int | None:
        place = self.node.window
        return None if place is None else self.constants[member][place]

    def _kind(self, member: int) -> tuple[Any, ...]:
        """Members of one kind may have one cohort."""
        constants = self.constants[member]
        window = self.node.window
        if window is not None and self.design.indexed:
            constants = constants[:window] + constants[window + 1 :]
        return constants if self.design.channel else (self.members.left[member], *constants)

    def _meet(self, membership: Membership) -> None:
        """Splits cohorts so that each is in a membership, or is not."""
        kinds: dict[tuple[Any, ...], list[int]] = {}
        cohorts: dict[int, tuple[Cohort, list[int]]] = {}
        for _, members in self.grouped(membership):
            for member in members:
                cohort = self._cohorts.by_member.get(member)
                if cohort is None:
                    kinds.setdefault(self._kind(member), []).append(member)
                else:
                    cohorts.setdefault(id(cohort), (cohort, []))[1].append(member)
        for cohort, here in cohorts.values():
            if len(here) < len(cohort.members):
                self._cohorts.install(cohort.split(frozenset(here)))
        for new in kinds.values():
            self._cohorts.install(self._cohort(new))

    def _cohort(self, members: list[int]) -> Cohort:
        windows = list(dict.fromkeys(map(self._window, members)))
        return Cohort(self._grouping, members, self.constants[members[0]], windows)

    def take(self) -> Channel:
        """The groups after each epoch in which they have had an event."""
        found = Channel()
        for events in self._distinct.of(self.inputs[0].out):
            found += self._epoch(events[0][0][END], events)
        return found

    def _epoch(self, time: int, events: list[Grouped]) -> list[tuple[Event, Membership]]:
        cohorts = self._cohorts.met
        memberships = {membership for _, membership, *_ in events}
        if not cohorts.keys() >= memberships:
            cohorts.clear()
            for membership in memberships:
                self._meet(membership)
            for membership in memberships:
                cohorts[membership] = list(
                    {
                        id(cohort): cohort
                        for _, members in self.grouped(membership)
                        for cohort in map(self._cohorts.by_member.__getitem__, members)
                    }.values()
                )
        touched: dict[tuple[int, int], tuple[Cohort, Group]] = {}
        values_of = self._grouping.values
        for event, membership, key, keys in events:
            for cohort in cohorts[membership]:
                group = cohort.take(time, key, keys, values_of(event, cohort.constants))
                touched[id(cohort), id(group)] = cohort, group
        found = [
            one for cohort, group in touched.values() for one in self._points(time, cohort, group)
        ]
        for cohort in {id(one): one for one, _ in touched.values()}.values():
            if cohort.widest == 0:
                self._cohorts.dissolve(cohort)
        return found

    def _points(
        self, time: int, cohort: Cohort, group: Group
    ) -> Iterable[tuple[Event, Membership]]:
        group.slide(time)
        point = self._grouping.point
        here = cohort.by_window(self._window)
        return [
            (point(cohort.results(group, slide, time), cohort.constants), here[slide.length])
            for slide in group.slides
            if slide.length in here
        ]
