"""s_w: Aggregates that differ in windows alone share one buffer, of the widest one, with a pointer
for each: a narrower window is the end of a wider one."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Aggregate
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "s_w",
    __doc__,
    takes=lambda node: isinstance(node, Aggregate),
    decide=lambda design: replace(design, of="form", indexed=True),
)
