"""s_α: Aggregates over one stream go through its events once: equal events are one for all of them,
and those with equal keys find their groups once."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Aggregate
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "s_α",
    __doc__,
    takes=lambda node: isinstance(node, Aggregate),
    decide=lambda design: replace(design, buffered=True),
)
