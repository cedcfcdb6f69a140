"""States and their instances: what Sequence and Iterate have in common (Hong 2009, section 4.3).

A *state* is of one member of the right input and of the own constants but the bound on DUR; it is
there as long as it has instances.  AN: an event finds the states of the right members that it
belongs to.  AI: in a state, the instances by what the condition compares for equality.  An
instance is an element with the members that wait for what follows it; the first event that the
condition admits takes it from all of these.

An epoch: instances meet the right events, which affects them; the affected go, and the pending
come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pattern_stage.algebra.nodes import Iterate, Sequence
from pattern_stage.plan.kinds.conditions import Bound
from pattern_stage.plan.kinds.instances import Instance, State
from pattern_stage.plan.members import Constants, members_in
from pattern_stage.plan.memberships import Membership, Order, within
from pattern_stage.plan.operators import Channel, Event, Operator

__all__ = ["Stateful"]

_REMEMBERED = 256


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
        self._limit = 1024
        self._stale: list[int] = []
        self._waits: dict[Membership, list[tuple[int, Constants, Order]]] = {}
        super().__init__(*arguments)
        self._scanned = not self.design.indexed or "AN" in self.context.without

    # Members

    def gained(self, member: int) -> None:
        """A new member."""
        if self._waits:
            self._waits.clear()

    def lost(self, member: int) -> None:
        """A member less: instances may still be its, so its number is free only later."""
        self._waits.clear()
        self._stale.append(member)
        if not self.count or len(self._stale) > 64 + len(self.members) // 4:
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

        for right, state, key, instances in [*self._lists()]:
            kept = [one for one in map(rid, instances) if one[2]]
            self._replace(right, state, key, instances, kept)
        for member in self._stale:
            self.members.free(member)
        self._stale.clear()

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
        under, left_of = self.members.under, self.members.left
        found = []
        here = (one for left in membership for one in members_in(under(left)))
        for (right, constants), some in self._by_state(here).items():
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

    def _by_state(self, members: Iterable[int]) -> dict[tuple[int, Constants], list[int]]:
        by: dict[tuple[int, Constants], list[int]] = {}
        for member in members:
            at = self.members.right[member], self._apart(self.members.constants[member] or ())
            by.setdefault(at, []).append(member)
        return by

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
        place, constants = self.bound.place, self.members.constants
        pairs = sorted((-constants[one][place], one) for one in members)  # type: ignore[index]
        return Order(tuple([one for _, one in pairs]), [negative for negative, _ in pairs])

    # Instances

    def install(self, right: int, constants: Constants, instance: Instance) -> None:
        """A new instance, of events from now on."""
        key: object = None
        if self.key_left is not None:
            key = self.key_left[instance[3]](instance[0])
            if key is None:
                return
        states = self.active.get(right)
        if states is None:
            states = self.active[right] = {}
            self._listen(right)
        state = states.get(constants)
        if state is None:
            whole = self.members.constants[instance[1].members[0]]
            assert whole is not None
            state = states[constants] = State(whole)
        instances = state.instances.get(key)
        if instances is None:
            state.instances[key] = [instance]
        else:
            instances.append(instance)
        self.count += 1

    def _listen(self, right: int) -> None:
        """Events of a right member are wanted; without AN those of all are."""
        listeners = self.inputs[1].listeners
        listeners.setdefault(None if self._scanned else right, {})[self] = None

    def _ignore(self, right: int) -> None:
        if not self._scanned or not self.active:
            self.inputs[1].ignored(self, None if self._scanned else right)

    def begin(self, channel: Channel) -> None:
        """The left events of an epoch wait."""
        for event, membership in channel:
            for right, constants, order in self.waits(membership):
                self.install(right, constants, (event, order, len(order), True))

    def met(self, channel: Channel) -> Iterator[tuple[int, list[Event]]]:
        """The right members with instances that events of an epoch belong to, and these."""
        active = self.active
        if self._scanned:
            for right in [*active]:
                events = [event for event, membership in channel if right in set(membership)]
                if events:
                    yield right, events
            return
        if len(channel) == 1:
            event, membership = channel[0]
            for right in within(membership, active):
                yield right, [event]
            return
        by: dict[int, list[Event]] = {}
        for event, membership in channel:
            for right in within(membership, active):
                by.setdefault(right, []).append(event)
        yield from by.items()

    def candidates(self, state: State, event: Event) -> tuple[object, list[Instance]]:
        """The instances that an event may meet, and their key."""
        key = None if self.key_right is None else self.key_right(event)
        if key is None and self.key_right is not None:
            return None, []
        return key, state.instances.get(key, [])

    def replace(
        self, right: int, constants: Constants, state: State, key: object, taken: set[int]
    ) -> None:
        """Takes the affected instances of a key away."""
        instances = state.instances[key]
        kept = [one for one in instances if id(one) not in taken]
        self._replace(right, (constants, state), key, instances, kept)

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
        if state.instances:
            return
        del self.active[right][constants]
        if not self.active[right]:
            del self.active[right]
            self._ignore(right)

    def _lists(self) -> Iterator[tuple[int, tuple[Constants, State], object, list[Instance]]]:
        for right, states in self.active.items():
            for constants, state in states.items():
                for key, instances in state.instances.items():
                    yield right, (constants, state), key, instances

    def swept(self, time: int) -> None:
        """Forgets, once there are many instances."""
        if self.count > self._limit:
            self.forget(time)
            self._limit = max(1024, 2 * self.count)

    def forget(self, watermark: int) -> None:
        """Lets go of instances that are too old for their widest bound."""
        if self.bound is None:
            return
        strict = self.bound.strict
        for right, at, key, instances in [*self._lists()]:
            kept = [one for one in instances if one[1].within(watermark - one[0][0], strict) > 0]
            if len(kept) < len(instances):
                self._replace(right, at, key, instances, kept)

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
        """(element, whether a left event, members) of each instance."""
        return [
            (element, int(first), [name(self, one) for one in order.members[:count]])
            for _, _, _, instances in self._lists()
            for element, order, count, first in instances
        ] or None

    def restore(self, state: Any, members: Callable[[Iterable[object]], list[int]]) -> None:
        """Instances anew."""
        for element, first, names in state:
            for (right, constants), here in self._by_state(members(names)).items():
                order = self._order(here)
                self.install(right, constants, (element, order, len(order), first))
