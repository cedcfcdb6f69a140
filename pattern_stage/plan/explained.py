"""The plan of some queries before and after each rule that changes it, for people to read.

Nothing runs: the operators of queries are those of `network.Network`, with the rules so far.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count
from types import MappingProxyType
from typing import Any

from xscl.pattern_stage.algebra.nodes import INPUTS, Aggregate, Node
from xscl.pattern_stage.algebra.normal_form import fold_conditions, normal_form
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.plan.network import Network, Template
from xscl.pattern_stage.plan.operators import Context
from xscl.pattern_stage.plan.rules import RULES, Design, Rule, m_op_key

__all__ = ["NORMAL_FORM", "MOp", "Planned", "Rewriting", "plan", "rewritings"]

NORMAL_FORM = "normal form"
"""The step before the rules."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A query: its name, its plan, the type of each source and its constants."""

    name: str
    root: Node
    types: tuple[int, ...]
    constants: tuple[Any, ...]


@dataclass(slots=True)
class MOp:
    """An m-op: its form; the m-ops that it reads; the number of operators merged into it; the
    streams that it outputs, each of a form (Aggregates may be of several) and of own constants; the
    queries whose root it is."""

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
        """The number of its streams that are computed separately."""
        return len(self.evaluations) if self.design.channel or _windowed(self) else self.capacity


def _windowed(m_op: MOp) -> bool:
    return isinstance(m_op.node, Aggregate) and m_op.design.indexed


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The effect of a rule: one or more `operators` of the plan before become `m_ops` of the plan
    after."""

    rule: str
    before: tuple[MOp, ...]
    after: tuple[MOp, ...]
    operators: int
    m_ops: int


def rewritings(
    queries: Sequence[Planned],
    without: Iterable[str] = (),
    classes: Mapping[int, int] = MappingProxyType({}),
) -> Iterator[Rewriting]:
    """The rules that change the plan of some queries, in their order; `classes` maps a type of a
    sharable stream to the one that represents all of them."""
    off = frozenset(without)
    rules = [rule for rule in RULES if rule.name not in off]
    later = frozenset(rule.name for rule in RULES)
    raw = plan(queries, later, classes, renaming=True)
    # Queries that differ in constants only are one plan, which is analysed once.
    normal = {one.root: one.root for one in queries}
    normal = {root: normal_form(root) for root in normal}
    queries = [replace(one, root=normal[one.root]) for one in queries]
    before = plan(queries, later, classes)
    if [*map(_definition, raw)] != [*map(_definition, before)]:
        yield Rewriting(NORMAL_FORM, tuple(raw), tuple(before), len(raw), len(before))
    for rule in rules:
        changing = [one for one in rules if one.name not in later and one.name.startswith("c_")]
        later -= {rule.name}
        after = plan(queries, later | off, classes)
        changing = [one for one in changing if _saved(one, after) > _saved(one, before)]
        # The effect of earlier rules on the result of this one is reported after it.
        reached = _split(after, changing)
        mine = [[one for one in every if rule.takes(one.node)] for every in (before, reached)]
        sizes = [(len(every), sum(one.evaluated for one in every)) for every in mine]
        if sizes[0] != sizes[1]:
            of = 0 if sizes[0][0] != sizes[1][0] else 1
            counts = sizes[0][of], sizes[1][of]
            yield Rewriting(rule.name, tuple(before), tuple(reached), *counts)
        for place, one in enumerate(changing, 1):
            last, reached = reached, _split(after, changing[place:])
            mine = [[m_op for m_op in every if one.takes(m_op.node)] for every in (last, reached)]
            counts = (
                sum(m_op.evaluated for m_op in mine[0]),
                sum(m_op.evaluated for m_op in mine[1]),
            )
            yield Rewriting(one.name, tuple(last), tuple(reached), *counts)
        before = after


def _definition(m_op: MOp) -> Hashable:
    """An operator alone, its conjuncts in one order."""
    node = fold_conditions(m_op.node)
    own = (getattr(node, one.name) for one in fields(node) if one.name not in INPUTS)
    return type(node), *own, m_op.inputs


def _saved(rule: Rule, m_ops: Iterable[MOp]) -> int:
    """The number of streams that a rule saves from being computed separately."""
    return sum(one.capacity - one.evaluated for one in m_ops if rule.takes(one.node))


def _split(m_ops: Sequence[MOp], rules: Iterable[Rule]) -> list[MOp]:
    """M-ops without the effect of rules of channels."""
    found = list(m_ops)
    for rule in rules:
        found = [
            replace(one, design=replace(one.design, channel=False)) if rule.takes(one.node) else one
            for one in found
        ]
    return found


def plan(
    queries: Sequence[Planned],
    without: frozenset[str],
    classes: Mapping[int, int],
    *,
    renaming: bool = False,
) -> list[MOp]:
    """The m-ops of some queries, sources first, under the rules that are not switched off; with
    `renaming`, operators that only rename are included."""
    network, tickets = Network(Context(Layouts(), without), classes), count()
    templates: dict[Hashable, Template] = {}
    found: list[MOp] = []
    places: dict[Hashable, int] = {}
    for query in queries:
        key = query.root, query.types
        if key not in templates:
            templates[key] = network.steps(*key, renaming=renaming)
        made: list[tuple[int, Hashable]] = []
        for step in templates[key]:
            node, reads = step.node, tuple(made[one][0] for one in step.inputs)
            streams = tuple(made[one][1] for one in step.inputs)
            own = step.own(query.constants) if reads else (step.type,)
            stream: Hashable = (id(node), streams, own) if step.design.consed else next(tickets)
            of = m_op_key(node, step.design, reads, stream)
            constants = own
            if isinstance(node, Aggregate) and node.window is not None and step.design.indexed:
                # Windows of one buffer are pointers into it.
                constants = own[: node.window] + own[node.window + 1 :]
            if step.design.buffered:
                window = isinstance(node, Aggregate) and node.window
                at = None if window is None or step.design.indexed else own[window]
                of = reads, "buffer", window is None, at
            if step.separate:
                of = of, step.type
            if of not in places:
                places[of] = len(found)
                found.append(MOp(node, step.design, reads))
            m_op = found[places[of]]
            m_op.operators += step.uses
            m_op.streams[stream] = node, own
            m_op.evaluations.add((id(node), constants, None if step.design.channel else streams))
            made.append((places[of], stream))
        found[made[-1][0]].queries[query.name] = None
    return found
