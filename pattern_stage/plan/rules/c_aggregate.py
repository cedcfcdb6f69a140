"""c_α: an Aggregate of equal definition over streams of one channel is computed once, as long as no
event has been in some of these streams alone."""

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
