"""The rules that make the plan of all queries out of the operators of each (RUMOR; Hong 2009,
section 5.3; patterns-cel.md, section 6), top to bottom.

Joins have theirs, s_⋈ and c_⋈, in templates and channels of the join stage.
"""

from __future__ import annotations

from collections.abc import Iterable

from pattern_stage.algebra.nodes import Node
from pattern_stage.plan.operators import Design
from pattern_stage.plan.rules import (
    c_aggregate,
    c_iterate,
    c_map,
    c_select,
    c_sequence,
    c_union,
    s_aggregate,
    s_cse,
    s_default,
    s_iterate,
    s_map,
    s_select,
    s_sequence,
    s_window,
)
from pattern_stage.plan.rules.rule import Rule

__all__ = ["INDEXES", "JOIN_RULES", "RULES", "SWITCHES", "Rule", "design"]

RULES: tuple[Rule, ...] = (
    s_cse.RULE,
    s_select.RULE,
    s_map.RULE,
    c_select.RULE,
    c_map.RULE,
    s_aggregate.RULE,
    s_window.RULE,
    c_aggregate.RULE,
    s_sequence.RULE,
    s_iterate.RULE,
    c_sequence.RULE,
    c_iterate.RULE,
    c_union.RULE,
    s_default.RULE,
)

INDEXES = frozenset({"AI", "AN", "FR"})
"""The indexes (patterns-cel.md, section 6)."""

JOIN_RULES = frozenset({"c_⋈", "s_⋈"})

SWITCHES = frozenset(rule.name for rule in RULES) | INDEXES | JOIN_RULES
"""All that can be switched off."""


def design(node: Node, without: Iterable[str] = ()) -> Design:
    """How the m-op of an operator is made.

    >>> from pattern_stage.algebra.nodes import Select, Source
    >>> node = Select((), Source(0, None))
    >>> design(node).of, design(node, SWITCHES).of
    ('form', 'query')
    """
    off = frozenset(without)
    made = Design()
    for rule in RULES:
        if rule.name not in off and rule.takes(node):
            made = rule.decide(made)
    return made
