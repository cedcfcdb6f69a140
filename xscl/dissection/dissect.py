"""From a query to tree patterns and joins: the dissection of section 6.1.

Each block becomes a tree pattern; the comparisons of the predicates are edges between pattern
nodes.  A query of one or two blocks is one *stage*: a filter, or a join with its join graph.  A
chain is a stage for each operator, the innermost first: what a stage finds are *composites*, which
the stage above joins like documents, by the few nodes it asks for.  Every comparison is made at
the innermost stage that has all of its variables, wherever it was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from join_stage import Chain, Plan, TimeConstraint, plan_of
from templates import Edge, JoinGraph, Node, minor
from xpath_stage import Definition, Spine
from xscl.dissection.open_constants import Open
from xscl.dissection.tree_patterns import PatternNode, TreePatterns, definitions_of
from xscl.language.normal_form import Conjunct, ConstantTest, disjuncts
from xscl.language.syntax import (
    Block,
    Element,
    Insert,
    Item,
    JSONArray,
    JSONObject,
    JSONValue,
    Query,
    Select,
    SubQuery,
    VariablePath,
)
from xscl.language.walk import operands, operators

__all__ = [
    "Dissection",
    "Part",
    "PatternNode",
    "Side",
    "Stage",
    "dissect",
    "is_internal",
    "public_name",
]

_INTERNAL = "\0"


@dataclass(frozen=True, slots=True)
class Side:
    """What a stage joins: a block (`stage` is None), or what an earlier stage of the part found;
    `blocks` are those it covers, in text order."""

    blocks: tuple[int, ...]
    stage: int | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """One operator of a part, or its only block.

    `graph` is the join graph over the pattern nodes of its sides, those kept that are put out;
    `plan` evaluates it, `assignment[i]` being the pattern node of the plan's node i.  `columns`
    are the pattern nodes that it gives to the stage above or, the last one, to the matches; of
    those in `valued` the stage above compares the string values.
    """

    sides: tuple[Side, ...]
    constraint: TimeConstraint
    graph: JoinGraph
    plan: Plan
    assignment: tuple[int, ...]
    columns: tuple[int, ...]
    valued: tuple[int, ...]

    @property
    def blocks(self) -> tuple[int, ...]:
        """The blocks that it covers, in text order."""
        return tuple(block for side in self.sides for block in side.blocks)


@dataclass(frozen=True, slots=True)
class Part:
    """One disjunct of a query, in parts: tree patterns and stages, the last of which finds the
    matches.

    `patterns` are the nodes of all blocks; `outputs` are the blocks' output nodes, `selected` the
    nodes of the variables that the SELECT names.  `definitions` are those of the nodes that
    anything asks for; `opened` the parameters that are left open in these, each with its node,
    which is put out, too.
    """

    streams: tuple[str, ...]
    patterns: tuple[PatternNode, ...]
    stages: tuple[Stage, ...]
    outputs: tuple[int, ...]
    selected: dict[str, int]
    definitions: dict[int, Definition]
    opened: tuple[tuple[int, Open], ...] = ()

    def spine(self, stage: Stage, chain: Chain) -> Spine:
        """What stage 1 must find for a chain of a stage's plan, on the side of a block."""
        nodes = [stage.assignment[node] for node in chain.nodes]
        marks = tuple(len(self.definitions[node]) - 1 for node in nodes)
        leaf = self.patterns[nodes[-1]]
        value = leaf.functions if chain.value else None
        stream = self.streams[leaf.block]
        return Spine(stream, self.definitions[leaf.number], marks, value, chain.apart)


@dataclass(frozen=True, slots=True)
class Dissection:
    """A query in parts, one for each disjunct of its predicates; none if it can never match.

    `streams` are those that its blocks read; `subqueries` the dissections of its sub-queries,
    each with the internal stream that its results feed.
    """

    query: Query
    streams: tuple[str, ...]
    variables: tuple[str, ...]
    parts: tuple[Part, ...]
    subqueries: tuple[tuple[str, Dissection], ...] = ()

    @property
    def feeds(self) -> str | None:
        """The stream that the query publishes."""
        return None if self.query.publish is None else self.query.publish.text

    def everything(self) -> Iterator[Dissection]:
        """This dissection after those of its sub-queries, the innermost first."""
        for _, inner in self.subqueries:
            yield from inner.everything()
        yield self


def is_internal(stream: str) -> bool:
    """Whether a stream is that of a sub-query, which nobody can name."""
    return stream.startswith(_INTERNAL)


def public_name(stream: str) -> str:
    """A stream as people are told it: that of a sub-query goes by the sub-query's name."""
    return stream.removeprefix(_INTERNAL)


def dissect(query: Query) -> Dissection:
    """Takes a well-formed query apart.

    Parameters may be left open in it; raises Unbound for one of which the value must be known.
    """
    leaves = list(operands(query.source))
    streams: list[str] = []
    subqueries: list[tuple[str, Dissection]] = []
    for leaf in leaves:
        if isinstance(leaf, Block):
            streams.append(leaf.stream.text)
            continue
        name = f"{query.name}({len(subqueries) + 1})"
        streams.append(_INTERNAL + name)
        subqueries.append((streams[-1], dissect(leaf.query.renamed(name))))
    bound = TreePatterns()
    for index, leaf in enumerate(leaves):
        bound.block(index, leaf)
    wholes = product(*(disjuncts(join.predicate) for join, _ in operators(query.source)))
    conjunctions = dict.fromkeys(
        tuple(dict.fromkeys(conjunct for some in whole for conjunct in some)) for whole in wholes
    )
    return Dissection(
        query=query,
        streams=tuple(streams),
        variables=tuple(bound.variables),
        parts=tuple(
            _Dissecting(query, leaves, tuple(streams), conjuncts).part()
            for conjuncts in conjunctions
        ),
        subqueries=tuple(subqueries),
    )


class _Dissecting:
    """One disjunct of a query being taken apart."""

    def __init__(
        self,
        query: Query,
        leaves: Sequence[Block | SubQuery],
        streams: tuple[str, ...],
        conjuncts: tuple[Conjunct, ...],
    ) -> None:
        self.query = query
        self.streams = streams
        patterns = TreePatterns()
        self.outputs = tuple(patterns.block(index, leaf) for index, leaf in enumerate(leaves))
        self.selected = {name: patterns.variables[name] for name in selected_variables(query)}
        self.edges: list[Edge] = []
        for conjunct in conjuncts:
            if isinstance(conjunct, ConstantTest):
                patterns.test(conjunct)
            else:
                left, right = patterns.operand(conjunct.left), patterns.operand(conjunct.right)
                if not (conjunct.operator == "=" and left == right):
                    self.edges.append(Edge(conjunct.operator, left, right))
        self.patterns = tuple(patterns.nodes)
        self.put_out = list(dict.fromkeys((*self.outputs, *self.selected.values())))
        compared = (node for edge in self.edges for node in (edge.left, edge.right))
        needed = {*self.put_out, *compared}
        self.definitions, self.opened = definitions_of(self.patterns, needed)
        # What the constants are tested on, once the join is made.
        self.put_out = list(dict.fromkeys((*self.put_out, *(node for node, _ in self.opened))))
        self.stages: list[Stage] = []

    def part(self) -> Part:
        waiting: list[Side] = []
        block = 0
        for join, reached in operators(self.query.source):
            waiting += (Side((number,)) for number in range(block, reached))
            block = reached
            right, left = waiting.pop(), waiting.pop()
            covered = (*left.blocks, *right.blocks)
            edges = [edge for edge in self.edges if self._blocks(edge) <= set(covered)]
            self.edges = [edge for edge in self.edges if edge not in edges]
            constraint = TimeConstraint(join.operator == "FOLLOWED BY", join.window.length)
            self._stage((left, right), constraint, edges)
            waiting.append(Side(covered, len(self.stages) - 1))
        if not self.stages:
            self._stage((Side((0,)),), TimeConstraint(False, None), ())
        return Part(
            streams=self.streams,
            patterns=self.patterns,
            stages=tuple(self.stages),
            outputs=self.outputs,
            selected=self.selected,
            definitions=self.definitions,
            opened=tuple(self.opened),
        )

    def _blocks(self, edge: Edge) -> set[int]:
        return {self.patterns[edge.left].block, self.patterns[edge.right].block}

    def _stage(
        self, sides: tuple[Side, ...], constraint: TimeConstraint, edges: Sequence[Edge]
    ) -> None:
        side_of = {block: index for index, side in enumerate(sides) for block in side.blocks}

        def side(node: int) -> int:
            return side_of[self.patterns[node].block]

        # What is left of the edges are those of the stages above.
        above = {node for edge in self.edges for node in (edge.left, edge.right)}
        above = {node for node in above if self.patterns[node].block in side_of}
        columns = [n for n in self.put_out if self.patterns[n].block in side_of]
        columns += sorted(above.difference(columns))
        here = {node for edge in edges for node in (edge.left, edge.right)}
        nodes: list[Node] = []
        kept: set[int] = set()
        valued: set[int] = set()
        for index, one in enumerate(sides):
            if one.stage is None:
                (block,) = one.blocks
                nodes += (
                    Node(node.number, index, node.parent)
                    for node in self.patterns
                    if node.block == block and node.number in self.definitions
                )
                kept.update(n for n in columns if self.patterns[n].block == block)
                valued.update(n for n in above if self.patterns[n].block == block)
            else:
                # A composite has each of its nodes once: what is not compared is known with it.
                asked = sorted(node for node in here if side(node) == index)
                if not asked:
                    below = self.stages[one.stage]
                    asked = [(below.valued or below.columns)[0]]
                    kept.update(asked)
                nodes += (Node(node, index, None) for node in asked)
        graph = JoinGraph(tuple(nodes), tuple(edges), frozenset(kept), frozenset(valued))
        composite = (sides[0].stage is not None, sides[-1].stage is not None)
        plan, assignment = plan_of(self._in_order(minor(graph)), len(sides), composite=composite)
        self.stages.append(
            Stage(
                sides=sides,
                constraint=constraint,
                graph=graph,
                plan=plan,
                assignment=assignment,
                columns=tuple(columns),
                valued=tuple(sorted(above)),
            )
        )

    def _in_order(self, graph: JoinGraph) -> JoinGraph:
        """The graph with its nodes in an order that does not depend on how the query was written,
        so that queries that say the same have the same row of R_T."""

        def key(node: Node) -> tuple[int, int, int, str, tuple[str, ...]]:
            depth = len(graph.chain(node.number))
            pattern = self.patterns[node.number]
            definition = repr(self.definitions[node.number])
            return node.side, depth, pattern.block, definition, pattern.functions

        return replace(graph, nodes=tuple(sorted(graph.nodes, key=key)))


def selected_variables(query: Query) -> tuple[str, ...]:
    """The variables that a query's SELECT names, in order, each once."""
    return tuple(dict.fromkeys(_selected(query.select)))


def _selected(select: Select | JSONValue | Insert | Item | str | tuple[str, ...]) -> Iterator[str]:
    match select:
        case VariablePath():
            yield select.variable.text
        case Insert() | Item():
            yield select.path.variable.text
        case Element():
            for parts in (*(value for _, value in select.attributes), select.content):
                for part in parts:
                    yield from _selected(part)
        case JSONObject():
            for _, member in select.members:
                yield from _selected(member)
        case JSONArray():
            for member in select.items:
                yield from _selected(member)
        case tuple():
            for item in select:
                yield from _selected(item)
        case _:
            pass
