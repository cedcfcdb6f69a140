"""π, ρ and α_g as an m-op: the items are computed once for members with equal constants."""

from __future__ import annotations

from typing import Any

from xscl.pattern_stage.algebra import mapped
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.operators import Operator

__all__ = ["MapOperator"]


class MapOperator(Operator):
    """Maps over one stream that are the same up to constants."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._make = mapped(self.node, self.context.layout)  # type: ignore[arg-type]

    def take(self) -> Channel:
        """Each event with its items."""
        make, grouped = self._make, self.grouped
        return Channel(
            [
                (make(event, constants), members)
                for event, membership in self.inputs[0].out
                for constants, members in grouped(membership)
            ]
        )
