"""c_σ: a Select of equal definition over streams of one channel is evaluated once an event, and
the membership passed on: σ(R) for each stream is σ of the channel."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Select
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "c_σ",
    __doc__,
    takes=lambda node: isinstance(node, Select),
    decide=lambda design: replace(design, channel=True),
)
