"""Queries as one picture, SVG: each block's tree pattern, the joins between their nodes, and below
these each stage with what is left of its join graph, the minor, and its template (section 6.4); of
a pattern the states of its automaton with their edges.

The picture has its own colours, for light and dark, as classes in a style of its own; it needs no
script, no font and nothing from elsewhere.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from xscl.counts import counted
from xscl.dissection.parts import Disjunct, Dissection, JoinOperator
from xscl.explain.drawing import (
    Link,
    Piece,
    above,
    automaton_row,
    beside,
    caption,
    framed,
    links,
    text,
    tree,
    wide,
)
from xscl.explain.event_plans import EventPlans
from xscl.explain.explained import Edges, States, explained
from xscl.explain.notes import notes
from xscl.explain.stages import RULE_NAMES, comparisons, reduced, roles
from xscl.explain.words import Words, numbered, plain
from xscl.templates import JoinGraph

__all__ = ["as_svg"]

_MARGIN = 16
_NOTE = 96

_LIGHT = {
    "back": "#fbfaf7",
    "panel": "#ffffff",
    "rule": "#dcd8ce",
    "ink": "#22262e",
    "dim": "#63676f",
    "node": "#f1f4f8",
    "line": "#b9c2cf",
    "output": "#dcebe6",
    "deep": "#2f7d68",
    "join": "#4356c0",
    "other": "#a65a12",
}
_DARK = {
    "back": "#15181d",
    "panel": "#1c2027",
    "rule": "#323842",
    "ink": "#e4e6ea",
    "dim": "#9aa1ac",
    "node": "#262c35",
    "line": "#49525f",
    "output": "#1f3a34",
    "deep": "#6fc3ab",
    "join": "#9aa8ff",
    "other": "#f0a862",
}
_RULES = """\
.xscl text{{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;\
fill:{ink}}}
.xscl .back{{fill:{back}}}
.xscl .panel{{fill:{panel};stroke:{rule}}}
.xscl .name{{font-weight:700}}
.xscl .head{{fill:{ink};font-weight:700}}
.xscl .dim,.xscl .said{{fill:{dim}}}
.xscl .node{{fill:{node};stroke:{line}}}
.xscl .output{{fill:{output};stroke:{deep};stroke-width:1.6}}
.xscl .filter{{stroke-dasharray:4 3}}
.xscl .twig{{fill:none;stroke:{line}}}
.xscl .edge{{fill:none;stroke-width:1.8}}
.xscl .value{{stroke:{join}}}
.xscl .value.dashed{{stroke-dasharray:5 4}}
.xscl .value.dead{{stroke:{line}}}
.xscl .tip{{fill:{join};stroke:none}}
.xscl .tip.dead{{fill:{line}}}
.xscl .tip.residual{{fill:{other}}}
.xscl .residual{{stroke:{other};stroke-dasharray:6 4}}
.xscl .sign rect{{fill:{panel};stroke-width:1.4;stroke-dasharray:none}}
.xscl .sign text{{stroke:none;font-weight:700}}
.xscl .sign.value text{{fill:{join}}}
.xscl .sign.residual text{{fill:{other}}}
"""


def as_svg(dissections: Iterable[Dissection]) -> str:
    """One picture of some queries, below one another, each after its sub-queries."""
    given = [*dissections]
    plans = EventPlans(given)
    every = [one for dissection in given for one in dissection.everything()]
    legend = [] if all(map(explained, every)) else [_legend()]
    drawn = [*(_query(one, plans) for one in every), *legend]
    whole = above(drawn if every else [caption("no query")], gap=24)
    inner = whole.at(_MARGIN, _MARGIN)
    width, height = whole.width + 2 * _MARGIN, whole.height + 2 * _MARGIN
    dark = _RULES.format(**_DARK).rstrip()
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="xscl" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}">',
        "<title>Tree patterns, joins, minors and templates of queries</title>",
        f"<style>\n{_RULES.format(**_LIGHT)}@media (prefers-color-scheme:dark){{\n{dark}\n}}",
        "</style>",
        f'<rect class="back" width="{width}" height="{height}"/>',
        *inner.parts,
        "</svg>",
    )
    return "\n".join(parts)


def _query(dissection: Dissection, plans: EventPlans) -> Piece:
    name = plain(dissection.query.name)
    feeds = "" if dissection.feeds is None else f"publishes to stream {dissection.feeds}"
    title = text(0, 14, name, "head") + (text(wide(name) + 20, 14, feeds, "dim") if feeds else "")
    pieces = [Piece(wide(name) + 20 + wide(feeds), 16, (title,))]
    count = len(dissection.disjuncts)
    for number, disjunct in enumerate(dissection.disjuncts, 1):
        if count > 1:
            pieces.append(caption(f"disjunct {number} of {count}"))
        pieces += _disjunct(disjunct, Words(dissection, disjunct))
    if (own := explained(dissection)) is not None:
        edges = None if own.edges is None else own.edges(dissection)
        return above([*pieces, *_automaton(own.states(dissection, plans), edges)])
    said = [line for note in notes(dissection) for line in _wrapped(f"note: {note}")]
    return above([*pieces, caption(*said)] if said else pieces)


def _automaton(drawing: States, ways: Edges | None) -> Iterator[Piece]:
    """States in a row with the ways between them, or below what enters them, each with its edges;
    then what is said below."""
    states, below = drawing
    drawn: list[tuple[Piece, bool]] = []
    for lines, edges, forbidden in states:
        kind = "filter" if forbidden else "" if edges else "output"
        leaves = ((n, 0, [edge], "filter") for n, edge in enumerate(edges, 1))
        drawn.append((tree([(0, None, lines, kind), *leaves]), forbidden))
    if ways is None:
        yield framed(above(piece for piece, _ in drawn), "panel")
    else:
        between: dict[tuple[int, int], set[str]] = {}
        for start, end, _, _, how in ways[1]:
            between.setdefault((start, end), set()).add(how)
        # One arrow stands for all between two states: for those that take an event, if there are.
        kinds = {
            pair: "value" if "" in how else f"value {max(how)}" for pair, how in between.items()
        }
        yield framed(automaton_row(drawn, kinds), "panel")
    yield caption(*(line for said in below for line in _wrapped(said)))


def _disjunct(disjunct: Disjunct, words: Words) -> Iterator[Piece]:
    """The blocks with the joins between them, then the stages."""
    blocks = beside((_block(disjunct, words, n) for n in range(len(disjunct.streams))), gap=88)
    edges = [one for stage in disjunct.operators for one in comparisons(stage)]
    some = [
        Link(
            one.edge.left,
            one.edge.right,
            one.edge.sign,
            _kind(one.kind),
            f"{words.node(one.edge.left)} {one.edge.sign} {words.node(one.edge.right)}, {one.kind}",
        )
        for one in edges
    ]
    yield links(blocks, some)
    for number, stage in enumerate(disjunct.operators, 1):
        if len(stage.sides) == 2:
            yield _stage(disjunct, words, number, stage)


def _block(disjunct: Disjunct, words: Words, block: int) -> Piece:
    nodes = []
    for node in disjunct.patterns:
        if node.block == block:
            held = roles(disjunct, node.number)
            lines = [words.step(replace(node, conditions=()))]
            lines += (f"[{condition}]" for condition in words.conditions(node))
            kind = next((role for role in ("output", "filter") if role in held), "")
            nodes.append((node.number, node.parent, lines, kind))
    return framed(tree(nodes), "panel", f"{numbered('block', (block,))}, {words.stream(block)}")


def _stage(disjunct: Disjunct, words: Words, number: int, stage: JoinOperator) -> Piece:
    """The minor of a stage, its nodes by name, beside its template, whose are numbered."""
    graphs = reduced(disjunct, stage)
    template = stage.plan.template
    nodes, edges = len(template.graph.nodes), len(template.graph.value_joins)
    size = f"{counted(nodes, 'node')}, {counted(edges, 'value join')}"
    minor = _graph(graphs[-1], {node.number: words.node(node.number) for node in graphs[-1].nodes})
    numbers = {node.number: str(node.number + 1) for node in template.graph.nodes}
    drawn = beside(
        [
            above([caption("minor"), minor]),
            above([caption(f"template {template.id}: {size}"), _graph(template.graph, numbers)]),
        ],
        gap=60,
    )
    removed = []
    for name, (before, after) in zip(RULE_NAMES, pairwise(graphs), strict=True):
        left = {node.number for node in after.nodes}
        gone = [node.number for node in before.nodes if node.number not in left]
        if gone:
            removed.append(f"removed, {name}: {words.nodes(gone)}")
    lines = [part for line in removed for part in _wrapped(line)]
    whole = above([drawn, caption(*lines)] if lines else [drawn], gap=12)
    return framed(whole, "panel", f"stage {number}: {words.stage(stage)}")


def _graph(graph: JoinGraph, names: dict[int, str]) -> Piece:
    """A join graph, its sides beside each other."""
    if not graph.nodes:
        return caption("empty: nothing is compared")
    sides = [
        tree([(n.number, n.parent, [names[n.number]], "") for n in graph.nodes if n.side == side])
        for side in (0, 1)
    ]
    across = {node.number: node.side for node in graph.nodes}
    some: Sequence[Link] = [
        Link(
            edge.left,
            edge.right,
            edge.sign,
            "value" if edge in graph.value_joins else "residual",
            f"{names[edge.left]} {edge.sign} {names[edge.right]}",
        )
        for edge in sorted(graph.edges, key=lambda edge: (across[edge.left], edge))
    ]
    return links(beside(sides, gap=96), some)


def _kind(kind: str) -> str:
    return "value" if kind == "value join" else "residual"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, _NOTE)


def _legend() -> Piece:
    """What the boxes and lines stand for."""
    signs = (
        ('<rect class="node output" y="3" width="22" height="13" rx="4"/>', "output node"),
        ('<rect class="node filter" y="3" width="22" height="13" rx="4"/>', "only a condition"),
        ('<path class="edge value" d="M0 10H22"/>', "value join"),
        ('<path class="edge residual" d="M0 10H22"/>', "other comparison"),
    )
    pieces = (
        Piece(30 + wide(words), 18, (drawn, text(30, 14, words, "dim"))) for drawn, words in signs
    )
    return beside(pieces, gap=24)
