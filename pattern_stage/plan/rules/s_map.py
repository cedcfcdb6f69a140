"""s_π: Maps over one stream that differ in constants are one, which reads an event once."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Map
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "s_π",
    __doc__,
    takes=lambda node: isinstance(node, Map),
    decide=lambda design: replace(design, of="form"),
)
