"""Canonical orders and symmetries of coloured graphs, judged by BLISS through igraph."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from itertools import combinations, product
from math import prod

import igraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn, seeded
from xscl.templates.labelling import Arc, canonical_order, form_of, symmetries

Graph = tuple[list[str], list[Arc]]

LABELS = {"=": "=", "!=": "!=", "<": ">", "child": "parent"}
"""Of an edge, from either end."""


def graph(colours: Iterable[str], edges: Iterable[tuple[int, str, int]]) -> Graph:
    """A graph of whole edges."""
    arcs = {
        arc
        for one, label, other in edges
        for arc in ((one, label, other), (other, LABELS[label], one))
    }
    return [*colours], sorted(arcs)


def renumbered(original: Graph, numbers: list[int]) -> Graph:
    """The same graph with vertex i as `numbers[i]`, its arcs in another order."""
    colours, arcs = original
    places = {number: i for i, number in enumerate(numbers)}
    other = [colours[places[i]] for i in range(len(colours))]
    return other, [(numbers[one], label, numbers[end]) for one, label, end in reversed(arcs)]


def form(of: Graph) -> object:
    return form_of(*of, canonical_order(*of))


def drawing(of: Graph) -> tuple[igraph.Graph, list[str]]:
    """A graph without labels for igraph: each edge is a path over two vertices, which have the
    colours of its labels."""
    colours, arcs = [*of[0]], of[1]
    drawn_arcs = {arc: len(colours) + i for i, arc in enumerate(arcs)}
    colours += [f"arc {label}" for _, label, _ in arcs]
    edges = [(one, middle) for (one, _, _), middle in drawn_arcs.items()]
    edges += [
        (middle, drawn_arcs[other, LABELS_BACK[label], one])
        for (one, label, other), middle in drawn_arcs.items()
        if one < other
    ]
    return igraph.Graph(len(colours), edges), colours


LABELS_BACK = {**LABELS, **{back: label for label, back in LABELS.items()}}


def isomorphic(one: Graph, other: Graph) -> bool:
    """By BLISS."""
    (first, colours), (second, others) = drawing(one), drawing(other)
    if sorted(colours) != sorted(others):
        return False
    palette = sorted({*colours})
    return bool(
        first.isomorphic_bliss(
            second,
            color1=[palette.index(colour) for colour in colours],
            color2=[palette.index(colour) for colour in others],
        )
    )


def counted(of: Graph) -> int:
    """How many symmetries there are, by BLISS."""
    drawn_graph, colours = drawing(of)
    palette = sorted({*colours})
    return int(drawn_graph.count_automorphisms(color=[palette.index(colour) for colour in colours]))


@st.composite
def graphs(draw: st.DrawFn, largest: int = 9) -> Graph:
    """Small ones, of which many have symmetries."""
    size = draw(st.integers(1, largest))
    vertices = st.integers(0, size - 1)
    edges = draw(
        st.lists(st.tuples(vertices, st.sampled_from([*LABELS]), vertices), max_size=2 * size)
    )
    colours = draw(st.lists(st.sampled_from("aab"), min_size=size, max_size=size))
    # Two kinds of edges between the same vertices are allowed; both directions of one are not.
    taken: set[tuple[int, int]] = set()
    chosen = []
    for one, label, other in edges:
        if one != other and (other, one) not in taken:
            taken.add((one, other))
            chosen.append((one, label, other))
    return graph(colours, chosen)


def regular(draws: random.Random, size: int, degree: int) -> Graph:
    """All vertices of one colour and one degree, so that refinement alone distinguishes none."""
    while True:
        ends = [vertex for vertex in range(size) for _ in range(degree)]
        draws.shuffle(ends)
        pairs = {tuple(sorted(ends[i : i + 2])) for i in range(0, len(ends), 2)}
        if len(pairs) == size * degree // 2 and all(one != other for one, other in pairs):
            return graph("a" * size, [(one, "=", other) for one, other in pairs])


@given(graphs(), graphs(), st.randoms(use_true_random=False))
@drawn(100)
def test_graphs_have_one_form_exactly_if_they_are_isomorphic(
    one: Graph, other: Graph, draws: random.Random
) -> None:
    numbers = [*range(len(one[0]))]
    draws.shuffle(numbers)
    assert form(renumbered(one, numbers)) == form(one)
    assert (form(one) == form(other)) == isomorphic(one, other)


@pytest.mark.drawn
def test_regular_graphs_against_each_other() -> None:
    """Of cubic graphs over ten vertices there are 21: those drawn meet often."""
    draws = seeded("regular graphs")
    made = [regular(draws, 10, 3) for _ in range(25)]
    forms = [form(one) for one in made]
    pairs = [*combinations(range(len(made)), 2)]
    same = [isomorphic(made[i], made[j]) for i, j in pairs]
    assert [forms[i] == forms[j] for i, j in pairs] == same
    assert 0 < sum(same) < len(same)


@given(graphs())
@drawn(100)
def test_symmetries(of: Graph) -> None:
    """Each is one, keeps the vertices before, and their numbers multiply to that of all."""
    colours, arcs = of
    found = symmetries(*of)
    assert prod(1 + len(images) for images in found.values()) == counted(of)
    for vertex, images in found.items():
        for image, symmetry in images.items():
            to = [symmetry.get(one, one) for one in range(len(colours))]
            assert to[vertex] == image
            assert to[:vertex] == [*range(vertex)]
            assert [colours[one] for one in to] == colours
            assert {(to[one], label, to[other]) for one, label, other in arcs} == {*arcs}


def parts(leaves: int, joined: Iterable[tuple[int, int]]) -> Graph:
    """Two flat documents, whose leaves are joined."""
    children = [(side, "child", 2 + side * leaves + i) for side in (0, 1) for i in range(leaves)]
    joins = [(2 + one, "=", 2 + leaves + other) for one, other in joined]
    return graph("01" + "0" * leaves + "1" * leaves, [*children, *joins])


def related(points: list[tuple[int, ...]], label: str = "!=", *, modulo: int) -> Graph:
    """The points of a symplectic space, two of which are related where they are orthogonal."""
    edges = [
        (i, label, j)
        for (i, a), (j, b) in combinations(enumerate(points), 2)
        if (a[0] * b[1] - a[1] * b[0] + a[2] * b[3] - a[3] * b[2]) % modulo == 0
    ]
    return graph("a" * len(points), edges)


POINTS = [
    point
    for point in product(range(3), repeat=4)
    if next((number for number in point if number), 0) == 1
]
SQUARE = [*product(range(6), repeat=2)]

LARGE = {
    "each leaf with each": parts(19, product(range(19), repeat=2)),
    "each leaf with its own": parts(19, [(i, i) for i in range(19)]),
    "leaves in a ring": parts(19, [(i, (i + d) % 19) for i in range(19) for d in (0, 1)]),
    "each leaf with all but one": parts(
        19, [p for p in product(range(19), repeat=2) if len({*p}) > 1]
    ),
    "leaves that nothing joins": parts(19, []),
    "rings of three": graph(
        "a" * 39,
        [(3 * i + a, "=", 3 * i + b) for i in range(13) for a, b in ((0, 1), (1, 2), (0, 2))],
    ),
    "a directed ring": graph("a" * 40, [(i, "<", (i + 1) % 40) for i in range(40)]),
    "a cube of five dimensions": graph(
        "a" * 32, [(i, "=", i ^ (1 << bit)) for i in range(32) for bit in range(5)]
    ),
    "rows and columns": graph(
        "a" * 36,
        [
            (i, "!=", j)
            for (i, a), (j, b) in combinations(enumerate(SQUARE), 2)
            if a[0] == b[0] or a[1] == b[1]
        ],
    ),
    "a latin square": graph(
        "a" * 36,
        [
            (i, "!=", j)
            for (i, a), (j, b) in combinations(enumerate(SQUARE), 2)
            if a[0] == b[0] or a[1] == b[1] or (sum(a) - sum(b)) % 6 == 0
        ],
    ),
    "a symplectic space": related(POINTS, modulo=3),
}


@pytest.mark.parametrize("name", LARGE)
def test_forty_nodes_that_refinement_alone_does_not_distinguish(name: str) -> None:
    of = LARGE[name]
    numbers = [*range(len(of[0]))]
    seeded(name).shuffle(numbers)
    start = time.process_time()
    one, other = form(of), form(renumbered(of, numbers))
    found = symmetries(*of)
    took = time.process_time() - start
    assert one == other
    assert prod(1 + len(images) for images in found.values()) == counted(of)
    assert took < 3  # 50 ms, and centuries where symmetries prune nothing
