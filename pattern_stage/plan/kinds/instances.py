"""Instances of a state: events that wait for others."""

from __future__ import annotations

from pattern_stage.plan.channels import Event
from pattern_stage.plan.members import Constants
from pattern_stage.plan.memberships import Order

__all__ = ["Instance", "State"]

Instance = tuple[Event, Order, int, bool]
"""The element, the members that wait (the first so many of an order), and whether it is a left
event by itself."""


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
