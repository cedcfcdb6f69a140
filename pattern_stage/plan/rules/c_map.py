"""c_π: a Map of equal definition over streams of one channel is computed once an event."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Map
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "c_π",
    __doc__,
    takes=lambda node: isinstance(node, Map),
    decide=lambda design: replace(design, channel=True),
)
