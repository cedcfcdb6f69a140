"""The rules that make the plan of all queries out of the operators of each (RUMOR; Hong 2009,
section 5.3; docs/semantics.md#sharing): a table, which is read from top to bottom.

A rule decides something about the m-op of each operator of a kind; its comment says why the matches
stay the same.  Joins have rules of their own, s_⋈ and c_⋈, in templates and channels of the join
stage.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import UnionType
from typing import Any, Literal

from xscl.pattern_stage.algebra.nodes import (
    Aggregate,
    Iterate,
    Map,
    Node,
    Repeat,
    Select,
    Sequence,
    Union,
)

__all__ = ["INDEXES", "JOIN_RULES", "RULES", "SWITCHES", "Design", "Rule", "design", "m_op_key"]


@dataclass(frozen=True, slots=True)
class Design:
    """The m-op of a form, as rules decide it; without any rule each query has operators of its
    own."""

    of: Literal["query", "definition", "form"] = "query"
    """The contents of one m-op: what equal queries share, operators with equal constants and
    inputs, or all members of the form."""

    consed: bool = False
    """Whether equal members are one."""

    indexed: bool = False
    """Whether an event finds members by index, or iterates over them."""

    channel: bool = False
    """Whether members with equal constants are evaluated once, for a membership."""

    buffered: bool = False
    """Whether Aggregates of all forms over one stream iterate over its events once."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The decision of a rule for the operators of a kind: fields of `Design`."""

    name: str
    kind: type[object] | UnionType
    decided: Mapping[str, Any]

    def takes(self, node: Node) -> bool:
        """Whether the rule is about an operator."""
        return isinstance(node, self.kind)


RULES = (
    # Operators with equal definitions over the same streams have equal outputs.  Of members this is
    # hash-consing; of a left-deep plan it merges the states of equal prefixes.
    Rule("s_cse", Node, {"consed": True, "of": "definition"}),
    # Selects over one stream are one predicate index, whatever they compare: an event is looked up
    # by the values that conditions compare by equality, then bisected by order; what the index
    # finds is tested as a whole, so a superset is enough.
    Rule("s_σ", Select, {"of": "form", "indexed": True}),
    # Maps over one stream that differ in constants are one, which reads an event once.
    Rule("s_π", Map, {"of": "form"}),
    # A Select of equal definition over streams of one channel is evaluated once an event, and the
    # membership passed on: σ(R) for each stream is σ of the channel.  So is a Map.
    Rule("c_σ", Select, {"channel": True}),
    Rule("c_π", Map, {"channel": True}),
    # Aggregates over one stream iterate over its events once: equal events are one for all of them,
    # and those with equal keys find their groups once.
    Rule("s_α", Aggregate, {"buffered": True}),
    # Aggregates that differ in windows only share one buffer, of the widest one, with a pointer for
    # each: a narrower window is the end of a wider one.
    Rule("s_w", Aggregate, {"of": "form", "indexed": True}),
    # An Aggregate of equal definition over streams of one channel is computed once, as long as no
    # event was in only some of these streams.
    Rule("c_α", Aggregate, {"channel": True}),
    # Sequences whose conditions differ in constants are one list of states. The state of an event
    # is found by the right members that it belongs to (AN), its instances by the values that the
    # condition compares for equality (AI). Members that differ in a bound on DUR only share
    # instances: the first event that the rest of the condition admits removes the instance for all,
    # since durations only grow. The same holds for Iterates.
    Rule("s_;", Sequence, {"of": "form", "indexed": True}),
    Rule("s_µ", Iterate | Repeat, {"of": "form", "indexed": True}),
    # Sequences and Iterates of equal definition, with one right stream, over left streams of one
    # channel are one state, whose instances have memberships.
    Rule("c_;", Sequence, {"channel": True}),
    Rule("c_µ", Iterate | Repeat, {"channel": True}),
    # A Union over streams of one channel passes memberships on.
    Rule("c_∪", Union, {"of": "form", "channel": True}),
    # Operators of one kind over the same streams to which no other rule applies are evaluated one
    # by one in one m-op.
    Rule("s_default", Node, {"of": "form"}),
)

INDEXES = frozenset({"AI", "AN", "FR"})
"""The indexes (docs/semantics.md#sharing)."""

JOIN_RULES = frozenset({"c_⋈", "s_⋈"})

SWITCHES = frozenset(rule.name for rule in RULES) | INDEXES | JOIN_RULES
"""All that can be switched off."""


def design(node: Node, without: Iterable[str] = ()) -> Design:
    """The m-op of an operator, as rules decide it.

    >>> from xscl.pattern_stage.algebra.nodes import Select, Source
    >>> node = Select((), Source(0, None))
    >>> design(node).of, design(node, SWITCHES).of
    ('form', 'query')
    """
    off = frozenset(without)
    made = Design()
    for rule in RULES:
        if rule.name not in off and rule.takes(node):
            made = replace(made, **rule.decided)
    return made


def m_op_key(node: Node, made: Design, reads: Hashable, stream: Hashable) -> Hashable:
    """The key of the m-op of an operator, given the m-ops that it reads; `stream` is specific to
    the operator: its definition, or a number."""
    form = (id(node), reads)
    if made.of != "form":
        return form, stream
    # One index, whatever the conditions compare.
    return (Select, id(node.input), reads) if isinstance(node, Select) else form
