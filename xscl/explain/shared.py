"""The plan of all queries together, before and after each rule that does something (RUMOR; Hong
2009, chapter 5; docs/semantics.md#sharing): m-ops, the operators in each, their channels.

Event queries go through the rules of the pattern stage; joins of one template are one m-op (s_⋈),
those of one row are evaluated once for all of their queries (c_⋈); patterns of one automaton are
one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from xscl.counts import counted
from xscl.dissection.parts import Disjunct, Dissection, JoinOperator
from xscl.event_queries.plan_words import operator_text
from xscl.event_queries.terms import Known, Open
from xscl.explain.event_plans import EventPlans
from xscl.explain.explained import explained
from xscl.explain.sample import number_of
from xscl.explain.text import WIDTH
from xscl.explain.words import plain, shortened
from xscl.language.same_query import bare
from xscl.language.syntax import Block
from xscl.pattern_stage.algebra.nodes import Node, Source
from xscl.pattern_stage.plan.explained import MOp, Planned, rewritings

__all__ = [
    "Box",
    "Rewritten",
    "rule_lines",
    "shared_lines",
    "shared_members",
    "shared_plan",
]

_MOST = 24
"""Larger plans are not shown line by line."""

_MOST_QUERIES = 1000
"""Of more queries the first ones stand for all."""

_WIDEST = 56

_LISTED = frozenset(["automata", "c_⋈", "s_⋈"])


@dataclass(frozen=True, slots=True)
class Box:
    """An m-op: what it does, the boxes that it reads, its operators, the streams of its channel,
    how many of these are evaluated by themselves, the queries that it answers."""

    label: str
    reads: tuple[int, ...] = ()
    operators: int = 1
    capacity: int = 1
    evaluated: int = 1
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rule that did something: so many operators became so many; the plan before and after."""

    rule: str
    operators: int
    m_ops: int
    before: tuple[Box, ...] = field(repr=False)
    after: tuple[Box, ...] = field(repr=False)


def shared_plan(
    dissections: Sequence[Dissection],
    without: Collection[str] = (),
    sharable: Iterable[Collection[str]] = (),
) -> list[Rewritten]:
    """What the rules that are not switched off do to some queries, in their order; `sharable` as
    the engine has it."""
    steps = [
        *_of_events(dissections, without, sharable),
        *_of_joins(dissections),
        *_of_patterns(dissections),
    ]
    return [step for step in steps if step.rule not in without]


# Event queries.


class _Events:
    """The event queries among some, their types over all of them, and m-ops as boxes."""

    def __init__(
        self, dissections: Sequence[Dissection], sharable: Iterable[Collection[str]]
    ) -> None:
        self.queries: list[Planned] = []
        self._blocks: list[Block] = []
        types: dict[Hashable, int] = {}
        plans = EventPlans(dissections)
        for dissection in dissections:
            for one in dissection.everything():
                if one.query.language.schemas:
                    compiled = plans.of(one).compiled
                    places = []
                    for block in compiled.blocks:
                        type_ = types.setdefault(bare(block), len(types))
                        if type_ == len(self._blocks):
                            self._blocks.append(block)
                        places.append(type_)
                    root, constants = compiled.root, compiled.constants
                    self.queries.append(Planned(one.query.name, root, tuple(places), constants))

        self.classes: dict[int, int] = {}
        for streams in sharable:
            alike = [
                type_
                for type_, block in enumerate(self._blocks)
                if block.stream.text in streams and not block.steps
            ]
            self.classes.update(dict.fromkeys(alike, min(alike, default=0)))

    def boxes(self, m_ops: Iterable[MOp]) -> tuple[Box, ...]:
        return tuple(map(self._box, m_ops))

    def _box(self, m_op: MOp) -> Box:
        forms: dict[int, tuple[Node, list[tuple[Known, ...]]]] = {}
        for node, own in m_op.streams.values():
            forms.setdefault(id(node), (node, []))[1].append(own)
        labels = [
            operator_text(node, _in_common(owns), self._blocks) for node, owns in forms.values()
        ]
        if isinstance(m_op.node, Source):
            of = (replace(m_op.node, type=type_) for _, (type_,) in m_op.streams.values())
            labels = [operator_text(one, (), self._blocks) for one in of]
        return Box(
            " | ".join(labels),
            m_op.inputs,
            1 if isinstance(m_op.node, Source) else m_op.operators,
            m_op.capacity,
            m_op.evaluated,
            tuple(m_op.queries),
        )


def _of_events(
    dissections: Sequence[Dissection],
    without: Collection[str],
    sharable: Iterable[Collection[str]],
) -> Iterator[Rewritten]:
    events = _Events(dissections, sharable)
    for found in rewritings(events.queries, without, events.classes):
        before, after = events.boxes(found.before), events.boxes(found.after)
        yield Rewritten(found.rule, found.operators, found.m_ops, before, after)


def _in_common(constants: Sequence[Sequence[Known]]) -> list[Known]:
    """The constants of several operators: those that differ as parameters."""

    def at(place: int, values: Sequence[Known]) -> Known:
        same = all(value == values[0] for value in values)
        return values[0] if same else Open(str(place + 1), lambda _: "")

    return [at(place, values) for place, values in enumerate(zip(*constants, strict=True))]


# Joins and patterns.


def _of_joins(dissections: Sequence[Dissection]) -> Iterator[Rewritten]:
    stages = [
        (one.query.name, stage, _row(disjunct, stage))
        for dissection in dissections
        for one in dissection.everything()
        for disjunct in one.disjuncts
        for stage in disjunct.operators
        if len(stage.sides) == 2
    ]
    each = tuple(
        Box(f"⋈ template {stage.plan.template.id}", queries=(name,)) for name, stage, _ in stages
    )
    templates: dict[str, list[tuple[str, Hashable]]] = {}
    for name, stage, row in stages:
        templates.setdefault(stage.plan.template.id, []).append((name, row))
    together = tuple(
        Box(f"⋈ template {id}", (), len(of), len(of), len(of), _names(of))
        for id, of in templates.items()
    )
    rows = tuple(
        replace(box, evaluated=len({row for _, row in of}))
        for box, of in zip(together, templates.values(), strict=True)
    )
    if len(together) < len(each):
        yield Rewritten("s_⋈", len(each), len(together), each, together)
    if rows != together:
        evaluated = sum(box.evaluated for box in rows)
        yield Rewritten("c_⋈", len(stages), evaluated, together, rows)


def _row(disjunct: Disjunct, stage: JoinOperator) -> Hashable:
    """What stage 1 finds for a join's nodes: joins of one row differ in windows at most."""
    nodes = ((disjunct.patterns[one].block, one) for one in stage.assignment)
    found = ((disjunct.streams[block], disjunct.definitions[one]) for block, one in nodes)
    return stage.plan.id, tuple(found)


def _names(of: Iterable[tuple[str, Hashable]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name, _ in of))


def _of_patterns(dissections: Sequence[Dissection]) -> Iterator[Rewritten]:
    automata: dict[tuple[str, str], list[str]] = {}
    plans = EventPlans(())
    for dissection in dissections:
        for one in dissection.everything():
            own = explained(one)
            if own is not None and own.edges is not None:
                automata.setdefault(own.template(one, plans), []).append(one.query.name)
    each = [
        Box(f"automaton {id}: {states}", queries=(name,))
        for (id, states), names in automata.items()
        for name in names
    ]
    together = [
        Box(f"automaton {id}: {states}", (), len(names), len(names), len(names), tuple(names))
        for (id, states), names in automata.items()
    ]
    if len(together) < len(each):
        yield Rewritten("automata", len(each), len(together), tuple(each), tuple(together))


# For people, and for programs.


def shared_lines(
    dissections: Sequence[Dissection],
    without: Collection[str] = (),
    sharable: Iterable[Collection[str]] = (),
) -> Iterator[str]:
    """The rules that did something, each with the plan before and after; nothing if none did."""
    steps = shared_plan(dissections[:_MOST_QUERIES], without, sharable)
    if steps:
        some, number = min(len(dissections), _MOST_QUERIES), number_of(dissections)
        yield f"plan of {'all' if some == number else f'{some:,} of {number:,}'} queries"
    shown: tuple[Box, ...] = ()
    for step in steps:
        # Joins and automata are listed as templates already.
        listed = step.rule not in _LISTED and max(len(step.before), len(step.after)) <= _MOST
        before = listed and step.before != shown
        lines = rule_lines(step, before, listed and step.after != step.before)
        yield from (f"  {line}" for line in lines)
        shown = step.after if listed else ()


def rule_lines(step: Rewritten, before: bool = True, after: bool = True) -> Iterator[str]:
    """What a rule did, with the plan before and after it."""
    if before:
        yield f"before {step.rule}"
        yield from (f"  {line}" for line in _box_lines(step.before))
    yield f"{step.rule}: {counted(step.operators, 'operator')} → {_result(step)}"
    if after:
        yield from (f"  {line}" for line in _box_lines(step.after))


def _result(step: Rewritten) -> str:
    if step.rule.startswith("c_") and len(step.before) == len(step.after):
        return f"evaluated as {step.m_ops:,}"
    widest = max((box.capacity for box in step.after), default=1)
    channels = f", channels of up to {counted(widest, 'stream')}" if widest > 1 else ""
    return counted(step.m_ops, "m-op") + channels


def _box_lines(boxes: Sequence[Box]) -> Iterator[str]:
    width = min(_WIDEST, max(len(box.label) for box in boxes))
    for place, box in enumerate(boxes, 1):
        said = [*_sizes(box)]
        if box.reads:
            said.insert(0, f"of {' and '.join(str(one + 1) for one in box.reads)}")
        if box.queries:
            said.append(f"→ {shortened(box.queries)}")
        line = f"{place:>2}  {plain(box.label):<{width}}  {', '.join(said)}"
        yield from textwrap.wrap(line.rstrip(), WIDTH - 4, subsequent_indent=" " * 8)


def _sizes(box: Box) -> Iterator[str]:
    if box.operators > 1:
        yield counted(box.operators, "operator")
    if box.capacity > 1:
        yield f"channel of {box.capacity}"
    if box.evaluated < box.capacity:
        yield "evaluated once" if box.evaluated == 1 else f"evaluated {box.evaluated} times"


def shared_members(dissections: Sequence[Dissection]) -> list[dict[str, object]]:
    """The same as members of JSON."""

    def members(boxes: Iterable[Box]) -> list[dict[str, object]]:
        return [
            {
                "m_op": place,
                "label": box.label,
                "reads": [one + 1 for one in box.reads],
                "operators": box.operators,
                "capacity": box.capacity,
                "evaluated": box.evaluated,
                "queries": list(box.queries),
            }
            for place, box in enumerate(boxes, 1)
        ]

    return [
        {
            "rule": step.rule,
            "operators": step.operators,
            "m_ops": step.m_ops,
            "before": members(step.before),
            "after": members(step.after),
        }
        for step in shared_plan(dissections)
    ]
