"""Join graphs for the tests: drawn at random, enumerated, and compared by trying everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

from hypothesis import strategies as st

from xscl.templates import Edge, JoinGraph, Node

Tree = int | frozenset[Any]
"""A leaf's label, or an inner node as the set of its subtrees."""


def graph(
    parents: Sequence[tuple[int, int | None]],
    edges: Iterable[tuple[int, str, int]],
    kept: Iterable[int] = (),
) -> JoinGraph:
    """A graph of nodes 0, 1, …, given as (side, parent)."""
    return JoinGraph(
        tuple(Node(number, side, parent) for number, (side, parent) in enumerate(parents)),
        tuple(Edge(operator, left, right) for left, operator, right in edges),
        frozenset(kept),
    )


def relabelled(original: JoinGraph, names: dict[int, int], order: Sequence[int]) -> JoinGraph:
    """The same graph with other numbers, its nodes in this order of the old ones."""
    by_number = {node.number: node for node in original.nodes}
    return JoinGraph(
        tuple(
            Node(
                names[number],
                by_number[number].side,
                None if (parent := by_number[number].parent) is None else names[parent],
            )
            for number in order
        ),
        tuple(Edge(e.operator, names[e.left], names[e.right]) for e in original.edges),
        frozenset(names[number] for number in original.kept),
    )


@st.composite
def join_graphs(draw: st.DrawFn, *, largest: int = 4, plain: bool = False) -> JoinGraph:
    """Two small trees with edges of all kinds between their nodes, or equalities alone."""
    parents: list[tuple[int, int | None]] = []
    for side in (0, 1):
        first = len(parents)
        for number in range(first, first + draw(st.integers(1, largest))):
            above = None if number == first else draw(st.integers(first, number - 1))
            parents.append((side, above))
    nodes = st.integers(0, len(parents) - 1)
    operators = st.just("=") if plain else st.sampled_from(["=", "=", "=", "!=", "<", ">="])
    edges = draw(st.lists(st.tuples(nodes, operators, nodes), min_size=1, max_size=5))
    kept = set() if plain else draw(st.sets(nodes, max_size=2))
    return graph(parents, [edge for edge in edges if edge[0] != edge[2]], kept)


@st.composite
def orders(draw: st.DrawFn, original: JoinGraph) -> list[int]:
    """An order of a graph's nodes in which parents come before their children."""
    waiting = {node.number: node.parent for node in original.nodes}
    order: list[int] = []
    while waiting:
        ready = [n for n, parent in waiting.items() if parent is None or parent in order]
        order.append(draw(st.sampled_from(ready)))
        del waiting[order[-1]]
    return order


@st.composite
def relabellings(draw: st.DrawFn, original: JoinGraph) -> JoinGraph:
    """An isomorphic graph."""
    numbers = [node.number for node in original.nodes]
    pool = st.integers(0, 99)
    names = draw(st.lists(pool, min_size=len(numbers), max_size=len(numbers), unique=True))
    return relabelled(original, dict(zip(numbers, names, strict=True)), draw(orders(original)))


def _facts(some: JoinGraph, place: dict[int, int]) -> set[object]:
    """All that a graph says, of nodes named by `place`; a comparison reads the same both ways."""
    facts: set[object] = set()
    for node in some.nodes:
        facts.add(("side", place[node.number], node.side))
        above = None if node.parent is None else place[node.parent]
        facts.add(("parent", place[node.number], above))
    facts |= {("kept", place[number]) for number in some.kept}
    for edge in some.edges:
        ends = (place[edge.left], place[edge.right])
        operator = edge.operator
        if operator in (">", ">="):
            ends, operator = ends[::-1], operator.replace(">", "<")
        facts.add((operator, frozenset(ends) if operator in ("=", "!=") else ends))
    return facts


def isomorphisms(one: JoinGraph, other: JoinGraph) -> Iterator[tuple[int, ...]]:
    """All of them, as the other graph's nodes in the order of the first one's; by trying every
    permutation, in the order of the other graph's nodes."""
    if len(one.nodes) != len(other.nodes):
        return
    wanted = _facts(one, {node.number: i for i, node in enumerate(one.nodes)})
    for candidate in permutations(node.number for node in other.nodes):
        if _facts(other, {number: i for i, number in enumerate(candidate)}) == wanted:
            yield candidate


def bipartite(edges: int) -> list[frozenset[tuple[int, int]]]:
    """Every set of so many pairs of a left and a right leaf, one for each up to renaming."""
    found: dict[object, frozenset[tuple[int, int]]] = {}
    for chosen in combinations(product(range(edges), repeat=2), edges):
        lefts, rights = (sorted({pair[i] for pair in chosen}) for i in (0, 1))
        if lefts != list(range(len(lefts))) or rights != list(range(len(rights))):
            continue
        form = min(
            tuple(sorted((p[a], q[b]) for a, b in chosen))
            for p in permutations(lefts)
            for q in permutations(rights)
        )
        found.setdefault(form, frozenset(chosen))
    return list(found.values())


def trees(leaves: Sequence[int]) -> list[Tree]:
    """Every rooted tree over labelled leaves whose inner nodes have at least two children."""
    if len(leaves) == 1:
        return [leaves[0]]
    return [
        frozenset(subtrees)
        for parts in _partitions(list(leaves))
        if len(parts) > 1
        for subtrees in product(*(trees(part) for part in parts))
    ]


def _partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, *others = items
    for parts in _partitions(others):
        yield [[first], *parts]
        for index in range(len(parts)):
            yield [*parts[:index], [first, *parts[index]], *parts[index + 1 :]]


def grown(sides: tuple[Tree, Tree], joins: Iterable[tuple[int, int]]) -> JoinGraph:
    """The join graph of two trees whose leaves are joined."""
    parents: list[tuple[int, int | None]] = []
    places: dict[tuple[int, int], int] = {}

    def grow(side: int, tree: Tree, parent: int | None) -> None:
        number = len(parents)
        parents.append((side, parent))
        if isinstance(tree, int):
            places[side, tree] = number
        else:
            for subtree in tree:
                grow(side, subtree, number)

    for side, tree in enumerate(sides):
        grow(side, tree, None)
    return graph(parents, [(places[0, a], "=", places[1, b]) for a, b in joins])
