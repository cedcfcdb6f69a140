"""States and their instances: the memory of a Sequence or an Iterate (Hong 2009, section 4.3;
docs/semantics.md#states-and-instances).

A *state* belongs to one member of the right input and to the own constants but the bound on DUR; it
exists as long as it has instances.  An instance is an element with the members for which it is
pending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from xscl.pattern_stage.layouts import START, Event
from xscl.pattern_stage.plan.kinds.conditions import Bound
from xscl.pattern_stage.plan.kinds.destinations import Destinations
from xscl.pattern_stage.plan.members import Constants
from xscl.pattern_stage.plan.memberships import Order
from xscl.pattern_stage.plan.operators import Operator
from xscl.pattern_stage.plan.retained import Retained

__all__ = ["ElementKey", "Instance", "Instances", "State"]

Instance = tuple[Event, Order, int, bool]
"""The element, the members for which it is pending (the first so many of an order), and whether it
is a left event itself."""

ElementKey = Callable[..., Any]

Rewrite = Callable[[list[Instance]], list[Instance]]


class State:
    """Instances by key, the oldest first; without AI under one key."""

    __slots__ = ("constants", "instances")

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        self.instances: dict[object, list[Instance]] = {}

    def copy(self) -> State:
        """A state with lists of its own."""
        other = State(self.constants)
        other.instances = {key: [*instances] for key, instances in self.instances.items()}
        return other


class Instances(Retained):
    """The states of an m-op; its right input is read for those that have instances."""

    def __init__(
        self,
        of: Operator,
        destinations: Destinations,
        bound: Bound | None,
        key_left: tuple[ElementKey, ElementKey] | None,
    ) -> None:
        self._of, self._destinations = of, destinations
        self._bound, self._key_left = bound, key_left
        self.scanned = not of.design.indexed or "AN" in of.context.without
        """Whether all right events are processed, not only those of members (AN)."""
        self.count = 0
        self.active: dict[int, dict[Constants, State]] = {}
        """States with instances, by member of the right input and constants."""

    def enter(self, right: int, constants: Constants, instances: list[Instance]) -> None:
        """Adds new instances of a state, which may be new, too."""
        state = self.active.get(right, {}).get(constants) or self.state_of(instances[0])
        self.install(state, instances)
        self.keep(right, constants, state)

    def state_of(self, instance: Instance) -> State:
        """A new state for an instance."""
        constants = self._of.constants[instance[1].members[0]]
        assert constants is not None
        return State(constants)

    def install(self, state: State, instances: list[Instance]) -> None:
        """Adds instances, of events from now on."""
        by, key_left = state.instances, self._key_left
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

    def keep(self, right: int, constants: Constants, state: State) -> None:
        """Stores a changed state: it exists as long as it has instances."""
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
        """Registers for events of a right member; without AN for those of all."""
        self._of.inputs[1].readers.listen(self._of, None if self.scanned else right)

    def _ignore(self, right: int) -> None:
        if not self.scanned or not self.active:
            self._of.inputs[1].readers.ignore(self._of, None if self.scanned else right)

    def lists(self) -> Iterator[tuple[State, list[Instance]]]:
        """The instances of each state and key."""
        for states in self.active.values():
            for state in states.values():
                for instances in state.instances.values():
                    yield state, instances

    def rewrite(self, of: Rewrite, other_than: State | None = None) -> None:
        """Applies a function to the instances of all states but one."""
        for right, states in [*self.active.items()]:
            for constants, state in [*states.items()]:
                if state is not other_than:
                    self.rewrite_state(state, of)
                    self.keep(right, constants, state)

    def rewrite_state(self, state: State, of: Rewrite) -> None:
        """Applies it to those of one state, which may not exist yet."""
        for key, instances in [*state.instances.items()]:
            state.instances[key] = kept = of(instances)
            self.count += len(kept) - len(instances)
            if not kept:
                del state.instances[key]

    def young(self, instances: list[Instance], time: int) -> list[Instance]:
        """Those for which an event at a time is not too late."""
        if self._bound is None:
            return instances
        strict = self._bound.strict
        return [one for one in instances if one[1].within(time - one[0][START], strict) > 0]

    def pending_members(self, instance: Instance, time: int) -> int:
        """The number of first members of an instance for which an event at a time is not too
        late."""
        element, order, count, _ = instance
        if self._bound is None:
            return count
        return min(count, order.within(time - element[START], self._bound.strict))

    # As all that is retained

    def evict(self, watermark: int) -> None:
        """Evicts instances that are too old for their widest bound."""
        if self._bound is not None:
            self.rewrite(lambda instances: self.young(instances, watermark))

    def size(self) -> int:
        """The number of instances."""
        return self.count

    def states(self) -> int:
        """The number of states with instances."""
        return sum(map(len, self.active.values()))

    def snapshot(self) -> object:
        """The instances, which are tuples, in lists of their own."""
        return self.count, {
            right: {constants: state.copy() for constants, state in states.items()}
            for right, states in self.active.items()
        }

    def restore(self, snapshot: Any) -> None:
        """Restores a snapshot."""
        for right in [*self.active]:
            del self.active[right]
            self._ignore(right)
        self.count, self.active = snapshot
        for right in self.active:
            self._listen(right)

    def dump(self, name: Callable[[int], object]) -> object:
        """The members of orders, and for each instance (element, whether it is a left event, which
        order, how many of its members): shared parts are written once."""
        orders: dict[int, tuple[int, Order]] = {}
        longest: list[int] = []
        dumped: list[tuple[object, int, int, int]] = []
        for _, instances in self.lists():
            for element, order, count, first in instances:
                place, _ = orders.setdefault(id(order), (len(orders), order))
                if place == len(longest):
                    longest.append(0)
                longest[place] = max(longest[place], count)
                dumped.append((element, int(first), place, count))
        names = [[*map(name, order.members[: longest[place]])] for place, order in orders.values()]
        return [names, dumped] if dumped else None

    def load(self, dumped: Any, members: Callable[[Iterable[object]], list[int]]) -> None:
        """Adds the instances of a dump."""
        names, instances = dumped
        for element, first, place, count in instances:
            by_state = self._destinations.by_state(members(names[place][:count]))
            for (right, constants), here in by_state.items():
                order = self._destinations.order(here)
                self.enter(right, constants, [(element, order, len(order), first)])
