"""States and their instances: what Sequence and Iterate have in common (Hong 2009, section 4.3).

A *state* is of one member of the right input and of the own constants but the bound on DUR; it is
there as long as it has instances.  AN: an event finds the states of the right members that it
belongs to.  AI: in a state, the instances by what the condition compares for equality.  An
instance is an element with the members that wait for what follows it; the first event that the
condition admits takes it from all of these.

An epoch: instances meet the right events, which affects them; the affected go, and the pending
come.  States know nothing of each other, so each goes through the epochs of a batch by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pattern_stage.algebra.nodes import Iterate, Sequence
from pattern_stage.plan.channels import Channel, Event, Stream
from pattern_stage.plan.kinds.conditions import Bound
from pattern_stage.plan.kinds.instances import Instance, State
from pattern_stage.plan.members import MANY, NONE, Constants, members_in
from pattern_stage.plan.memberships import Membership, Order, exceeding, first_of
from pattern_stage.plan.operators import Operator

__all__ = ["Stateful"]

_REMEMBERED = 256

_FORGOTTEN = 1024
"""Of so many instances it is seen which ones are too old."""

_STALE = 64
"""So many members more than a quarter may have gone before instances forget them."""


class Stateful(Operator):
    """Sequences or Iterates over the same streams, alike but for constants."""

    node: Sequence | Iterate
    bound: Bound | None
    """The bound on DUR by which members are ordered."""

    key_left: tuple[Callable[..., Any], Callable[..., Any]] | None
    """What AI asks of an instance: of an iterated element, and of a left event."""

    key_right: Callable[..., Any] | None

    def __init__(self, *arguments: Any) -> None:
        self.count = 0
        self.active: dict[int, dict[Constants, State]] = {}
        """States with instances, by member of the right input and constants."""
        self.pending: list[Instance] = []
        """What goes on from the epoch that a state is at."""
        self._limit = _FORGOTTEN
        self._rights: dict[int, int] = {}
        """How many members read each of the right input's."""
        self._begun = 0
        """The end of the first event of the batch."""
        self._stale: list[int] = []
        self._halted: set[int] = set()
        """Members that have exceeded a bound: nothing is made for them alone."""
        self._waits: dict[Membership, list[tuple[int, Constants, Order]]] = {}
        super().__init__(*arguments)
        self._most = self._most_pending = self._most_found = self.context.most
        """With how many of all members it is looked at which of them have too many."""
        self._scanned = not self.design.indexed or "AN" in self.context.without

    # Members

    def gained(self, member: int) -> None:
        """A new member."""
        right = self.members.right[member]
        self._rights[right] = self._rights.get(right, 0) + 1
        if self._waits:
            self._waits.clear()

    def lost(self, member: int) -> None:
        """A member less: instances may still be its, so its number is free only later."""
        right = self.members.right[member]
        self._rights[right] -= 1
        if not self._rights[right]:
            del self._rights[right]
        self._waits.clear()
        self._stale.append(member)
        if (
            not self.count
            or member in self._halted
            or len(self._stale) > _STALE + len(self.members) // 4
        ):
            self._free()

    def _free(self) -> None:
        self._rid(set(self._stale))
        for member in self._stale:
            self.members.free(member)
        self._halted.difference_update(self._stale)
        self._stale.clear()

    def _rid(self, stale: set[int]) -> None:
        done: dict[int, tuple[Order, Order]] = {}

        def rid(instance: Instance) -> Instance:
            element, order, count, first = instance
            if id(order) not in done:
                done[id(order)] = order, order.without(stale)
            left = sum(one not in stale for one in order.members[:count])
            return element, done[id(order)][1], left, first

        for right, state, key, instances in [*self._lists()]:
            kept = [one for one in map(rid, instances) if one[2]]
            self._replace(right, state, key, instances, kept)

    def waits(self, membership: Membership) -> list[tuple[int, Constants, Order]]:
        """Where a left event waits, and for whom: by right member and constants, the members."""
        if len(membership) == 1:
            (left,) = membership
            bucket = self.members.under(left)
            if bucket.__class__ is int:
                return [self._waits_alone(bucket)]
        found = self._waits.get(membership)
        if found is not None:
            return found
        left_of = self.members.left
        found = []
        for (right, constants), some in self._by_state(self._waiting(membership)).items():
            streams = {0: some}
            if not self.design.channel:
                # Without channels each stream's event waits by itself.
                streams = {}
                for one in some:
                    streams.setdefault(left_of[one], []).append(one)
            found += [(right, constants, self._order(each)) for each in streams.values()]
        if len(self._waits) >= _REMEMBERED:
            self._waits.clear()
        self._waits[membership] = found
        return found

    def _waiting(self, membership: Membership) -> Iterator[int]:
        below = self.members.below
        for left in membership:
            at = below[left] if left < len(below) else NONE
            if at >= 0:
                yield at
            elif at != NONE:
                yield from members_in(self.members.many[MANY - at])

    def _by_state(self, members: Iterable[int]) -> dict[tuple[int, Constants], list[int]]:
        by: dict[int, list[int]] = {}
        right_of, constants = self.members.right, self.constants
        if len(self._rights) == 1:
            # Nobody has to be asked, one by one of hundreds of thousands.
            (right,) = self._rights
            by[right] = [*members]
            members = ()
        for member in members:
            right = right_of[member]
            if right in by:
                by[right].append(member)
            else:
                by[right] = [member]
        found: dict[tuple[int, Constants], list[int]] = {}
        for right, some in by.items():
            if not some:
                continue
            first = self._apart(constants[some[0]])
            if not first:
                # No constants tell states apart.
                found[right, first] = some
                continue
            for member in some:
                found.setdefault((right, self._apart(constants[member])), []).append(member)
        return found

    def _apart(self, constants: Constants) -> Constants:
        """The constants that tell states apart: members may differ in the bound within one."""
        if self.bound is None or not self.design.indexed:
            return constants
        place = self.bound.place
        return constants[:place] + constants[place + 1 :]

    def _waits_alone(self, member: int) -> tuple[int, Constants, Order]:
        constants: Any = self.members.constants[member]
        right, bound = self.members.right[member], self.bound
        if bound is None:
            return right, constants, Order((member,))
        return right, self._apart(constants), Order((member,), [-constants[bound.place]])

    def _order(self, members: list[int]) -> Order:
        if self.bound is None:
            return Order(tuple(members))
        place, constants = self.bound.place, self.constants
        negative = [-constants[one][place] for one in members]
        if min(negative) == max(negative):
            return Order(tuple(members), negative)
        pairs = sorted(zip(negative, members, strict=True))
        return Order(tuple([one for _, one in pairs]), [bound for bound, _ in pairs])

    # Batches

    def take(self) -> Channel:
        """What right events make of the instances, of before and of the batch."""
        found, left, right = Channel(), self.inputs[0].out, self.inputs[1].out
        self._begun = min([channel[0][0][1] for channel in (left, right) if channel])
        coming: dict[int, dict[Constants, list[Instance]]] = {}
        by: dict[Membership, list[tuple[list[Instance], Order, int]]] = {}
        for event, membership in left:
            queues = by.get(membership)
            if queues is None:
                queues = by[membership] = [
                    (coming.setdefault(at, {}).setdefault(constants, []), order, len(order))
                    for at, constants, order in self.waits(membership)
                ]
            for queue, order, count in queues:
                queue.append((event, order, count, True))
        met = 0
        for at, stream in self._streams(right, coming) if right else ():
            here, new = self.active.get(at, {}), coming.pop(at, {})
            for constants in {**here, **new}:
                state = here.get(constants)
                if state is None:
                    if constants not in new:
                        # Its members have exceeded a bound.
                        continue
                    state = self._state(new[constants][0])
                self._meet(state, stream, new.get(constants, []), found)
                self._keep(at, constants, state)
                met += 1
        for at, some in coming.items():
            for constants, instances in some.items():
                self._enter(at, constants, instances)
        if self.count > self._limit:
            self.forget(max(channel[-1][0][1] for channel in (left, right) if channel))
            self._limit = max(_FORGOTTEN, 2 * self.count)
        if self.count > self._most:
            self._bound(max(channel[-1][0][1] for channel in (left, right) if channel))
        self._most_pending = self._most_found = self.context.most
        return found.in_order() if met > 1 else found

    def meet(
        self, event: Event, instances: list[Instance], constants: Constants, found: Channel
    ) -> list[Instance]:
        """The instances that a right event leaves."""
        raise NotImplementedError

    def _streams(self, right: Channel, coming: dict[int, Any]) -> list[tuple[int, Stream]]:
        """The right members that instances wait for, with their events."""
        active = self.active
        if not self._scanned:
            return right.streams({**active, **coming})
        found = []
        for one in {**active, **coming}:
            events = [event for event, membership in right if one in set(membership)]
            if events:
                found.append((one, Stream(events)))
        return found

    def _meet(self, state: State, stream: Stream, coming: list[Instance], found: Channel) -> None:
        """A state goes through a batch: right events meet what has ended before their epoch."""
        events, ends, many = stream.events, stream.ends, len(stream.events)
        instances, key_of = state.instances, self.key_right
        place = entered = 0
        after: dict[object, list[Instance]] = {}
        while place < many:
            if not instances:
                # Nobody waits: on to the first event behind the next left one.
                if entered == len(coming):
                    break
                place = bisect_right(ends, coming[entered][0][1], place)
                if place == many:
                    break
            time = ends[place]
            first = entered
            while entered < len(coming) and coming[entered][0][1] < time:
                entered += 1
            if entered > first:
                self._install(state, coming[first:entered])
            while place < many and ends[place] == time:
                event = events[place]
                place += 1
                key = None if key_of is None else key_of(event)
                there = instances.get(key)
                if there is None:
                    continue
                kept = self.meet(event, there, state.constants, found)
                if len(self.pending) > self._most_pending or len(found) > self._most_found:
                    self._bound_new(found)
                if len(kept) < len(there):
                    # All events of an epoch meet the same instances.
                    before = after.get(key)
                    after[key] = kept if before is None else _both(before, kept)
            if after:
                for key, kept in after.items():
                    affected = len(instances[key]) - len(kept)
                    self.count -= affected
                    self.touched += affected
                    if kept:
                        instances[key] = kept
                    else:
                        del instances[key]
                after.clear()
                self._install(state, self.pending)
                self.pending.clear()
                if self.count > self._most:
                    self._bound(time, state)
        self._install(state, coming[entered:])

    # Bounds

    def _bound_new(self, found: Channel) -> None:
        """Stops members of which an epoch makes too many instances, or a batch too many events."""
        most, pending = self.context.most, self.pending
        instances = [(order.members, count) for _, order, count, _ in pending]
        if self._halt(exceeding(instances, most), "instances"):
            pending[:] = [one for one in pending if self._is_wanted(one[1].members[: one[2]])]
        self._most_pending = len(pending) + most
        if self._halt(exceeding([first_of(one) for _, one in found], most), "outputs in one step"):
            found[:] = [one for one in found if self._is_wanted(one[1])]
        self._most_found = len(found) + most

    def _bound(self, time: int, state: State | None = None) -> None:
        """Stops members that have too many instances; `state` is the one that has come to a time,
        all have without it."""
        since = self._begun if state is not None else time
        held: list[tuple[tuple[int, ...], int]] = []
        if state is None:
            self.forget(time)
        else:
            self._thin(state, lambda instances: self._young(instances, time))
            held += self._held(state.instances.values(), time)
        others = [
            (right, at, key, some) for right, at, key, some in self._lists() if at[1] is not state
        ]
        held += self._held((some for *_, some in others), since)
        if self._halt(exceeding(held, self.context.most), "instances"):
            for right, at, key, instances in others:
                self._replace(right, at, key, instances, self._wanted(instances, since))
            if state is not None:
                self._thin(state, lambda instances: self._wanted(instances, time))
        self._most = self.count + self.context.most

    def _held(
        self, lists: Iterable[list[Instance]], time: int
    ) -> Iterator[tuple[tuple[int, ...], int]]:
        """The members of instances, of which those have gone that an event at a time is too late
        for."""
        for instances in lists:
            for instance in instances:
                yield instance[1].members, self._waiting_at(instance, time)

    def _waiting_at(self, instance: Instance, time: int) -> int:
        """How many of the first members of an instance wait for an event at a time."""
        element, order, count, _ = instance
        if self.bound is None:
            return count
        return min(count, order.within(time - element[0], self.bound.strict))

    def _thin(self, state: State, of: Callable[[list[Instance]], list[Instance]]) -> None:
        """Some of the instances of a state, which may not be there yet."""
        for key, instances in [*state.instances.items()]:
            state.instances[key] = kept = of(instances)
            self.count += len(kept) - len(instances)
            if not kept:
                del state.instances[key]

    def _wanted(self, instances: list[Instance], time: int) -> list[Instance]:
        return [
            one
            for one in instances
            if self._is_wanted(one[1].members[: self._waiting_at(one, time)])
        ]

    def _is_wanted(self, members: Iterable[int]) -> bool:
        return not all(one in self._halted for one in members)

    def _halt(self, members: set[int], what: str) -> bool:
        why = f"more than {self.context.most:,} {what}"
        self.context.exceeded.update({(self, one): why for one in members - self._halted})
        self._halted |= members
        return bool(members)

    # Instances

    def _enter(self, right: int, constants: Constants, instances: list[Instance]) -> None:
        """New instances, whatever comes."""
        state = self.active.get(right, {}).get(constants) or self._state(instances[0])
        self._install(state, instances)
        self._keep(right, constants, state)

    def _state(self, instance: Instance) -> State:
        """One that an instance comes into."""
        constants = self.members.constants[instance[1].members[0]]
        assert constants is not None
        return State(constants)

    def _install(self, state: State, instances: list[Instance]) -> None:
        """New instances, of events from now on."""
        by, key_left = state.instances, self.key_left
        for instance in instances:
            key: object = None
            if key_left is not None:
                key = key_left[instance[3]](instance[0])
                if key is None:
                    continue
            there = by.get(key)
            if there is None:
                by[key] = [instance]
            else:
                there.append(instance)
            self.count += 1

    def _keep(self, right: int, constants: Constants, state: State) -> None:
        """A state that has changed: it is there as long as it has instances."""
        states = self.active.get(right)
        if state.instances:
            if states is None:
                states = self.active[right] = {}
                self._listen(right)
            states[constants] = state
        elif states is not None and constants in states:
            del states[constants]
            if not states:
                del self.active[right]
                self._ignore(right)

    def _listen(self, right: int) -> None:
        """Events of a right member are wanted; without AN those of all are."""
        listeners = self.inputs[1].listeners
        listeners.setdefault(None if self._scanned else right, {})[self] = None

    def _ignore(self, right: int) -> None:
        if not self._scanned or not self.active:
            self.inputs[1].ignored(self, None if self._scanned else right)

    def _replace(
        self,
        right: int,
        at: tuple[Constants, State],
        key: object,
        instances: list[Instance],
        kept: list[Instance],
    ) -> None:
        self.count += len(kept) - len(instances)
        constants, state = at
        if kept:
            state.instances[key] = kept
            return
        del state.instances[key]
        self._keep(right, constants, state)

    def _lists(self) -> Iterator[tuple[int, tuple[Constants, State], object, list[Instance]]]:
        for right, states in self.active.items():
            for constants, state in states.items():
                for key, instances in state.instances.items():
                    yield right, (constants, state), key, instances

    def forget(self, watermark: int) -> None:
        """Lets go of instances that are too old for their widest bound."""
        if self.bound is None:
            return
        for right, at, key, instances in [*self._lists()]:
            kept = self._young(instances, watermark)
            if len(kept) < len(instances):
                self._replace(right, at, key, instances, kept)

    def _young(self, instances: list[Instance], time: int) -> list[Instance]:
        """Those that an event at a time is not too late for."""
        if self.bound is None:
            return instances
        strict = self.bound.strict
        return [one for one in instances if one[1].within(time - one[0][0], strict) > 0]

    def held(self) -> int:
        """How many instances there are."""
        return self.count

    def states(self) -> int:
        """How many states have instances."""
        return sum(map(len, self.active.values()))

    # Copies

    def save(self) -> object:
        """The instances, which are tuples, in lists of their own."""
        return self.count, {
            right: {constants: state.copy() for constants, state in states.items()}
            for right, states in self.active.items()
        }

    def load(self, saved: Any) -> None:
        """The instances of before."""
        for right in [*self.active]:
            del self.active[right]
            self._ignore(right)
        self.count, states = saved
        self.active = {}
        for right, some in states.items():
            self._listen(right)
            self.active[right] = {constants: state.copy() for constants, state in some.items()}

    def state(self, name: Callable[[Operator, int], object]) -> object:
        """The members of orders, and (element, whether a left event, which order, how many of its
        members) of each instance: what many share is said once."""
        orders: dict[int, tuple[int, Order]] = {}
        longest: list[int] = []
        held: list[tuple[object, int, int, int]] = []
        for _, _, _, instances in self._lists():
            for element, order, count, first in instances:
                place, _ = orders.setdefault(id(order), (len(orders), order))
                if place == len(longest):
                    longest.append(0)
                longest[place] = max(longest[place], count)
                held.append((element, int(first), place, count))
        names = [
            [name(self, one) for one in order.members[: longest[place]]]
            for place, order in orders.values()
        ]
        return [names, held] if held else None

    def restore(self, state: Any, members: Callable[[Iterable[object]], list[int]]) -> None:
        """Instances anew."""
        names, held = state
        for element, first, place, count in held:
            by_state = self._by_state(members(names[place][:count]))
            for (right, constants), here in by_state.items():
                order = self._order(here)
                self._enter(right, constants, [(element, order, len(order), first)])


def _both(some: list[Instance], others: list[Instance]) -> list[Instance]:
    """The instances in both."""
    known = {id(one) for one in others}
    return [one for one in some if id(one) in known]
