"""c_;: Sequences of equal definition, with one right stream, over left streams of one channel are
one state, whose instances have memberships."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Sequence
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "c_;",
    __doc__,
    takes=lambda node: isinstance(node, Sequence),
    decide=lambda design: replace(design, channel=True),
)
