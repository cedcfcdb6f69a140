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
from xscl.filters import compared_with, existence, filters_of, is_number, tag_test
from xscl.language.syntax import (
    Binary,
    Block,
    Condition,
    Element,
    Function,
    Insert,
    Item,
    Join,
    JSONArray,
    JSONObject,
    JSONValue,
    Path,
    Query,
    Select,
    Step,
    VariablePath,
)
from xscl.normal_form import Conjunct, ConstantTest, Operand, disjuncts

__all__ = ["Dissection", "Part", "PatternNode", "dissect"]


@dataclass(slots=True)
class PatternNode:
    """A step of a block as a node of its tree pattern, and the variables bound to it.

    With `functions` the node's string value is compared under them; the step may then be `.`, a
    node of its own for what is the same node of the document.
    """

    number: int
    block: int
    parent: int | None
    step: Step
    conditions: list[Condition] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    functions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One disjunct of a query, in parts: tree patterns, join graph, plan.

    `patterns` are the nodes of all blocks; `graph` is the join graph over them, its output nodes
    kept; `plan` evaluates it, `assignment[i]` being the pattern node of the plan's node i.
    `outputs` are the blocks' output nodes, `selected` the nodes of the variables that the SELECT
    names.  `definitions` are those of the nodes that are left.
    """

    streams: tuple[str, ...]
    patterns: tuple[PatternNode, ...]
    graph: JoinGraph
    plan: Plan
    assignment: tuple[int, ...]
    outputs: tuple[int, ...]
    selected: dict[str, int]
    definitions: dict[int, Definition]

    def spine(self, chain: Chain) -> Spine:
        """What stage 1 must find for a chain of the plan."""
        nodes = [self.assignment[node] for node in chain.nodes]
        marks = tuple(len(self.definitions[node]) - 1 for node in nodes)
        leaf = self.patterns[nodes[-1]]
        value = leaf.functions if chain.value else None
        stream = self.streams[leaf.block]
        return Spine(stream, self.definitions[leaf.number], marks, value, chain.apart)


@dataclass(frozen=True, slots=True)
class Dissection:
    """A query in parts, one for each disjunct of its predicate; none if it can never match."""

    query: Query
    streams: tuple[str, ...]
    constraint: TimeConstraint
    variables: tuple[str, ...]
    parts: tuple[Part, ...]


def dissect(query: Query) -> Dissection:
    """Takes a well-formed query of one or two blocks apart."""
    source = query.source
    if isinstance(source, Join):
        assert isinstance(source.left, Block)
        assert isinstance(source.right, Block)
        blocks: tuple[Block, ...] = (source.left, source.right)
        constraint = TimeConstraint(source.operator == "FOLLOWED BY", source.window.length)
        found = disjuncts(source.predicate)
    else:
        blocks = (source,)
        constraint = TimeConstraint(False, None)
        found = [()]
    bound = _Patterns()
    for index, block in enumerate(blocks):
        bound.block(index, block)
    return Dissection(
        query=query,
        streams=tuple(block.stream.text for block in blocks),
        constraint=constraint,
        variables=tuple(bound.variables),
        parts=tuple(_part(query, blocks, conjuncts) for conjuncts in found),
    )


def _part(query: Query, blocks: tuple[Block, ...], conjuncts: tuple[Conjunct, ...]) -> Part:
    builder = _Patterns()
    outputs = tuple(builder.block(index, block) for index, block in enumerate(blocks))
    selected = {name: builder.variables[name] for name in selected_variables(query)}
    edges = []
    for conjunct in conjuncts:
        if isinstance(conjunct, ConstantTest):
            builder.test(conjunct)
        else:
            left, right = builder.operand(conjunct.left), builder.operand(conjunct.right)
            if not (conjunct.operator == "=" and left == right):
                edges.append(Edge(conjunct.operator, left, right))
    graph = JoinGraph(
        tuple(Node(node.number, node.block, node.parent) for node in builder.nodes),
        tuple(edges),
        frozenset((*outputs, *selected.values())),
    )
    definitions = _definitions(builder.nodes, graph)
    plan, assignment = plan_of(_in_order(minor(graph), definitions, builder.nodes), len(blocks))
    return Part(
        streams=tuple(block.stream.text for block in blocks),
        patterns=tuple(builder.nodes),
        graph=graph,
        plan=plan,
        assignment=assignment,
        outputs=outputs,
        selected=selected,
        definitions=definitions,
    )


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

    def operand(self, operand: Operand) -> int:
        """The node of a side of a comparison: a variable's, or one of its own for this occurrence
        of a path or of functions."""
        at = self.variables[operand.variable]
        block = self.nodes[at].block
        if operand.steps:
            at = self._path(block, at, operand.steps)
        elif operand.functions:
            at = self._new(block, at, Step("/", ".", None, (), operand.at)).number
        self.nodes[at].functions = operand.functions
        return at

    def test(self, test: ConstantTest) -> None:
        """Pushes a comparison with a constant into the block, as a filter of the node."""
        operand = test.operand
        at = self.variables[operand.variable]
        if operand.steps:
            at = self._path(self.nodes[at].block, at, operand.steps)
        if test.constant is not None:
            self.nodes[at].conditions.append(
                compared_with(operand.functions, test.operator, test.constant, operand.at)
            )

    def _new(self, block: int, parent: int | None, step: Step) -> PatternNode:
        node = PatternNode(len(self.nodes), block, parent, step)
        self.nodes.append(node)
        return node

    def _path(self, block: int, parent: int | None, steps: tuple[Step, ...]) -> int:
        at = parent
        for step in steps:
            if step.test == "." and at is not None:
                # The node itself: what the step says of it, its node says.
                node = self.nodes[at]
            else:
                node = self._new(block, at, step)
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
    children: dict[int, list[PatternNode]] = {node.number: [] for node in nodes}
    for node in nodes:
        if node.parent is not None:
            children[node.parent].append(node)
    branches: dict[int, list[Condition]] = {}
    for node in nodes:
        if node.number not in left and node.parent in left:
            branches.setdefault(node.parent, []).append(_branch(children, node))
    definitions: dict[int, Definition] = {}
    for node in nodes:
        if node.number in left:
            above = () if node.parent is None else definitions[node.parent]
            if node.step.test == ".":
                definitions[node.number] = above
                continue
            conditions = [*node.conditions, *branches.get(node.number, ())]
            step = PatternStep(
                "child" if node.step.axis == "/" else "descendant",
                tag_test(node.step.test),
                filters_of(node.step, conditions),
            )
            definitions[node.number] = (*above, step)
    return definitions


def _in_order(
    graph: JoinGraph, definitions: dict[int, Definition], nodes: list[PatternNode]
) -> JoinGraph:
    """The graph with its nodes in an order that does not depend on how the query was written, so
    that queries that say the same have the same row of R_T."""

    def key(node: Node) -> tuple[int, int, str, tuple[str, ...]]:
        depth = len(graph.chain(node.number))
        functions = nodes[node.number].functions
        return node.side, depth, repr(definitions[node.number]), functions

    return replace(graph, nodes=tuple(sorted(graph.nodes, key=key)))


def _branch(children: dict[int, list[PatternNode]], root: PatternNode) -> Condition:
    """The existence of a node with its conditions and its own branches, as a condition."""

    def step(node: PatternNode) -> Step:
        branches = (existence((step(child),)) for child in children[node.number])
        conditions = (*node.conditions, *branches)
        return Step(node.step.axis, node.step.test, None, conditions, node.step.at)

    return existence((step(root),))
