"""`;` as an m-op: a left event waits for the first right one after it that the condition admits
(patterns-cel.md, section 3; rules s_; and c_;).
"""

from __future__ import annotations

from typing import Any

from pattern_stage.algebra import Texts, admits
from pattern_stage.algebra.nodes import Sequence
from pattern_stage.plan.kinds.conditions import bound_of, joins, key, without
from pattern_stage.plan.kinds.instances import State
from pattern_stage.plan.kinds.states import Stateful
from pattern_stage.plan.operators import Channel, Event

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

    def epoch(self, time: int, *channels: Channel) -> Channel:
        """What the right events complete; then the left ones wait."""
        found: Channel = []
        left, right = channels
        if right and self.count:
            for member, events in self.met(right):
                for constants, state in [*self.active[member].items()]:
                    self._meet(time, events, (member, constants, state), found)
        if left:
            self.begin(left)
            self.swept(time)
        return found

    def _meet(
        self, time: int, events: list[Event], at: tuple[int, Any, State], found: Channel
    ) -> None:
        state = at[2]
        admits, bound, constants = self._admits, self.bound, state.constants
        touched: dict[object, set[int]] = {}
        for event in events:
            start = event[0]
            key, instances = self.candidates(state, event)
            for instance in instances:
                left, order, count, _ = instance
                if left[1] >= start:
                    continue
                if admits is not None and not admits(left, event, constants):
                    continue
                touched.setdefault(key, set()).add(id(instance))
                if bound is not None:
                    count = min(count, order.within(time - left[0], bound.strict))
                    if not count:
                        continue
                found.append(((left[0], time, None, None, left, event), order.first(count)))
        for key, taken in touched.items():
            self.touched += len(taken)
            self.replace(*at, key, taken)
