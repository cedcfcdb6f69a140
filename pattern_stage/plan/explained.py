"""The plan of some queries before and after each rule that does something, for people to read.

Nothing runs: operators are taken together as `network.Network` does, with the rules so far.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from pattern_stage.algebra.localised import Localised, Operators, inputs
from pattern_stage.algebra.nodes import Aggregate, Node, Source
from pattern_stage.algebra.normal_form import normal_form
from pattern_stage.plan.operators import Design
from pattern_stage.plan.rules import RULES, Rule, design

__all__ = ["NORMAL_FORM", "MOp", "Planned", "Rewriting", "plan", "rewritings"]

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


def rewritings(queries: Sequence[Planned], without: Iterable[str] = ()) -> Iterator[Rewriting]:
    """The rules that do something to the plan of some queries, in their order."""
    off = frozenset(without)
    rules = [rule for rule in RULES if rule.name not in off]
    later = frozenset(rule.name for rule in RULES)
    raw = plan(queries, later)
    queries = [replace(one, root=normal_form(one.root)) for one in queries]
    before = plan(queries, later)
    if [one.node for one in raw] != [one.node for one in before]:
        # Its law is that of each step of `normal_form.RULES`.
        law = "normal form: conditions stand as far down as they mean the same."
        yield Rewriting(NORMAL_FORM, law, tuple(raw), tuple(before), len(raw), len(before))
    for rule in rules:
        later -= {rule.name}
        after = plan(queries, later | off)
        mine = [[one for one in every if rule.takes(one.node)] for every in (before, after)]
        sizes = [(len(every), sum(one.evaluated for one in every)) for every in mine]
        if sizes[0] != sizes[1]:
            of = 0 if sizes[0][0] != sizes[1][0] else 1
            yield Rewriting(
                rule.name, rule.law, tuple(before), tuple(after), sizes[0][of], sizes[1][of]
            )
        yield from _again(rule, [one for one in rules if one.name not in later], before, after)
        before = after


def _again(
    last: Rule, rules: Iterable[Rule], before: Sequence[MOp], after: Sequence[MOp]
) -> Iterator[Rewriting]:
    """The rules before the last one whose channels have more streams by what this did."""
    for rule in rules:
        if rule is last or not rule.name.startswith("c_"):
            continue
        saved = [
            sum(one.capacity - one.evaluated for one in every if rule.takes(one.node))
            for every in (before, after)
        ]
        if saved[1] > saved[0]:
            apart = tuple(
                replace(one, design=replace(one.design, channel=False))
                if rule.takes(one.node)
                else one
                for one in after
            )
            mine = [one for one in after if rule.takes(one.node)]
            operators = sum(one.capacity for one in mine)
            evaluated = sum(one.evaluated for one in mine)
            yield Rewriting(rule.name, rule.law, apart, tuple(after), operators, evaluated)


def plan(queries: Sequence[Planned], without: frozenset[str]) -> list[MOp]:
    """The m-ops of some queries, sources first, as the rules that are not switched off have
    them."""
    operators, tickets = Operators(), count()
    found: list[MOp] = []
    places: dict[Hashable, int] = {}

    def placed(node: Node, local: Localised, query: Planned) -> tuple[int, Hashable]:
        """The place of an operator's m-op, and its stream."""
        below = [
            placed(one, inner, query) for one, inner in zip(inputs(node), local.inputs, strict=True)
        ]
        reads, streams = tuple(one for one, _ in below), tuple(one for _, one in below)
        own = tuple(query.constants[place] for place in local.places)
        made = design(local.node, without)
        if isinstance(node, Source):
            made = Design("form", consed=True)
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

    for query in queries:
        typed = _typed(query.root, query.types)
        root, _ = placed(typed, operators.localise(typed), query)
        found[root].queries[query.name] = None
    return found


def _typed(node: Node, types: Sequence[int]) -> Node:
    if isinstance(node, Source):
        return replace(node, type=types[node.type])
    below: Any = {
        name: _typed(getattr(node, name), types)
        for name in ("input", "left", "right")
        if hasattr(node, name)
    }
    return replace(node, **below)
