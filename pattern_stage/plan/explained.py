"""The plan of some queries before and after each rule that does something, for people to read.

Nothing runs: operators are taken together as `network.Network` does, with the rules so far.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count
from types import MappingProxyType
from typing import Any

from pattern_stage.algebra.localised import Localised, Operators, inputs
from pattern_stage.algebra.nodes import Aggregate, Node, Select, Source
from pattern_stage.algebra.normal_form import fold_conditions, normal_form
from pattern_stage.plan.operators import Design
from pattern_stage.plan.rules import RULES, Rule, design

__all__ = ["NORMAL_FORM", "MOp", "Planned", "Rewriting", "plan", "rewritings"]

_INPUTS = ("input", "left", "right")

NORMAL_FORM = "normal form"
"""What comes before the rules."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A query: its name, its plan, the type of each source and its constants."""

    name: str
    root: Node
    types: tuple[int, ...]
    constants: tuple[Any, ...]


@dataclass(slots=True)
class MOp:
    """An m-op: its form; the m-ops that it reads; how many operators it has taken in; the streams
    that come of it, each of a form (Aggregates may be of several) and of own constants; the queries
    whose root it is."""

    node: Node
    design: Design
    inputs: tuple[int, ...]
    operators: int = 0
    streams: dict[Hashable, tuple[Node, tuple[Any, ...]]] = field(default_factory=dict)
    evaluations: set[Hashable] = field(default_factory=set)
    queries: dict[str, None] = field(default_factory=dict)

    @property
    def capacity(self) -> int:
        """The streams of its channel."""
        return len(self.streams)

    @property
    def evaluated(self) -> int:
        """How many of its streams are computed by themselves."""
        return len(self.evaluations) if self.design.channel or _windowed(self) else self.capacity


def _windowed(m_op: MOp) -> bool:
    return isinstance(m_op.node, Aggregate) and m_op.design.indexed


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What a rule does: `operators` of the plan before, one or more, to `m_ops` of that after."""

    rule: str
    law: str
    before: tuple[MOp, ...]
    after: tuple[MOp, ...]
    operators: int
    m_ops: int


def rewritings(
    queries: Sequence[Planned],
    without: Iterable[str] = (),
    classes: Mapping[int, int] = MappingProxyType({}),
) -> Iterator[Rewriting]:
    """The rules that do something to the plan of some queries, in their order; `classes` has for a
    type of a sharable stream the one that stands for all of them."""
    off = frozenset(without)
    rules = [rule for rule in RULES if rule.name not in off]
    later = frozenset(rule.name for rule in RULES)
    raw = plan(queries, later, classes)
    # Queries alike but for constants are one plan, which is looked at once.
    normal = {one.root: one.root for one in queries}
    normal = {root: normal_form(root) for root in normal}
    queries = [replace(one, root=normal[one.root]) for one in queries]
    before = plan(queries, later, classes)
    if [*map(_definition, raw)] != [*map(_definition, before)]:
        # Its law is that of each step of `normal_form.RULES`.
        law = "normal form: conditions stand as far down as they mean the same."
        yield Rewriting(NORMAL_FORM, law, tuple(raw), tuple(before), len(raw), len(before))
    for rule in rules:
        again = [one for one in rules if one.name not in later and one.name.startswith("c_")]
        later -= {rule.name}
        after = plan(queries, later | off, classes)
        again = [one for one in again if _saved(one, after) > _saved(one, before)]
        # What earlier rules do with what this one does is told after it.
        reached = _apart(after, again)
        mine = [[one for one in every if rule.takes(one.node)] for every in (before, reached)]
        sizes = [(len(every), sum(one.evaluated for one in every)) for every in mine]
        if sizes[0] != sizes[1]:
            of = 0 if sizes[0][0] != sizes[1][0] else 1
            counts = sizes[0][of], sizes[1][of]
            yield Rewriting(rule.name, rule.law, tuple(before), tuple(reached), *counts)
        for place, one in enumerate(again, 1):
            last, reached = reached, _apart(after, again[place:])
            mine = [[m_op for m_op in every if one.takes(m_op.node)] for every in (last, reached)]
            counts = (
                sum(m_op.evaluated for m_op in mine[0]),
                sum(m_op.evaluated for m_op in mine[1]),
            )
            yield Rewriting(one.name, one.law, tuple(last), tuple(reached), *counts)
        before = after


def _definition(m_op: MOp) -> Hashable:
    """An operator by itself, its conjuncts in one order."""
    node = fold_conditions(m_op.node)
    own = (getattr(node, one.name) for one in fields(node) if one.name not in _INPUTS)
    return type(node), *own, m_op.inputs


def _saved(rule: Rule, m_ops: Iterable[MOp]) -> int:
    """How many streams a rule spares from being computed by themselves."""
    return sum(one.capacity - one.evaluated for one in m_ops if rule.takes(one.node))


def _apart(m_ops: Sequence[MOp], rules: Iterable[Rule]) -> list[MOp]:
    """M-ops without what rules of channels do to them."""
    found = list(m_ops)
    for rule in rules:
        found = [
            replace(one, design=replace(one.design, channel=False)) if rule.takes(one.node) else one
            for one in found
        ]
    return found


def plan(
    queries: Sequence[Planned], without: frozenset[str], classes: Mapping[int, int]
) -> list[MOp]:
    """The m-ops of some queries, sources first, as the rules that are not switched off have
    them."""
    operators, tickets = Operators(), count()
    found: list[MOp] = []
    places: dict[Hashable, int] = {}
    designs: dict[int, Design] = {}

    def placed(node: Node, local: Localised, query: Planned) -> tuple[int, Hashable]:
        """The place of an operator's m-op, and its stream."""
        below = [
            placed(one, inner, query) for one, inner in zip(inputs(node), local.inputs, strict=True)
        ]
        reads, streams = tuple(one for one, _ in below), tuple(one for _, one in below)
        own = tuple(query.constants[place] for place in local.places)
        made = designs.get(id(local.node))
        if made is None:
            made = designs[id(local.node)] = design(local.node, without)
        if isinstance(node, Source):
            made, own = Design("form", consed=True), (node.type,)
        stream: Hashable = (id(local.node), streams, own) if made.consed else next(tickets)
        of: Hashable = (id(local.node), reads)
        alike = own
        if isinstance(local.node, Aggregate) and local.node.window is not None and made.indexed:
            # Windows of one buffer are pointers into it.
            alike = own[: local.node.window] + own[local.node.window + 1 :]
        if made.buffered:
            window = isinstance(local.node, Aggregate) and local.node.window
            at = None if window is None or made.indexed else own[window]
            of = reads, "buffer", window is None, at
        elif made.of == "form" and isinstance(local.node, Select):
            # One index, whatever the conditions compare.
            of = reads, "select", id(local.node.input)
        elif made.of == "definition":
            of = (of, stream)
        elif made.of == "query":
            of = next(tickets), "query"
        if of not in places:
            places[of] = len(found)
            found.append(MOp(local.node, made, reads))
        m_op = found[places[of]]
        m_op.operators += 1
        m_op.streams[stream] = local.node, own
        m_op.evaluations.add((id(local.node), alike, None if made.channel else streams))
        return places[of], stream

    known: dict[Hashable, tuple[Node, Localised]] = {}
    for query in queries:
        key = query.root, query.types
        if key not in known:
            shared = _typed(query.root, [classes.get(one, one) for one in query.types])
            known[key] = _typed(query.root, query.types), operators.localise(shared)
        root, _ = placed(*known[key], query)
        found[root].queries[query.name] = None
    return found


def _typed(node: Node, types: Sequence[int]) -> Node:
    if isinstance(node, Source):
        return replace(node, type=types[node.type])
    below: Any = {
        name: _typed(getattr(node, name), types) for name in _INPUTS if hasattr(node, name)
    }
    return replace(node, **below)
