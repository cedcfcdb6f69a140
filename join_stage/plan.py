"""The queries of one template, evaluated together: the template's conjunctive query.

Section 6.4.4, in the robust form.  The thesis puts a copy of R_doc and R_docW for each value join
and one of R_bin or R_binW for each structural edge into the body.  Here one atom `pair` represents
a value join with all structure above it on either side: two equal leaves and their marked
ancestors.  One atom `bound` represents a leaf that no value join reaches, with its ancestors: an
output, or a node of a residual comparison.  Atoms that name the same node of the template share its
variable, and are thereby connected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from xscl.join_stage.term import Atom, Comparison, ConjunctiveQuery
from xscl.templates import Edge, JoinGraph, Template, minor, template_of

__all__ = ["ALIKE", "Chain", "Plan", "plan_of"]

ALIKE = "alike_"
"""Before the name of a measure: the relation (a, b, likeness) of the strings that are alike."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A leaf of the template and its ancestors in it, root first.

    `value`: the leaf's string is compared or put out; `distinct`: the leaf is put out or is in
    several chains, so that it matters which of several equal leaves it is.
    """

    side: int
    nodes: tuple[int, ...]
    value: bool
    distinct: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """The evaluation of a template whose kept nodes are the queries' output nodes.

    `joins` are the value joins, as pairs of chains, in the order of R_T's columns j0, j1, …;
    `singles` the chains of its columns s0, s1, …; columns t0, t1, … are thresholds of likeness.
    `minor` is the part of the template that
    compares, on the same nodes, and `template` what the thesis calls the queries' template.
    `outputs` are the kept nodes, in order, and `valued` those of them whose strings are put out
    too; `sides` is 1 for a filter query, else 2.  `composite` says for the left and the right side
    whether it is a composite: a match of a chain's left (or grouped right) part.
    """

    id: str
    graph: JoinGraph
    minor: JoinGraph
    template: Template
    joins: tuple[tuple[Chain, Chain], ...]
    singles: tuple[Chain, ...]
    outputs: tuple[int, ...]
    valued: tuple[int, ...]
    sides: int
    composite: tuple[bool, bool]

    @property
    def columns(self) -> tuple[str, ...]:
        """R_T's columns that say what a row joins."""
        return (
            *(f"j{i}" for i in range(len(self.joins))),
            *(f"s{i}" for i in range(len(self.singles))),
            *(f"t{i}" for i in range(len(self.likenesses))),
        )

    @property
    def likenesses(self) -> tuple[Edge, ...]:
        """The comparisons by likeness, in the order of R_T's columns t0, t1, …, which have the
        thresholds."""
        return tuple(edge for edge in self.graph.edges if edge.measure is not None)

    def leading(self, thresholds: Sequence[int]) -> tuple[Edge, int] | None:
        """The likeness between the sides by which documents are looked up, with its threshold: the
        one with the highest of these; None where there is none."""
        side_of = {node.number: node.side for node in self.graph.nodes}
        between = [
            (edge, threshold)
            for edge, threshold in zip(self.likenesses, thresholds, strict=True)
            if side_of[edge.left] != side_of[edge.right]
        ]
        return max(between, key=lambda one: one[1], default=None)

    @property
    def depth(self) -> int:
        """The length of its longest chain."""
        chains = (*(chain for pair in self.joins for chain in pair), *self.singles)
        return max(len(chain.nodes) for chain in chains)

    @property
    def orders(self) -> bool:
        """Whether it compares strings by order or likeness, which requires their values."""
        return any(edge.operator not in ("=", "!=") for edge in self.graph.edges)

    def string(self, node: int) -> str:
        """The variable of CQ_T for the string of a node that is compared or valued."""
        for index, pair in reversed(list(enumerate(self.joins))):
            if any(chain.nodes[-1] == node for chain in pair):
                return f"v{index}"
        for index, chain in enumerate(self.singles):
            if chain.value and chain.nodes[-1] == node:
                return f"w{index}"
        raise KeyError(node)

    def query(self, nodes: tuple[int, ...], valued: tuple[int, ...] = ()) -> ConjunctiveQuery:
        """CQ_T with these nodes of the template in its head, after (r, dl, dr, dt), then the
        strings of the valued ones; nodes that are equal have one string."""
        head: tuple[str, ...] = ("r", "dl", "dr", "dt") if self.sides == 2 else ("r", "dl")
        body: list[Atom] = []
        for index, (left, right) in enumerate(self.joins):
            body.append(
                Atom(
                    "pair",
                    (
                        ("j", f"j{index}"),
                        *((name, name) for name in ("dl", "dr", "dt")),
                        *_columns("l", left),
                        *_columns("r", right),
                        ("s", f"v{index}"),
                    ),
                )
            )
        if not self.joins and self.sides == 2:
            body.append(Atom("together", tuple((name, name) for name in ("dl", "dr", "dt"))))
        relation = "bound" if self.sides == 2 else "bound_w"
        for index, chain in enumerate(self.singles):
            document = "dr" if chain.side else "dl"
            arguments = [("spine", f"s{index}"), ("doc", document), *_columns("n", chain)]
            if chain.value:
                arguments.append(("s", f"w{index}"))
            body.append(Atom(relation, tuple(arguments)))
        comparisons = self._compare(body)
        rows = Atom(f"rows_{self.id}", (("r", "r"), *((c, c) for c in self.columns)))
        head += tuple(f"n{node}" for node in nodes)
        head += tuple(dict.fromkeys(self.string(node) for node in valued))
        return ConjunctiveQuery(f"out_{self.id}", head, tuple(body), rows, tuple(comparisons))

    def _compare(self, body: list[Atom]) -> list[Comparison]:
        """The comparisons that no pair represents; those by order need the values themselves, those
        by likeness the relation `alike_…` of their measure."""
        value_joins = frozenset(self.graph.value_joins)
        comparisons = []
        looked_up: set[str] = set()
        for edge in self.graph.edges:
            if edge in value_joins:
                continue
            left, right = self.string(edge.left), self.string(edge.right)
            if edge.measure is not None:
                number = self.likenesses.index(edge)
                columns = (("a", left), ("b", right), ("likeness", f"x{number}"))
                body.append(Atom(f"{ALIKE}{edge.measure}", columns))
                comparisons.append(Comparison(">=", (f"x{number}",), (f"t{number}",)))
                continue
            if edge.operator in ("=", "!="):
                comparisons.append(Comparison(edge.operator, (left,), (right,)))
                continue
            for string in (left, right):
                if string not in looked_up:
                    looked_up.add(string)
                    values = (
                        ("id", string),
                        ("value", f"{string}_text"),
                        ("double", f"{string}_double"),
                    )
                    body.append(Atom("strings", values))
            comparisons.append(
                Comparison(
                    edge.operator,
                    (f"{left}_text", f"{left}_double"),
                    (f"{right}_text", f"{right}_double"),
                )
            )
        return comparisons


def _columns(prefix: str, chain: Chain) -> list[tuple[str, str]]:
    return [(f"{prefix}{i}", f"n{node}") for i, node in enumerate(chain.nodes)]


def plan_of(
    graph: JoinGraph,
    sides: int,
    composite: tuple[bool, bool] = (False, False),
    order: Sequence[int] = (),
) -> tuple[Plan, tuple[int, ...]]:
    """The plan for a reduced join graph with its output nodes kept, and the assignment of the
    plan's nodes to the graph's, in their order or in another one (`template_of`)."""
    template, assignment = template_of(graph, order)
    return _plan(template, sides, composite), assignment


@lru_cache(maxsize=100_000)
def _plan(template: Template, sides: int, composite: tuple[bool, bool]) -> Plan:
    graph = template.graph
    side_of = {node.number: node.side for node in graph.nodes}
    children = graph.children()
    compared = frozenset(n for edge in graph.edges for n in (edge.left, edge.right))
    asked = compared | graph.valued

    def chain(node: int) -> Chain:
        comparisons = sum(node in (edge.left, edge.right) for edge in graph.edges)
        distinct = node in graph.kept or comparisons > 1 or bool(children[node])
        return Chain(side_of[node], graph.chain(node), node in asked, distinct)

    joins = tuple((chain(edge.left), chain(edge.right)) for edge in graph.value_joins)
    joined = {c.nodes[-1] for pair in joins for c in pair}
    singles = tuple(
        chain(node.number)
        for node in graph.nodes
        if node.number not in joined and (node.number in asked or not children[node.number])
    )
    compares = minor(JoinGraph(graph.nodes, graph.edges))
    derived = "".join(side for side, is_one in zip("lr", composite, strict=True) if is_one)
    return Plan(
        f"{template.id}_{sides}{derived}",
        graph,
        compares,
        template_of(compares)[0],
        joins,
        singles,
        tuple(sorted(graph.kept)),
        tuple(sorted(graph.valued)),
        sides,
        composite,
    )
