"""s_;: Sequences whose conditions differ in constants are one list of states.

The state of an event is found by the right members that it belongs to (AN), its instances by what
the condition compares for equality (AI).  Members that differ in a bound on DUR alone wait
together: the first event that the rest of the condition admits takes the instance from all, since
durations only grow."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Sequence
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "s_;",
    __doc__,
    takes=lambda node: isinstance(node, Sequence),
    decide=lambda design: replace(design, of="form", indexed=True),
)
