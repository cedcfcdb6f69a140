"""How right events meet the instances of Sequences and Iterates (docs/semantics.md#operators).

`;` ends an instance by the first right event after it that the condition admits. µ continues with
it, one right event after the other; each iteration is an output.  Its condition skips an event or
takes it; an event that it takes ends the run unless the run continues.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xscl.pattern_stage.algebra import admits, continues, frozen, iterated, texts_of
from xscl.pattern_stage.algebra.nodes import Iterate, Repeat, Sequence
from xscl.pattern_stage.algebra.nodes.iterate import AGGREGATES, FIRST
from xscl.pattern_stage.layouts import END, START, Event
from xscl.pattern_stage.plan.channels import Channel
from xscl.pattern_stage.plan.kinds.conditions import Equality, bound_of, joins, key
from xscl.pattern_stage.plan.kinds.instances import ElementKey, Instance
from xscl.pattern_stage.plan.members import Constants
from xscl.pattern_stage.plan.operators import Context

__all__ = ["Meeting"]


class Meeting:
    """The functions of a node; in pairs, for an iterated element and for a left event (`first`).  A
    Sequence has left events only."""

    def __init__(self, node: Sequence | Iterate | Repeat, context: Context) -> None:
        layout, both = context.layout, (False, True)
        rest, continuing = node.condition, getattr(node, "continuing", ())
        terms = [term for _, term in getattr(node, "aggregates", ())]
        everything = (*rest, *continuing, *terms)
        self.bound, rest = bound_of(rest, everything)
        """The bound on DUR by which members are ordered."""
        if self.bound is None:
            self.bound, continuing = bound_of(continuing, everything)
        self.key_left: tuple[ElementKey, ElementKey] | None = None
        """The key of an instance for AI: of an iterated element, and of a left event."""
        self.key_right: ElementKey | None = None
        self.equal: list[Equality] = []
        if "AI" not in context.without:
            self.equal, rest = joins(rest)
        if self.equal:
            of = [(one.one, one.number) for one in self.equal]
            iteration, begun = (texts_of(node, first, layout) for first in both)
            longer = key(of, iteration, "a, i")
            # An element is its own last iteration; its left event is within it.
            self.key_left = (lambda element: longer(element[FIRST], element)), key(of, begun, "a")
            self.key_right = key([(one.other, one.number) for one in self.equal], begun, "b")
        tested: Any = replace(node, condition=rest)
        self._admits = [admits(tested, layout, first) for first in both] if rest else None
        self._continues = None
        if isinstance(node, Iterate | Repeat) and continuing:
            on = replace(node, continuing=continuing)
            self._continues = [continues(on, first, layout) for first in both]
        self._make = [iterated(node, first, layout) for first in both]
        self._ends = isinstance(node, Sequence)
        # Chains differ in what is before their last event.
        self._may_repeat = isinstance(node, Iterate)
        # Whether elements of one left event have existed at the same time, so that an event may
        # make equal ones of them.
        self._branched = False
        self.late = 0
        """The number of instances that were met and too old."""

    def meet(
        self,
        event: Event,
        instances: list[Instance],
        constants: Constants,
        found: Channel,
        pending: list[Instance],
    ) -> list[Instance]:
        """The instances that a right event leaves; its outputs, and the instances that continue
        from its epoch, are added."""
        start, end, *_ = event
        admits, continues, make, bound = self._admits, self._continues, self._make, self.bound
        kept = list[Instance]()
        self._branched = self._may_repeat and (self._branched or bool(pending))
        made = set[object]()
        for instance in instances:
            element, order, count, first = instance
            if element[END] >= start:
                kept.append(instance)
                continue
            left = element if first else element[FIRST]
            if admits is not None and not admits[first](left, event, element, constants):
                kept.append(instance)
                continue
            if continues is not None and not continues[first](left, event, element, constants):
                continue
            if bound is not None:
                count = min(count, order.within(end - element[START], bound.strict))
                if not count:
                    # It had only not been evicted yet.
                    self.late += 1
                    continue
            longer = make[first](left, event, element, constants)
            if self._branched:
                same = id(left), tuple(map(frozen, longer[AGGREGATES:])), id(order), count
                if same in made:
                    continue
                made.add(same)
            found.append((longer, order.first(count)))
            if not self._ends:
                pending.append((longer, order, count, False))
        return kept
