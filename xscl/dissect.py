"""From a query to tree patterns and a join graph: the dissection of section 6.1.

Each block becomes a tree pattern, a node for each step.  The comparisons of the predicate are
edges between nodes; together they are the join graph.  The first two reduction rules also say
what stage 1 is asked for: branches in which nothing joins and nothing is put out turn into
filters of the nodes they hang on, and the definitions of the nodes that stay carry them (law 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from join_stage import Chain, Plan, TimeConstraint, plan_of
from templates import RULES, Edge, JoinGraph, Node, minor
from xpath_stage import Definition, Spine
from xpath_stage import Step as PatternStep
from xscl.filters import existence, filters_of, is_number
from xscl.language.syntax import (
    Binary,
    Block,
    Condition,
    Element,
    Function,
    Insert,
    Item,
    Join,
    Path,
    Query,
    Step,
)

__all__ = ["Dissection", "PatternNode", "dissect"]


@dataclass(slots=True)
class PatternNode:
    """A step of a block as a node of its tree pattern, and the variables bound to it."""

    number: int
    block: int
    parent: int | None
    step: Step
    conditions: list[Condition] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Dissection:
    """A query in parts.

    `patterns` are the nodes of all blocks; `graph` is the join graph over them, its output nodes
    kept; `plan` evaluates it, `assignment[i]` being the pattern node of the plan's node i.
    `outputs` are the blocks' output nodes, `selected` the nodes of the variables that the SELECT
    names.  `definitions` are those of the nodes that are left, with their streams.
    """

    query: Query
    streams: tuple[str, ...]
    patterns: tuple[PatternNode, ...]
    graph: JoinGraph
    plan: Plan
    assignment: tuple[int, ...]
    outputs: tuple[int, ...]
    selected: dict[str, int]
    definitions: dict[int, Definition]
    constraint: TimeConstraint

    def spine(self, chain: Chain) -> Spine:
        """What stage 1 must find for a chain of the plan."""
        nodes = [self.assignment[node] for node in chain.nodes]
        marks = tuple(len(self.definitions[node]) - 1 for node in nodes)
        stream = self.streams[self.patterns[nodes[0]].block]
        return Spine(stream, self.definitions[nodes[-1]], marks, chain.value)


def dissect(query: Query) -> Dissection:
    """Takes a well-formed query of one or two blocks apart."""
    source = query.source
    if isinstance(source, Join):
        assert isinstance(source.left, Block)
        assert isinstance(source.right, Block)
        blocks: tuple[Block, ...] = (source.left, source.right)
        constraint = TimeConstraint(source.operator == "FOLLOWED BY", source.window.length)
    else:
        blocks = (source,)
        constraint = TimeConstraint(False, None)
    builder = _Patterns()
    outputs = tuple(builder.block(index, block) for index, block in enumerate(blocks))
    selected = {name: builder.variables[name] for name in selected_variables(query)}
    edges = []
    if isinstance(source, Join):
        for comparison in source.predicate:
            left = builder.variables[comparison.left.variable.text]
            right = builder.variables[comparison.right.variable.text]
            edges.append(Edge(comparison.operator, left, right))
    graph = JoinGraph(
        tuple(Node(node.number, node.block, node.parent) for node in builder.nodes),
        tuple(edge for edge in edges if not (edge.operator == "=" and edge.left == edge.right)),
        frozenset((*outputs, *selected.values())),
    )
    definitions = _definitions(builder.nodes, graph)
    plan, assignment = plan_of(_in_order(minor(graph), definitions), len(blocks))
    return Dissection(
        query=query,
        streams=tuple(block.stream.text for block in blocks),
        patterns=tuple(builder.nodes),
        graph=graph,
        plan=plan,
        assignment=assignment,
        outputs=outputs,
        selected=selected,
        definitions=definitions,
        constraint=constraint,
    )


def selected_variables(query: Query) -> tuple[str, ...]:
    """The variables that a query's SELECT names, in order, each once."""

    def inserts(element: Element) -> Iterator[str]:
        for _, parts in element.attributes:
            yield from (part.path.variable.text for part in parts if isinstance(part, Insert))
        for part in element.content:
            if isinstance(part, Insert):
                yield part.path.variable.text
            elif isinstance(part, Element):
                yield from inserts(part)

    match query.select:
        case None:
            return ()
        case Element():
            return tuple(dict.fromkeys(inserts(query.select)))
        case items:
            return tuple(dict.fromkeys(_variable(item) for item in items))


def _variable(item: Item) -> str:
    return item.path.variable.text


class _Patterns:
    """The tree patterns of a query's blocks, as they are read."""

    def __init__(self) -> None:
        self.nodes: list[PatternNode] = []
        self.variables: dict[str, int] = {}

    def block(self, index: int, block: Block) -> int:
        """Adds a block's tree pattern; returns its output node."""
        # A stream alone stands for the root elements of its documents.
        steps = block.steps or (Step("/", "*", None, (), block.at),)
        return self._path(index, None, steps)

    def _path(self, block: int, parent: int | None, steps: tuple[Step, ...]) -> int:
        at = parent
        for step in steps:
            if step.test == "." and at is not None:
                # The node itself: what the step says of it, its node says.
                node = self.nodes[at]
            else:
                node = PatternNode(len(self.nodes), block, at, step)
                self.nodes.append(node)
            if step.variable is not None:
                node.variables.append(step.variable.text)
                self.variables[step.variable.text] = node.number
            for condition in step.filters:
                self._filter(node, condition)
            at = node.number
        assert at is not None
        return at

    def _filter(self, node: PatternNode, condition: Condition) -> None:
        conjuncts = list(_conjuncts(condition))
        binding = [c for c in conjuncts if isinstance(c, Path) and _binds(c)]
        if not binding:
            node.conditions.append(condition)
            return
        rest = [c for c in conjuncts if c not in binding]
        if rest:
            # Together, under one `and`: alone, a number among them would be a position.
            whole: Condition = rest[0]
            for conjunct in rest[1:]:
                whole = Binary("and", whole, conjunct, conjunct.at)
            if is_number(whole):
                whole = Function("boolean", (whole,), whole.at)
            node.conditions.append(whole)
        for path in binding:
            assert isinstance(path, Path)
            self._path(node.block, node.number, path.steps)


def _conjuncts(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, Binary) and condition.operator == "and":
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def _binds(path: Path) -> bool:
    return any(
        step.variable is not None
        or any(
            isinstance(conjunct, Path) and _binds(conjunct)
            for condition in step.filters
            for conjunct in _conjuncts(condition)
        )
        for step in path.steps
    )


def _definitions(nodes: list[PatternNode], graph: JoinGraph) -> dict[int, Definition]:
    """The definitions of the nodes that the first rule leaves; what it removes are filters."""
    left = {node.number for node in RULES[0](graph).nodes}
    branches: dict[int, list[Condition]] = {}
    for node in nodes:
        if node.number not in left and node.parent in left:
            branches.setdefault(node.parent, []).append(_branch(nodes, node))
    definitions: dict[int, Definition] = {}
    for node in nodes:
        if node.number in left:
            above = () if node.parent is None else definitions[node.parent]
            conditions = [*node.conditions, *branches.get(node.number, ())]
            step = PatternStep(
                "child" if node.step.axis == "/" else "descendant",
                node.step.test,
                filters_of(node.step, conditions),
            )
            definitions[node.number] = (*above, step)
    return definitions


def _in_order(graph: JoinGraph, definitions: dict[int, Definition]) -> JoinGraph:
    """The graph with its nodes in an order that does not depend on how the query was written, so
    that queries that say the same have the same row of R_T."""

    def key(node: Node) -> tuple[int, int, str]:
        return node.side, len(graph.chain(node.number)), repr(definitions[node.number])

    return replace(graph, nodes=tuple(sorted(graph.nodes, key=key)))


def _branch(nodes: list[PatternNode], root: PatternNode) -> Condition:
    """The existence of a node with its conditions and its own branches, as a condition."""

    def step(node: PatternNode) -> Step:
        children = [child for child in nodes if child.parent == node.number]
        conditions = (*node.conditions, *(existence((step(child),)) for child in children))
        return Step(node.step.axis, node.step.test, None, conditions, node.step.at)

    return existence((step(root),))
