"""s_µ: Iterates whose conditions differ in constants are one list of states, as of s_;."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Iterate
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "s_µ",
    __doc__,
    takes=lambda node: isinstance(node, Iterate),
    decide=lambda design: replace(design, of="form", indexed=True),
)
