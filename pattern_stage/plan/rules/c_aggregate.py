"""c_α: an Aggregate of equal definition over streams of one channel computes once what groups
that agree have in common."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Aggregate
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "c_α",
    __doc__,
    takes=lambda node: isinstance(node, Aggregate),
    decide=lambda design: replace(design, channel=True),
)
