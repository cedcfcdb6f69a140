"""s_default: operators of one kind over the same streams to which nothing else applies are
evaluated one by one in one m-op."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "s_default",
    __doc__,
    takes=lambda node: True,
    decide=lambda design: replace(design, of="form"),
)
