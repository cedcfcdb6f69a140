"""Table 6.3: how many templates there are for so many value joins."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from tests.templates.graphs import bipartite, graph, grown, trees
from xscl.templates import minor, template_of


@pytest.mark.parametrize(("joins", "count"), [(1, 1), (2, 3), (3, 6), (4, 16)])
def test_two_level_documents(joins: int, count: int) -> None:
    """Over every way to join the leaves of a flat document with those of another."""
    left = [(0, None), *[(0, 0)] * joins]
    right = [(1, None), *[(1, joins + 1)] * joins]
    leaves = range(1, joins + 1), range(joins + 2, 2 * joins + 2)
    found = {
        template_of(minor(graph([*left, *right], [(a, "=", b) for a, b in edges])))[0].id
        for edges in combinations(product(*leaves), joins)
    }
    assert len(found) == count


@pytest.mark.parametrize(("joins", "count"), [(1, 1), (2, 3), (3, 16), (4, 215)])
def test_documents_of_any_depth(joins: int, count: int) -> None:
    """The thesis has 16 for three value joins, and for four that there are less than 230."""
    found = set()
    for edges in bipartite(joins):
        lefts, rights = (trees(sorted({edge[side] for edge in edges})) for side in (0, 1))
        for sides in product(lefts, rights):
            reduced = minor(grown(sides, edges))
            assert reduced == grown(sides, edges)
            found.add(template_of(reduced)[0].id)
    assert len(found) == count


def test_more_structure_makes_no_more_templates() -> None:
    """A chain of nodes between two that branch, or above, leaves the same minor."""
    short = graph([(0, None), (0, 0), (0, 0), (1, None)], [(1, "=", 3), (2, "=", 3)])
    long = graph(
        [(0, None), (0, 0), (0, 1), (0, 2), (0, 1), (0, 4), (0, 5), (1, None), (1, 7), (1, 7)],
        [(3, "=", 8), (6, "=", 8)],
    )
    assert template_of(minor(short))[0].id == template_of(minor(long))[0].id
