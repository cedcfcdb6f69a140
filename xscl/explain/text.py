"""A query's dissection as text for people: section 6.1 of the thesis, of a query at hand.

Each block as its tree pattern (figure 6.4), each operator as a stage with its join graph, what
the reduction rules remove of it, its minor and template, its conjunctive query (figure 6.7) and
what it keeps for how long.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xscl.counts import counted
from xscl.dissection.parts import Disjunct, Dissection, JoinOperator
from xscl.explain.event_plans import EventPlans
from xscl.explain.explained import explained
from xscl.explain.notes import notes
from xscl.explain.sample import names_of
from xscl.explain.stages import RULE_NAMES, comparisons, joins, reduced, roles, waiting
from xscl.explain.words import Words, listed, plain, shortened
from xscl.templates import JoinGraph
from xscl.times import span

__all__ = ["WIDTH", "as_text", "fitted"]

WIDTH = 100
"""The columns of a terminal that lines are made for."""

_MARKS_AT_MOST = 60
_Section = tuple[str, list[str]]


def as_text(dissection: Dissection, others: Sequence[Dissection] = ()) -> str:
    """The dissection of a query and its sub-queries; `others` are the queries beside which it
    stands: those with which it may share templates and which may read what it publishes."""
    beside = _Beside.of(others or (dissection,))
    lines = _query(dissection, beside, plain(dissection.query.name))
    return "\n".join(wrapped for line in lines for wrapped in _wrapped(line))


@dataclass(frozen=True, slots=True)
class _Beside:
    """The queries by the templates of their stages, and by the streams that they read; the plans
    of those of events."""

    of_template: dict[str, dict[str, None]]
    of_stream: dict[str, dict[str, None]]
    plans: EventPlans

    @classmethod
    def of(cls, dissections: Sequence[Dissection]) -> _Beside:
        beside = cls({}, {}, EventPlans(dissections))
        for dissection in dissections:
            names = dict.fromkeys(names_of(dissections, dissection.query.name))
            for one in dissection.everything():
                mine = names if one is dissection else {one.query.name: None}
                for stage in joins(one):
                    beside.of_template.setdefault(stage.plan.template.id, {}).update(mine)
                for stream in one.streams:
                    beside.of_stream.setdefault(stream, {}).update(names)
        return beside


def _query(dissection: Dissection, beside: _Beside, heading: str) -> Iterator[str]:
    yield heading
    if dissection.feeds is not None:
        readers = list(beside.of_stream.get(dissection.feeds, ()))
        reads = "reads" if len(readers) == 1 else "read"
        read = f", which {shortened(readers)} {reads}" if readers else ""
        yield f"  publishes to stream {dissection.feeds}{read}"
    if (own := explained(dissection)) is not None:
        yield from own.lines(dissection, beside.plans)
        yield from _sub_queries(dissection, beside)
        return
    count = len(dissection.disjuncts)
    seen: dict[tuple[str, tuple[str, ...]], int] = {}
    for number, disjunct in enumerate(dissection.disjuncts, 1):
        if count > 1:
            yield f"  disjunct {number} of {count}"
        for title, body in _sections(dissection, disjunct, beside):
            first = seen.setdefault((title, tuple(body)), number)
            if first != number:
                yield f"  {title}: as in disjunct {first}"
                continue
            yield f"  {title}"
            yield from (f"    {line}" for line in body)
    yield from (f"  note: {note}" for note in notes(dissection))
    yield from _sub_queries(dissection, beside)


def _sub_queries(dissection: Dissection, beside: _Beside) -> Iterator[str]:
    for stream, inner in dissection.subqueries:
        block = dissection.streams.index(stream) + 1
        name = f"{plain(inner.query.name)}, the sub-query of block {block}"
        yield ""
        yield from _query(inner, beside, name)


def _sections(dissection: Dissection, disjunct: Disjunct, beside: _Beside) -> Iterator[_Section]:
    words = Words(dissection, disjunct)
    for block in range(len(disjunct.streams)):
        title = f"tree pattern of block {block + 1}, {words.stream(block)}"
        yield title, list(_tree_pattern(disjunct, words, block))
    for number, stage in enumerate(disjunct.operators, 1):
        term = str(stage.plan.query(stage.plan.outputs, stage.plan.valued)).splitlines()
        body = ["conjunctive query", *(f"  {line}" for line in term), *_keeps(words, stage)]
        if len(stage.sides) == 2:
            sharing = beside.of_template.get(stage.plan.template.id, {})
            others = [name for name in sharing if name != dissection.query.name]
            body = [*_join(disjunct, words, stage, others), *body]
            yield f"stage {number}: {words.stage(stage)}", body
        else:
            yield f"stage {number}: {words.side(stage.sides[0])} alone, no join", body


# Tree patterns.


def _tree_pattern(disjunct: Disjunct, words: Words, block: int) -> Iterator[str]:
    """A block's tree pattern, drawn, with what each node is for."""
    children: dict[int | None, list[int]] = {}
    for node in disjunct.patterns:
        if node.block == block:
            children.setdefault(node.parent, []).append(node.number)
    drawn: list[tuple[str, str]] = []
    left = [(number, "", "") for number in children[None]]
    while left:
        number, branch, below = left.pop()
        step = words.step(disjunct.patterns[number])
        drawn.append((branch + step, ", ".join(roles(disjunct, number))))
        under = children.get(number, [])
        for child in reversed(under):
            twig, beyond = ("└─ ", "   ") if child == under[-1] else ("├─ ", "│  ")
            left.append((child, below + twig, below + beyond))
    width = max((len(step) for step, _ in drawn if len(step) <= _MARKS_AT_MOST), default=0)
    for step, marks in drawn:
        yield f"{step:<{width}}  {marks}".rstrip()


# Stages.


def _join(
    disjunct: Disjunct, words: Words, stage: JoinOperator, others: Sequence[str]
) -> Iterator[str]:
    compared = [
        (f"{words.node(one.edge.left)} {one.edge.sign} {words.node(one.edge.right)}", one.kind)
        for one in comparisons(stage)
    ]
    yield "join graph" if compared else "join graph without edges"
    width = max((len(said) for said, _ in compared if len(said) <= _MARKS_AT_MOST), default=0)
    yield from (f"  {said:<{width}}  {kind}" for said, kind in compared)
    graphs = reduced(disjunct, stage)
    yield "reduction rules remove"
    width = max(map(len, RULE_NAMES))
    for name, (before, after) in zip(RULE_NAMES, pairwise(graphs), strict=True):
        left = {node.number for node in after.nodes}
        gone = [node.number for node in before.nodes if node.number not in left]
        yield f"  {name + ':':<{width + 1}} {words.nodes(gone)}"
    yield f"minor: {_forest(graphs[-1], words)}"
    left = {node.number for node in graphs[-1].nodes}
    besides = sorted(set(stage.assignment) - left)
    if besides:
        yield f"bound beside it: {words.nodes(besides)}"
    template = stage.plan.template
    nodes, edges = len(template.graph.nodes), len(template.graph.value_joins)
    size = f"{counted(nodes, 'node')}, {counted(edges, 'value join')}"
    shared = f"; shared with {shortened(others)}" if others else ""
    yield f"template {template.id}: {size}{shared}"


def _forest(graph: JoinGraph, words: Words) -> str:
    """A join graph's nodes, children in parentheses, the sides on either side of a bar."""
    children = graph.children()

    def tree(number: int) -> str:
        below = ", ".join(tree(child) for child in children[number])
        return f"{words.node(number)}({below})" if below else words.node(number)

    sides: tuple[list[str], list[str]] = [], []
    for node in graph.nodes:
        if node.parent is None:
            sides[node.side].append(tree(node.number))
    return " | ".join(", ".join(side) or "—" for side in sides) if graph.nodes else "empty"


def _keeps(words: Words, stage: JoinOperator) -> Iterator[str]:
    """How long a stage keeps the documents of its sides, sides that are kept alike together."""
    kept: dict[str, list[str]] = {}
    for side, waits in zip(stage.sides, waiting(stage), strict=True):
        window = stage.constraint.window
        if len(stage.sides) == 1:
            said = "only until the watermark passes: no other document is asked for"
        elif not waits:
            said = "only until the watermark passes, for earlier documents that come later"
        elif window is None:
            said = "for good"
        else:
            latest = "its time" if side.operator is None else "the time of its latest document"
            said = f"until the watermark is {span(window)} past {latest}"
        kept.setdefault(said, []).append(words.side(side))
    yield "kept"
    for said, sides in kept.items():
        yield f"  {listed(sides)}: {said}"


def fitted(text: str, width: int) -> str:
    """A text for a terminal that is narrower than it was made for."""
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, width))


def _wrapped(line: str, width: int = WIDTH) -> list[str]:
    if len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip(" │├└─")) + 4)
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
