"""`+` as an m-op: the chains of one, and those that grow out of them as an Iterate's runs do."""

from __future__ import annotations

from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.kinds.states import StateOperator

__all__ = ["RepeatOperator"]


class RepeatOperator(StateOperator):
    """Repeats over the same streams that are the same up to constants."""

    def take(self) -> Channel:
        """The chains of one that come, and the longer ones."""
        found = Channel(
            [
                (event, order.first(len(order)))
                for event, membership in self.inputs[0].out
                for _, _, order in self._destinations.of(membership)
            ]
        )
        found += super().take()
        return found.in_order()
