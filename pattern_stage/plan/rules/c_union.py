"""c_∪: a Union over streams of one channel passes memberships on."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Union
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "c_∪",
    __doc__,
    takes=lambda node: isinstance(node, Union),
    decide=lambda design: replace(design, of="form", channel=True),
)
