"""Queries as one Mermaid flowchart: tree patterns, join edges, stages, and the streams between.

In a quoted label Mermaid ends the text at the next quote and reads `#name;` as a character; some
of its versions read Markdown, icons and comments in it, too.  So all but letters, digits and a
few signs are written as `#code;`, which every version reads alike.  (Mermaid draws up to 50,000
characters and 500 edges unless it is configured otherwise.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from xscl.dissection.parts import Disjunct, Dissection, OperatorSide
from xscl.explain.composition.pictures import composition_graph
from xscl.explain.drawing import DrawnState
from xscl.explain.event_plans import EventPlans
from xscl.explain.events import event_operators
from xscl.explain.explained import explained
from xscl.explain.stages import comparisons, roles
from xscl.explain.words import Words, operator, within
from xscl.patterns.compile_automaton import CompiledAutomaton
from xscl.patterns.compile_composition import CompiledComposition
from xscl.stream_names import is_internal, public_name

__all__ = ["as_mermaid", "label"]

# No label has such signs.
_ARROW = re.compile(r" (-->|-\.->|==>|-\.-|---)")
_UNSAFE = re.compile(r"[^\w /=(),']|_")


def as_mermaid(dissections: Iterable[Dissection]) -> str:
    """One flowchart, with a subgraph for each query (in it those of its sub-queries), in that one
    for each block; documents flow along the arrows, dotted lines compare.  Operators of event
    queries that are alike but for constants are one, and stand outside: a dotted arrow between them
    is a channel of several streams.  A box of a pattern is what must not come before the state that
    it is tied to."""
    chart = _Flowchart()
    return "\n".join([*chart.numbered([*chart.drawn(dissections)])])


def label(*lines: str) -> str:
    """A quoted label of some lines, whatever they hold.

    >>> label('[. = "a"]')
    '"#91;#46; = #34;a#34;#93;"'
    """
    escaped = (_UNSAFE.sub(lambda found: f"#{ord(found[0])};", line) for line in lines)
    return f'"{"<br/>".join(escaped)}"'


class _Flowchart:
    """A flowchart being drawn.

    Edges are written after all subgraphs: a node belongs to the subgraph that names it first.
    """

    def __init__(self) -> None:
        self._streams: dict[str, str] = {}
        self._edges: list[str] = []
        self._dead = set[str]()
        self._finds: dict[str, list[str]] = {}
        self._plans = EventPlans(())
        # Operators by form: the words of their members; the members on the edges between.
        self._operators: dict[str, dict[str, str]] = {}
        self._channels: dict[tuple[str, str], dict[str, None]] = {}
        self._at: dict[str, str] = {}

    def drawn(self, dissections: Iterable[Dissection]) -> Iterator[str]:
        yield "flowchart LR"
        given = [*dissections]
        self._plans = EventPlans(given)
        for number, dissection in enumerate(given, 1):
            yield from _indented(self._query(dissection, f"q{number}"))
        for at, words in self._operators.items():
            first, *others = words.values()
            more = [f"and {len(others)} more"] if others else []
            yield f"  {at}[{label(first, *more)}]"
        for (one, other), members in self._channels.items():
            if len(members) > 1:
                yield f"  {one} -.->|{label(f'channel of {len(members)}')}| {other}"
            else:
                yield f"  {one} --> {other}"
        yield from _indented(f"{at}[({label(name)})]" for name, at in self._streams.items())
        yield from _indented(self._edges)

    def numbered(self, lines: list[str]) -> Iterator[str]:
        """The lines of a flowchart, dead arcs in grey: their styles name arrows by number."""
        yield from lines
        arrows = [line.strip() for line in lines if _ARROW.search(line)]
        for number, line in enumerate(arrows):
            if line in self._dead:
                yield f"  linkStyle {number} stroke:#999,color:#999"

    def _stream(self, name: str) -> str:
        return self._streams.setdefault(name, f"s{len(self._streams) + 1}")

    def _query(self, dissection: Dissection, at: str) -> Iterator[str]:
        """The subgraph of a query; `_finds` has where its matches come from then."""
        yield f"subgraph {at}[{label(dissection.query.name)}]"
        sources: dict[str, list[str]] = {}
        for number, (stream, inner) in enumerate(dissection.subqueries, 1):
            yield from _indented(self._query(inner, f"{at}u{number}"))
            sources[stream] = self._finds[f"{at}u{number}"]
        for stream in dissection.streams:
            if not is_internal(stream):
                sources[stream] = [self._stream(stream)]
        finds = self._finds[at] = []
        own = explained(dissection)
        if isinstance(dissection.compiled, CompiledComposition):
            operators, ways, streams = composition_graph(dissection)
            for place, name in enumerate(operators):
                yield f"  {at}s{place}(({label(name)}))"
            for one, other, formula in ways:
                yield f"  {at}s{one} -->{f'|{label(formula)}|' if formula else ''} {at}s{other}"
            for place, stream in enumerate(streams):
                self._edges += (f"{source} --> {at}s{place}" for source in sources[stream])
            finds.append(f"{at}s{len(operators) - 1}")
        elif own is not None and own.edges is not None:
            names, edges = own.edges(dissection)
            for place, name in enumerate(names):
                yield f"  {at}s{place}(({label(name)}))"
            yield from _forbidden(own.states(dissection, self._plans)[0], at)
            for one, other, edge, formula, drawn in edges:
                way = "-.->" if drawn == "dashed" else "-->"
                line = f"{at}s{one} {way}|{label(edge, formula)}| {at}s{other}"
                self._dead |= {line} if drawn == "dead" else set()
                yield f"  {line}"
            compiled = dissection.compiled
            start, finals = 0, {len(names) - 1}
            if isinstance(compiled, CompiledAutomaton):
                start, finals = compiled.program.start, {*compiled.final}
            for stream in dict.fromkeys(dissection.streams):
                self._edges += (f"{source} --> {at}s{start}" for source in sources[stream])
            finds += (f"{at}s{state}" for state in sorted(finals))
        elif own is not None:
            yield f"  {at}o(({label('output')}))"
            self._edge(self._events(dissection, sources), f"{at}o", f"{at}o")
            finds.append(f"{at}o")
            for _, inner in dissection.publishing:
                if inner.feeds is not None:
                    root, fed = self._events(inner, sources), self._stream(inner.feeds)
                    self._edges.append(f"{root} ==>|{label('PUBLISH')}| {fed}")
        for number, disjunct in enumerate(dissection.disjuncts, 1):
            here = f"{at}d{number}"
            lines = self._disjunct(disjunct, Words(dissection, disjunct), here, sources)
            if len(dissection.disjuncts) > 1:
                yield f"  subgraph {here}[{label(f'disjunct {number}')}]"
                yield from _indented(_indented(lines))
                yield "  end"
            else:
                yield from _indented(lines)
            last, sides = len(disjunct.operators), disjunct.operators[-1].sides
            finds.append(f"{here}t{last}" if len(sides) == 2 else _side_at(sides[0], here))
        if not dissection.disjuncts and not finds:
            yield f"  {at}never[{label('its predicate never holds')}]"
        yield "end"
        if dissection.feeds is not None:
            fed = self._stream(dissection.feeds)
            self._edges += (f"{found} ==>|{label('PUBLISH')}| {fed}" for found in finds)

    def _events(self, dissection: Dissection, sources: dict[str, list[str]]) -> str:
        """Takes in the operators of an event query; returns the last one."""
        at = ""
        for one, said, stream in event_operators(dissection, self._plans):
            at = f"m{one.form}"
            if stream is None:
                self._operators.setdefault(at, {})[one.id] = said
                for inner in one.inputs:
                    self._edge(self._at[inner.id], at, inner.id)
            else:
                read = sources.get(stream) or [self._stream(public_name(stream))]
                if said:
                    self._operators.setdefault(at, {})[one.id] = said
                    self._edge(read[0], at, stream)
                else:
                    at = read[0]
            self._at[one.id] = at
        return at

    def _edge(self, one: str, other: str, member: str) -> None:
        self._channels.setdefault((one, other), {})[member] = None

    def _disjunct(
        self, disjunct: Disjunct, words: Words, at: str, sources: dict[str, list[str]]
    ) -> Iterator[str]:
        for block, stream in enumerate(disjunct.streams):
            here = f"{at}b{block + 1}"
            yield f"subgraph {here}[{label(f'block {block + 1}, {words.stream(block)}')}]"
            yield from _indented(_pattern(disjunct, words, block, at))
            yield "end"
            self._edges += (f"{source} --> {here}" for source in sources[stream])
        for number, stage in enumerate(disjunct.operators):
            for one in comparisons(stage):
                edge = one.edge
                said = f"{words.node(edge.left)} {edge.sign} {words.node(edge.right)}"
                self._edges.append(f"{at}n{edge.left} -.-|{label(said)}| {at}n{edge.right}")
            if len(stage.sides) == 2:
                here = f"{at}t{number + 1}"
                time = f"{operator(stage)} {within(stage.constraint.window)}"
                template = f"template {stage.plan.template.id}"
                yield f"{here}{{{{{label(f'stage {number + 1}', time, template)}}}}}"
                self._edges += (f"{_side_at(side, at)} --> {here}" for side in stage.sides)


def _pattern(disjunct: Disjunct, words: Words, block: int, at: str) -> Iterator[str]:
    """The nodes of a tree pattern, output nodes rounded, and its structural edges."""
    for node in disjunct.patterns:
        if node.block == block:
            here, text = f"{at}n{node.number}", label(words.step(node))
            yield (
                f"{here}([{text}])"
                if "output" in roles(disjunct, node.number)
                else f"{here}[{text}]"
            )
            if node.parent is not None:
                yield f"{at}n{node.parent} --> {here}"


def _forbidden(states: Iterable[DrawnState], at: str) -> Iterator[str]:
    """What must not come, each before the state that it lies before."""
    before = 0
    for place, (lines, edges, forbidden) in enumerate(states):
        if forbidden:
            yield f"  {at}x{place}[{label(*lines, *edges)}]"
            yield f"  {at}x{place} -.- {at}s{before}"
        else:
            before += 1


def _side_at(side: OperatorSide, at: str) -> str:
    """The id of a side: of a block, or of the operator that finds it."""
    return f"{at}b{side.blocks[0] + 1}" if side.operator is None else f"{at}t{side.operator + 1}"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
