"""µ as an m-op: a left event and one right event after the other, each iteration an output
(patterns-cel.md, section 3; rules s_µ and c_µ).

The condition skips an event or takes it; what is taken ends the run, unless it goes on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pattern_stage.algebra import Texts, admits, goes_on, iterated
from pattern_stage.algebra.identity import frozen
from pattern_stage.algebra.nodes import Iterate
from pattern_stage.plan.channels import Channel, Event
from pattern_stage.plan.kinds.conditions import bound_of, joins, key, without
from pattern_stage.plan.kinds.instances import Instance
from pattern_stage.plan.kinds.states import Stateful
from pattern_stage.plan.members import Constants

__all__ = ["IterateOperator"]


class IterateOperator(Stateful):
    """Iterates over the same streams, alike but for constants.

    Functions come in twos, for an iterated element and for a left event (`first`).
    """

    node: Iterate

    def __init__(self, *arguments: Any) -> None:
        node, _, context, _ = arguments
        layout = context.layout
        rest, going_on = node.condition, node.going_on
        terms = [term for _, term in node.aggregates]
        everything = (*rest, *going_on, *terms)
        self.bound, rest = bound_of(rest, everything)
        if self.bound is None:
            self.bound, going_on = bound_of(going_on, everything)
        self.key_left = self.key_right = None
        if "AI" not in context.without:
            equal, rest = joins(rest)
            if equal:
                of = [(one.one, one.number) for one in equal]
                keys = [
                    key(of, Texts.within(node, first, layout), "a, i") for first in (False, True)
                ]
                # An element is its own last iteration; its left event is within it.
                self.key_left = (
                    lambda element: keys[0](element[4], element),
                    lambda element: keys[1](element, element),
                )
                texts = Texts.within(node, True, layout)
                self.key_right = key([(one.other, one.number) for one in equal], texts, "b")
        tested = without(node, rest)
        self._admits = [admits(tested, layout, first) for first in (False, True)] if rest else None
        on = replace(node, going_on=going_on)
        self._goes_on = (
            [goes_on(on, first, layout) for first in (False, True)] if going_on else None
        )
        self._make = [iterated(node, first, layout) for first in (False, True)]
        # Whether elements of one left event have been there side by side, so that an event may
        # make equal ones of them.
        self._branched = False
        super().__init__(*arguments)

    def meet(
        self, event: Event, instances: list[Instance], constants: Constants, found: Channel
    ) -> list[Instance]:
        """The instances that a right event leaves; others it goes on with, or ends."""
        start, end, *_ = event
        admits, goes_on, make, bound = self._admits, self._goes_on, self._make, self.bound
        kept = list[Instance]()
        self._branched = self._branched or bool(self.pending)
        made = set[object]()
        for instance in instances:
            element, order, count, first = instance
            if element[1] >= start:
                kept.append(instance)
                continue
            left = element if first else element[4]
            if admits is not None and not admits[first](left, event, element, constants):
                kept.append(instance)
                continue
            if goes_on is not None and not goes_on[first](left, event, element, constants):
                continue
            if bound is not None:
                count = min(count, order.within(end - element[0], bound.strict))
                if not count:
                    # It only had not been let go yet.
                    self.touched -= 1
                    continue
            longer = make[first](left, event, element, constants)
            if self._branched:
                same = id(left), tuple(map(frozen, longer[6:])), id(order), count
                if same in made:
                    continue
                made.add(same)
            found.append((longer, order.first(count)))
            self.pending.append((longer, order, count, False))
        return kept
