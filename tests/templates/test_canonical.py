"""Templates are join graphs up to isomorphism, judged by trying every permutation."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.templates.graphs import (
    bipartite,
    graph,
    grown,
    isomorphisms,
    join_graphs,
    relabellings,
    trees,
)
from xscl.templates import JoinGraph, canonical, minor, template_of


@given(st.data())
def test_a_template_does_not_depend_on_names_and_order(data: st.DataObject) -> None:
    original = data.draw(join_graphs())
    other = data.draw(relabellings(original))
    assert template_of(other)[0] == template_of(original)[0]


@given(join_graphs(largest=3), join_graphs(largest=3))
@drawn(100)
def test_graphs_have_one_template_exactly_if_they_are_isomorphic(
    one: JoinGraph, other: JoinGraph
) -> None:
    one, other = minor(one), minor(other)
    assume(len(one.nodes) == len(other.nodes))
    same = any(True for _ in isomorphisms(one, other))
    assert (template_of(one)[0].id == template_of(other)[0].id) == same


def test_all_minors_of_three_value_joins_against_each_other() -> None:
    """Where random graphs seldom meet: 16 templates, no two of them isomorphic."""
    minors = [
        grown((left, right), edges)
        for edges in bipartite(3)
        for left in trees(sorted({a for a, _ in edges}))
        for right in trees(sorted({b for _, b in edges}))
        if len({a for a, _ in edges}) + len({b for _, b in edges}) < 6
    ]
    for i, one in enumerate(minors):
        for other in minors[i + 1 :]:
            same = _alike(one) == _alike(other) and any(True for _ in isomorphisms(one, other))
            assert (template_of(one)[0].id == template_of(other)[0].id) == same


def _alike(graph: JoinGraph) -> Counter[tuple[int, int, int]]:
    """What isomorphic graphs have in common: of each node its side, children and comparisons."""
    ends = Counter(end for edge in graph.edges for end in (edge.left, edge.right))
    below = Counter(node.parent for node in graph.nodes)
    return Counter((node.side, below[node.number], ends[node.number]) for node in graph.nodes)


@given(st.data())
def test_the_assignment_is_the_smallest_isomorphism(data: st.DataObject) -> None:
    original = data.draw(relabellings(data.draw(join_graphs(largest=3))))
    template, assignment = template_of(original)
    assert [node.number for node in template.graph.nodes] == list(range(len(original.nodes)))
    # The permutations come in the order of the graph's own nodes: the first is the smallest.
    assert assignment == next(isomorphisms(template.graph, original))


def test_the_assignment_where_all_is_symmetric() -> None:
    """Three equal leaves on either side, joined in a ring: their own order wins."""
    ring = [(a, "=", b) for a, b in [(1, 5), (2, 5), (2, 6), (3, 6), (3, 7), (1, 7)]]
    original = graph([(0, None), *[(0, 0)] * 3, (1, None), *[(1, 4)] * 3], ring)
    template, assignment = template_of(original)
    assert assignment == next(isomorphisms(template.graph, original))
    assert template_of(original) == (template, assignment)


def parts(*edges: tuple[int, str, int], kept: tuple[int, ...] = ()) -> JoinGraph:
    """x1(x2, x3) and y1(y2, y3) as 0(1, 2) and 3(4, 5)."""
    return graph([(0, None), (0, 0), (0, 0), (1, None), (1, 3), (1, 3)], edges, kept)


JOINS = ((1, "=", 4), (2, "=", 5))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(((1, "=", 4),), ((1, "<", 4),), id="an operator is not another"),
        pytest.param(((1, "<", 4),), ((1, "<=", 4),), id="less is not less or equal"),
        pytest.param(((1, "<", 4),), ((1, ">", 4),), id="direction matters between blocks"),
        pytest.param((*JOINS, (1, "<", 2)), (*JOINS, (1, "=", 2)), id="an equality within a block"),
        pytest.param((*JOINS, (1, "!=", 2)), JOINS, id="a residual edge is an edge"),
        pytest.param(
            (*JOINS, (1, "<", 5)), (*JOINS, (1, "<", 4)), id="a residual edge's ends matter"
        ),
        pytest.param((*JOINS, (1, "=", 2)), (*JOINS, (4, "=", 5)), id="sides differ"),
        pytest.param(
            ((1, "=", 4), (1, "<", 2)), ((1, "=", 4), (1, ">", 2)), id="direction within a block"
        ),
        pytest.param(
            ((1, "=", 4), (5, "<=", 4)), ((1, "=", 4), (5, ">=", 4)), id="direction on the right"
        ),
        pytest.param(
            ((1, "=", 4), (0, "<", 1)), ((1, "=", 4), (0, ">", 1)), id="direction up and down"
        ),
    ],
)
def test_different_templates(
    one: tuple[tuple[int, str, int], ...], other: tuple[tuple[int, str, int], ...]
) -> None:
    assert template_of(parts(*one))[0].id != template_of(parts(*other))[0].id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((*JOINS, (1, "<", 2)), (*JOINS, (1, ">", 2)), id="mirrored within a block"),
        pytest.param((*JOINS, (1, "!=", 2)), (*JOINS, (2, "!=", 1)), id="unequal reads both ways"),
        pytest.param(((1, "<", 4),), ((4, ">", 1),), id="less reads as greater from the right"),
        pytest.param(((1, "=", 4), (1, "<", 2)), ((1, "=", 4), (2, ">", 1)), id="less, flipped"),
        pytest.param(((1, "=", 4), (1, ">=", 2)), ((1, "=", 4), (2, "<=", 1)), id="or equal"),
        pytest.param(((1, "=", 4), (5, ">=", 4)), ((1, "=", 4), (4, "<=", 5)), id="on the right"),
        pytest.param(JOINS, ((1, "=", 5), (2, "=", 4)), id="leaves crossed"),
        pytest.param(JOINS, (*JOINS, (4, "=", 1)), id="said twice"),
    ],
)
def test_equal_templates(
    one: tuple[tuple[int, str, int], ...], other: tuple[tuple[int, str, int], ...]
) -> None:
    assert template_of(parts(*one))[0].id == template_of(parts(*other))[0].id


def test_kept_nodes_are_part_of_a_template() -> None:
    ids = {template_of(parts(*JOINS, kept=kept))[0].id for kept in [(), (0,), (1,), (2,), (0, 3)]}
    assert len(ids) == 4  # the leaves 1 and 2 are equivalent


def test_nodes_of_two_patterns_are_distinguished_by_depth() -> None:
    """A node below another, and the same two side by side."""
    below = graph([(0, None), (0, 0), (0, 1), (1, None)], [(1, "=", 3), (2, "=", 3)])
    beside = graph([(0, None), (0, 0), (0, 0), (1, None)], [(1, "=", 3), (2, "=", 3)])
    assert template_of(below)[0].id != template_of(beside)[0].id


def test_an_id_is_the_same_in_every_process() -> None:
    """Whatever was asked before, and however the hash of a string is seeded."""
    program = (
        "from xscl.templates import template_of; from tests.templates.graphs import graph;"
        "template_of(graph([(0, None), (1, None)], [(0, '=', 1)]));"
        "print(template_of(graph([(1, None), (1, 0), (0, None), (1, 0)],"
        " [(1, '=', 2), (2, '<', 3)]))[0].id)"
    )
    reported = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    here = graph([(0, None), (1, None), (1, 1), (1, 1)], [(0, "<", 2), (0, "=", 3)])
    assert reported == {template_of(here)[0].id}


@contextmanager
def twins_standing_for_each_other() -> Iterator[None]:
    """Two are many."""
    canonical._template_of_shape.cache_clear()
    with patch.object(canonical, "_FEW", 1), patch.dict(canonical._known, clear=True):
        yield
    canonical._template_of_shape.cache_clear()


@st.composite
def with_twins(draw: st.DrawFn) -> JoinGraph:
    few = draw(join_graphs(largest=2))
    parents = [(node.side, node.parent) for node in few.nodes]
    kept = {*few.kept}
    for _ in range(draw(st.integers(1, 3))):
        above = draw(st.sampled_from(few.nodes))
        if draw(st.booleans()):
            kept.add(len(parents))
        parents.append((above.side, above.number))
    edges = [(edge.left, edge.operator, edge.right) for edge in few.edges]
    return graph(parents, edges, kept)


@given(st.data())
@drawn(60)
def test_where_one_of_several_twins_stands_for_all(data: st.DataObject) -> None:
    original = data.draw(with_twins())
    one, other = data.draw(relabellings(original)), data.draw(with_twins())
    with twins_standing_for_each_other():
        template, assignment = template_of(one)
        assert template is template_of(original)[0]
        assert assignment == next(isomorphisms(template.graph, one))
        if len(other.nodes) == len(one.nodes):
            same = any(True for _ in isomorphisms(one, other))
            assert (template_of(other)[0].id == template.id) == same


@pytest.mark.parametrize("many", [8, 9, 2_000])
def test_a_block_of_very_many_variables(many: int) -> None:
    """Where each would be set apart, this took hours, or raised."""
    parents = [(0, None), *[(0, 0)] * many, (1, None), *[(1, many + 1)] * many]
    kept = [*range(1, many + 1), *range(many + 2, 2 * many + 2)]
    original = graph(parents, [(1, "=", many + 2)], kept)
    backwards = graph(parents, [(many, "=", 2 * many + 1)], kept)
    template, assignment = template_of(original)
    same, turned = template_of(backwards)
    assert same is template
    assert sorted(turned) == sorted(assignment) == [*range(2 * many + 2)]
    for found, of in ((assignment, original), (turned, backwards)):
        (edge,) = template.graph.edges
        assert {(found[edge.left], found[edge.right])} == {(e.left, e.right) for e in of.edges}
    left = [one for one in assignment if 1 <= one <= many]
    assert [one for one in left if one != 1] == [*range(2, many + 1)]
