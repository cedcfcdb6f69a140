"""Join graphs: the tree patterns of a query's blocks, and the comparisons between their nodes.

Section 6.4.1 of the thesis, figure 6.4.  Nodes are numbered by the caller, parents before their
children; side 0 is the left block, 1 the right one.  An edge of operator `=` between the sides
is a value join; an equality within one side and the other comparisons are kinds of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FLIPPED", "Edge", "JoinGraph", "Node", "flipped"]

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each comparison as it is when read from the right."""

_LIKENESS = "similar("
"""What a comparison by likeness begins with; a measure follows."""


def flipped(operator: str) -> str:
    """An operator as it is when read from the right: a likeness is symmetric."""
    return FLIPPED.get(operator, operator)


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """A node of a tree pattern; `parent` is None for a root of its side.

    A block has one root.  A composite represents the left part of a chain and has no structure:
    each of its nodes is a root.
    """

    number: int
    side: int
    parent: int | None


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """`left operator right`, between nodes; by likeness, `similar(measure)`, with the least that is
    enough in millionths.  Templates do not have that: it is a column of R_T."""

    operator: str
    left: int
    right: int
    threshold: int = 0

    def __post_init__(self) -> None:
        if self.operator not in FLIPPED and self.measure is None:
            raise ValueError(f"no comparison: {self.operator!r}")

    @property
    def measure(self) -> str | None:
        """The measure of a likeness; None for a comparison by value."""
        found = self.operator.startswith(_LIKENESS)
        return self.operator[len(_LIKENESS) : -1] if found else None

    @property
    def sign(self) -> str:
        """The operator, with the least likeness that is enough."""
        if self.measure is None:
            return self.operator
        return f"{self.operator} >= {self.threshold / 1_000_000:.6f}".rstrip("0").rstrip(".")

    @property
    def symmetric(self) -> bool:
        """Whether it is the same when read from the right."""
        return flipped(self.operator) == self.operator

    def flipped(self) -> Edge:
        """The same comparison, read from the right."""
        return Edge(flipped(self.operator), self.right, self.left, self.threshold)


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """Nodes in order, normalised edges, and the nodes that are `kept` in any case.

    The `valued` nodes are kept, too; their string values are put out in addition to the nodes,
    since a later join of a chain compares them.

    Edges between the sides run from side 0 to side 1; within a side those that are
    symmetric run from the smaller number, the others are `<` or `<=`.  Duplicate edges count once.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    kept: frozenset[int] = frozenset()
    valued: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        sides = {node.number: node.side for node in self.nodes}
        known: set[int] = set()
        for node in self.nodes:
            if node.parent is not None and node.parent not in known:
                raise ValueError(f"node {node.number} precedes its parent {node.parent}")
            known.add(node.number)
        for number in {*self.kept, *(n for edge in self.edges for n in (edge.left, edge.right))}:
            if number not in known:
                raise ValueError(f"no node {number}")
        if unkept := self.valued - self.kept:
            raise ValueError(f"valued, but not kept: {sorted(unkept)}")
        normal = {_normalised(edge, sides) for edge in self.edges}
        object.__setattr__(self, "edges", tuple(sorted(normal)))

    @property
    def value_joins(self) -> tuple[Edge, ...]:
        """The equalities between the two sides."""
        sides = {node.number: node.side for node in self.nodes}
        return tuple(
            edge
            for edge in self.edges
            if edge.operator == "=" and sides[edge.left] != sides[edge.right]
        )

    @property
    def needed(self) -> frozenset[int]:
        """The nodes that take part in a comparison, and the kept ones."""
        return self.kept.union(*((edge.left, edge.right) for edge in self.edges))

    def children(self) -> dict[int, list[int]]:
        """The children of each node, in order."""
        children: dict[int, list[int]] = {node.number: [] for node in self.nodes}
        for node in self.nodes:
            if node.parent is not None:
                children[node.parent].append(node.number)
        return children

    def chain(self, number: int) -> tuple[int, ...]:
        """The nodes from the root of the side to this one."""
        parents = {node.number: node.parent for node in self.nodes}
        chain: list[int] = []
        at: int | None = number
        while at is not None:
            chain.append(at)
            at = parents[at]
        return tuple(reversed(chain))


def _normalised(edge: Edge, sides: dict[int, int]) -> Edge:
    left, right = sides[edge.left], sides[edge.right]
    if left != right:
        return edge if left < right else edge.flipped()
    if edge.operator in (">", ">=") or (edge.symmetric and edge.left > edge.right):
        return edge.flipped()
    return edge
