"""`;` as an m-op: a left event waits for the first right one after it that the condition admits
(patterns-cel.md, section 3; rules s_; and c_;).
"""

from __future__ import annotations

from typing import Any

from pattern_stage.algebra import Texts, admits
from pattern_stage.algebra.nodes import Sequence
from pattern_stage.plan.channels import Channel, Event
from pattern_stage.plan.kinds.conditions import bound_of, joins, key, without
from pattern_stage.plan.kinds.instances import Instance
from pattern_stage.plan.kinds.states import Stateful
from pattern_stage.plan.members import Constants

__all__ = ["SequenceOperator"]


class SequenceOperator(Stateful):
    """Sequences over the same streams, alike but for constants."""

    node: Sequence

    def __init__(self, *arguments: Any) -> None:
        node, _, context, _ = arguments
        layout = context.layout
        texts = Texts.between(node.left, node.right, layout)
        self.bound, rest = bound_of(node.condition, node.condition)
        self.key_left = self.key_right = None
        if "AI" not in context.without:
            equal, rest = joins(rest)
            if equal:
                left = key([(one.one, one.number) for one in equal], texts, "a")
                self.key_left = left, left
                self.key_right = key([(one.other, one.number) for one in equal], texts, "b")
        self._admits = admits(without(node, rest), layout) if rest else None
        super().__init__(*arguments)

    def meet(
        self, event: Event, instances: list[Instance], constants: Constants, found: Channel
    ) -> list[Instance]:
        """The instances that a right event leaves; others it completes, unless they are too old."""
        start, end, *_ = event
        admits, bound, kept = self._admits, self.bound, list[Instance]()
        for instance in instances:
            left, order, count, _ = instance
            if left[1] >= start:
                kept.append(instance)
                continue
            if admits is not None and not admits(left, event, constants):
                kept.append(instance)
                continue
            if bound is not None:
                count = min(count, order.within(end - left[0], bound.strict))
                if not count:
                    # It only had not been let go yet.
                    self.touched -= 1
                    continue
            found.append(((left[0], end, None, None, left, event), order.first(count)))
        return kept
