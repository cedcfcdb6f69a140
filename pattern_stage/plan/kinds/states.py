"""; and µ as an m-op: the common part of Sequence and Iterate (Hong 2009, section 4.3).

AN: an event finds the states of the right members that it belongs to.  AI: in a state, the
instances by the values that the condition compares for equality.  The first event that the
condition admits removes an instance for all members for which it is pending.

An epoch: instances meet the right events, which affects them; the affected are removed, and the
pending are added.  States are independent, so each processes the epochs of a batch by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from xscl.pattern_stage.algebra import history
from xscl.pattern_stage.algebra.nodes import Iterate, Repeat, Sequence
from xscl.pattern_stage.layouts import END, Event
from xscl.pattern_stage.plan.channels import Channel, Stream
from xscl.pattern_stage.plan.kinds.destinations import Destinations
from xscl.pattern_stage.plan.kinds.instances import Instance, Instances, State
from xscl.pattern_stage.plan.kinds.meetings import Meeting
from xscl.pattern_stage.plan.members import Constants
from xscl.pattern_stage.plan.memberships import Membership, Order, exceeding, first_of
from xscl.pattern_stage.plan.operators import Operator

__all__ = ["StateOperator"]

_CHECKED = 1024
"""After so many instances the expired ones are searched."""

_STALE = 64
"""Instances drop removed members once these are a quarter and so many more."""


class StateOperator(Operator):
    """Sequences or Iterates over the same streams that are the same up to constants."""

    node: Sequence | Iterate | Repeat

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        node, context = self.node, self.context
        meeting = self._meeting = Meeting(node, context)
        self._history = None
        if isinstance(node, Repeat) or (isinstance(node, Sequence) and node.by_history):
            self._history = history(node.right, context.layout)
        self._destinations = Destinations(self.members, meeting.bound, self.design)
        self._instances = Instances(self, self._destinations, meeting.bound, meeting.key_left)
        self.retained = self._instances
        self._pending: list[Instance] = []
        """The instances that continue from the current epoch of a state."""
        self._limit = _CHECKED
        self._begun = 0
        """The end of the first event of the batch."""
        self._stale: list[int] = []
        self._halted: set[int] = set()
        """Members that have exceeded a bound: nothing is built for only them."""
        self._most = self._most_pending = self._most_found = context.most
        """At so many of all members it is checked which of them have too many."""

    # Members

    def gained(self, member: int) -> None:
        """Adds a member."""
        self._destinations.gained(member)

    def lost(self, member: int) -> None:
        """Removes a member: instances may still refer to it, so its number is freed only later."""
        self._destinations.lost(member)
        self._stale.append(member)
        if (
            not self._instances.count
            or member in self._halted
            or len(self._stale) > _STALE + len(self.members) // 4
        ):
            self._free()

    def _free(self) -> None:
        stale = set(self._stale)
        done: dict[int, tuple[Order, Order]] = {}

        def rid(instance: Instance) -> Instance:
            element, order, count, first = instance
            if id(order) not in done:
                done[id(order)] = order, order.without(stale)
            left = sum(one not in stale for one in order.members[:count])
            return element, done[id(order)][1], left, first

        self._instances.rewrite(lambda some: [one for one in map(rid, some) if one[2]])
        for member in self._stale:
            self.members.free(member)
        self._halted -= stale
        self._stale.clear()

    # Batches

    def take(self) -> Channel:
        """Applies right events to the instances, of before and of the batch."""
        found, left, right = Channel(), self.inputs[0].out, self.inputs[1].out
        self._begun = min([channel[0][0][END] for channel in (left, right) if channel])
        coming: dict[int, dict[Constants, list[Instance]]] = {}
        by: dict[Membership, list[tuple[list[Instance], Order, int]]] = {}
        for event, membership in left:
            queues = by.get(membership)
            if queues is None:
                queues = by[membership] = [
                    (coming.setdefault(at, {}).setdefault(constants, []), order, len(order))
                    for at, constants, order in self._destinations.of(membership)
                ]
            for queue, order, count in queues:
                queue.append((event, order, count, True))
        met = 0
        for at, stream in self._streams(right, coming) if right else ():
            here, new = self._instances.active.get(at, {}), coming.pop(at, {})
            for constants in {**here, **new}:
                state = here.get(constants)
                if state is None:
                    if constants not in new:
                        # Its members have exceeded a bound.
                        continue
                    state = self._instances.state_of(new[constants][0])
                self._meet(state, stream, new.get(constants, []), found)
                self._instances.keep(at, constants, state)
                met += 1
        for at, some in coming.items():
            for constants, instances in some.items():
                self._instances.enter(at, constants, instances)
        if self._instances.count > self._limit:
            ends = [channel[-1][0][END] for channel in (left, right) if channel]
            self._instances.evict(max(ends))
            self._limit = max(_CHECKED, 2 * self._instances.count)
        if self._instances.count > self._most:
            self._bound(max(channel[-1][0][END] for channel in (left, right) if channel))
        self._most_pending = self._most_found = self.context.most
        return found.in_order() if met > 1 else found

    def _streams(self, right: Channel, coming: dict[int, Any]) -> list[tuple[int, Stream]]:
        """The right members that instances need, with their events."""
        active = self._instances.active
        if not self._instances.scanned:
            return right.streams({**active, **coming})
        found = []
        for one in {**active, **coming}:
            events = [event for event, membership in right if one in set(membership)]
            if events:
                found.append((one, Stream(events)))
        return found

    def _meet(self, state: State, stream: Stream, coming: list[Instance], found: Channel) -> None:
        """Runs a state over a batch: right events meet what has ended before their epoch."""
        events, ends, many = stream.events, stream.ends, len(stream.events)
        instances, key_of = state.instances, self._meeting.key_right
        pending, store = self._pending, self._instances
        place = entered = 0
        after: dict[object, list[Instance]] = {}
        while place < many:
            if not instances:
                # No instance is pending: skip to the first event after the next left one.
                if entered == len(coming):
                    break
                place = bisect_right(ends, coming[entered][0][END], place)
                if place == many:
                    break
            time = ends[place]
            first = entered
            while entered < len(coming) and coming[entered][0][END] < time:
                entered += 1
            if entered > first:
                store.install(state, coming[first:entered])
            begun, place = place, bisect_right(ends, time, place)
            for together in self._together(events[begun:place]):
                for event in together:
                    key = None if key_of is None else key_of(event)
                    there = instances.get(key)
                    if there is None:
                        continue
                    kept = self._meeting.meet(event, there, state.constants, found, pending)
                    if len(pending) > self._most_pending or len(found) > self._most_found:
                        self._bound_new(found)
                    if len(kept) < len(there):
                        # All events of an epoch meet the same instances.
                        before = after.get(key)
                        after[key] = kept if before is None else _both(before, kept)
                if not after:
                    continue
                for key, kept in after.items():
                    affected = len(instances[key]) - len(kept)
                    store.count -= affected
                    self.touched += affected
                    if kept:
                        instances[key] = kept
                    else:
                        del instances[key]
                after.clear()
                store.install(state, pending)
                pending.clear()
                if store.count > self._most:
                    self._bound(time, state)
        store.install(state, coming[entered:])
        self.touched -= self._meeting.late
        self._meeting.late = 0

    def _together(self, epoch: list[Event]) -> Iterable[list[Event]]:
        """The events of an epoch that meet the same instances, those first that come first in the
        order of histories."""
        history = self._history
        if history is None or len(epoch) == 1:
            return (epoch,)
        return [[*some] for _, some in groupby(sorted(epoch, key=history), history)]

    # Bounds

    def _bound_new(self, found: Channel) -> None:
        """Stops members for which an epoch makes too many instances, or a batch too many events."""
        most, pending = self.context.most, self._pending
        instances = [(order.members, count) for _, order, count, _ in pending]
        if self._halt(exceeding(instances, most), "instances"):
            pending[:] = [one for one in pending if self._is_wanted(one[1].members[: one[2]])]
        self._most_pending = len(pending) + most
        if self._halt(exceeding([first_of(one) for _, one in found], most), "outputs in one step"):
            found[:] = [one for one in found if self._is_wanted(one[1])]
        self._most_found = len(found) + most

    def _bound(self, time: int, state: State | None = None) -> None:
        """Stops members that have too many instances; `state` is the one that has reached a time;
        without it, all have."""
        store = self._instances
        since = self._begun if state is not None else time
        if state is None:
            store.evict(time)
        else:
            store.rewrite_state(state, lambda instances: store.young(instances, time))
        lists = [(some, since) for at, some in store.lists() if at is not state]
        if state is not None:
            lists += [(some, time) for some in state.instances.values()]
        pending = [
            (one[1].members, store.pending_members(one, at))
            for instances, at in lists
            for one in instances
        ]
        if self._halt(exceeding(pending, self.context.most), "instances"):
            store.rewrite(lambda instances: self._wanted(instances, since), state)
            if state is not None:
                store.rewrite_state(state, lambda instances: self._wanted(instances, time))
        self._most = store.count + self.context.most

    def _wanted(self, instances: list[Instance], time: int) -> list[Instance]:
        return [
            one
            for one in instances
            if self._is_wanted(one[1].members[: self._instances.pending_members(one, time)])
        ]

    def _is_wanted(self, members: Iterable[int]) -> bool:
        return not all(one in self._halted for one in members)

    def _halt(self, members: set[int], what: str) -> bool:
        why = f"more than {self.context.most:,} {what}"
        self.context.exceeded.update({(self, one): why for one in members - self._halted})
        self._halted |= members
        return bool(members)


def _both(some: list[Instance], others: list[Instance]) -> list[Instance]:
    """The instances in both."""
    known = {id(one) for one in others}
    return [one for one in some if id(one) in known]
