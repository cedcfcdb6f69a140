"""s_σ: Selects over one stream are one predicate index, whatever they compare.

An event is looked up by the values that conditions compare by equality, then bisected by order;
what the index finds is tested as a whole, so it finds a superset."""

from __future__ import annotations

from dataclasses import replace

from pattern_stage.algebra.nodes import Select
from pattern_stage.plan.rules.rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    "s_σ",
    __doc__,
    takes=lambda node: isinstance(node, Select),
    decide=lambda design: replace(design, of="form", indexed=True),
)
