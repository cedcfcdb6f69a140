"""s_cse: operators with equal definitions over the same streams are one: they have equal outputs.

Of members this is hash-consing; of a left-deep plan it merges the states of equal prefixes (sµ)."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "s_cse",
    __doc__,
    takes=lambda node: True,
    decide=lambda design: replace(
        design, consed=True, of="definition" if design.of == "query" else design.of
    ),
)
