"""α and β as an m-op: for each epoch and group with an event in it one event of each window.

Members are taken together as long as they have had the same events (`windows.Cohort`): those of
one stream whose windows differ alone (s_w), and those of different streams of a channel (c_α).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from pattern_stage.algebra import frozen, same
from pattern_stage.algebra.grouping import grouping
from pattern_stage.algebra.nodes import Aggregate
from pattern_stage.plan.channels import Channel, Event, epochs
from pattern_stage.plan.kinds.windows import Cohort, Group
from pattern_stage.plan.memberships import Membership, joined
from pattern_stage.plan.operators import Operator

__all__ = ["AggregateOperator"]


Grouped = tuple[Event, Membership, Hashable, tuple[Any, ...]]
"""An event with its members and its group: the key of this, and the values of its keys."""


class Distinct:
    """The distinct events of a channel that any of its `readers` has members for, each with its
    group.  Other events may lack attributes that are read here: they came before anybody asked."""

    def __init__(
        self, key: Callable[[Event], Hashable], keys: Callable[..., tuple[Any, ...]]
    ) -> None:
        self._key, self._keys = key, keys
        self.readers: list[Operator] = []
        self._last: tuple[Channel, list[list[Grouped]]] = (Channel(), [])

    def of(self, channel: Channel) -> list[list[Grouped]]:
        """Epoch by epoch; equal events are one, in all streams that either was in.  The channel
        that was read last is not read again."""
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
    """Aggregates over one stream, alike but for constants."""

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
        self._cohorts: dict[int, Cohort] = {}
        """By member, while there are events that it reaches."""
        self._met: dict[Membership, list[Cohort]] = {}
        """By membership, as long as cohorts are as they are."""

    def gained(self, member: int) -> None:
        """It has had no event yet."""
        self._met.clear()

    def lost(self, member: int) -> None:
        """Its cohort goes on without it."""
        self._met.clear()
        cohort = self._cohorts.pop(member, None)
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
        """Sees to it that each cohort is in a membership, or is not."""
        kinds: dict[tuple[Any, ...], list[int]] = {}
        cohorts: dict[int, tuple[Cohort, list[int]]] = {}
        for _, members in self.grouped(membership):
            for member in members:
                cohort = self._cohorts.get(member)
                if cohort is None:
                    kinds.setdefault(self._kind(member), []).append(member)
                else:
                    cohorts.setdefault(id(cohort), (cohort, []))[1].append(member)
        for cohort, here in cohorts.values():
            if len(here) < len(cohort.members):
                self._install(cohort.split(frozenset(here)))
        for new in kinds.values():
            self._install(self._cohort(new))

    def _cohort(self, members: list[int]) -> Cohort:
        windows = list(dict.fromkeys(map(self._window, members)))
        return Cohort(self._grouping, members, self.constants[members[0]], windows)

    def _install(self, cohort: Cohort) -> None:
        self._met.clear()
        for member in cohort.members:
            self._cohorts[member] = cohort

    def take(self) -> Channel:
        """What the groups are after each epoch in which they have had an event."""
        found = Channel()
        for events in self._distinct.of(self.inputs[0].out):
            found += self._epoch(events[0][0][1], events)
        return found

    def _epoch(self, time: int, events: list[Grouped]) -> list[tuple[Event, Membership]]:
        cohorts = self._met
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
                        for cohort in map(self._cohorts.__getitem__, members)
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
                self._dissolve(cohort)
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

    def _dissolve(self, cohort: Cohort) -> None:
        """Nothing is left: its members may be taken together with others."""
        self._met.clear()
        for member in cohort.members:
            del self._cohorts[member]

    def _each(self) -> list[Cohort]:
        return list({id(one): one for one in self._cohorts.values()}.values())

    def forget(self, watermark: int) -> None:
        """Events that no window reaches."""
        for cohort in self._each():
            cohort.forget(watermark)
            if not cohort.groups:
                self._dissolve(cohort)

    def held(self) -> int:
        """Events, or groups where nothing goes."""
        return sum(cohort.held() for cohort in self._each())

    def save(self) -> object:
        """All cohorts."""
        return [cohort.copy() for cohort in self._each()]

    def load(self, saved: Any) -> None:
        """The cohorts as they were."""
        self._cohorts = {}
        self._met.clear()
        for cohort in saved:
            self._install(cohort)

    def state(self, name: Callable[[Operator, int], object]) -> object:
        """Members by name, and what each group keeps."""
        found = [
            (
                [name(self, member) for member in sorted(cohort.members)],
                [group.dump() for group in cohort.groups.values()],
            )
            for cohort in self._each()
        ]
        return found or None

    def restore(self, state: Any, members: Callable[[Iterable[object]], list[int]]) -> None:
        """Cohorts of the members that are still there."""
        for names, groups in state:
            here = members(names)
            if here:
                cohort = self._cohort(here)
                for group in groups:
                    cohort.fill(group)
                self._install(cohort)
