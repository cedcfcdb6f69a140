"""The three reduction rules of section 6.4.2, each by itself and together."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.drawn import drawn
from tests.templates.graphs import graph, join_graphs
from xscl.templates import Edge, JoinGraph, Node, minor
from xscl.templates.reduction import (
    contract_only_children,
    remove_above_common_ancestors,
    remove_unjoined_leaves,
)

# Figure 6.4: x1 over x2 and x3, x4 over x5 and x6, x2 = x5 and x3 = x6.
FIGURE_6_4 = graph(
    [(0, None), (0, 0), (0, 0), (1, None), (1, 3), (1, 3)], [(1, "=", 4), (2, "=", 5)]
)


def shape(reduced: JoinGraph) -> dict[int, int | None]:
    """The nodes left, with their parents."""
    return {node.number: node.parent for node in reduced.nodes}


def test_unjoined_leaves_go_recursively() -> None:
    # 0(1(2(3)), 4) = 5(6)
    original = graph([(0, None), (0, 0), (0, 1), (0, 2), (0, 0), (1, None), (1, 5)], [(4, "=", 5)])
    assert shape(remove_unjoined_leaves(original)) == {0: None, 4: 0, 5: None}


def test_an_inner_node_that_joins_keeps_no_leaf_below_it() -> None:
    original = graph([(0, None), (0, 0), (0, 1), (1, None)], [(1, "=", 3)])
    assert shape(remove_unjoined_leaves(original)) == {0: None, 1: 0, 3: None}


def test_a_side_that_joins_nothing_goes_whole() -> None:
    original = graph([(0, None), (0, 0), (1, None), (1, 2)], [], kept=[3])
    assert shape(remove_unjoined_leaves(original)) == {2: None, 3: 2}


def test_nodes_above_the_common_ancestor_go() -> None:
    # 0(1(2, 3)) and 4(5)
    original = graph(
        [(0, None), (0, 0), (0, 1), (0, 1), (1, None), (1, 4)], [(2, "=", 5), (3, "=", 5)]
    )
    assert shape(remove_above_common_ancestors(original)) == {1: None, 2: 1, 3: 1, 5: None}


def test_a_node_above_that_joins_stays() -> None:
    # 0(1(2)), where 1 and 2 join.
    original = graph([(0, None), (0, 0), (0, 1), (1, None)], [(1, "=", 3), (2, "=", 3)])
    assert shape(remove_above_common_ancestors(original)) == {1: None, 2: 1, 3: None}


def test_only_children_are_contracted() -> None:
    # 0(1(2(3)), 4(5)), where 3 and 5 join.
    original = graph(
        [(0, None), (0, 0), (0, 1), (0, 2), (0, 0), (0, 4), (1, None)],
        [(3, "=", 6), (5, "=", 6)],
    )
    assert shape(contract_only_children(original)) == {0: None, 3: 0, 5: 0, 6: None}


def test_an_inner_node_that_joins_is_no_only_child_to_contract() -> None:
    # 0(1(2), 3), where 1, 2 and 3 join: 1 has one child, and stays.
    original = graph(
        [(0, None), (0, 0), (0, 1), (0, 0), (1, None)],
        [(1, "=", 4), (2, "=", 4), (3, "=", 4)],
    )
    assert shape(contract_only_children(original)) == shape(original)


def test_kept_nodes_stay_though_nothing_compares_them() -> None:
    original = graph([(0, None), (0, 0), (0, 1), (1, None)], [(2, "=", 3)], kept=[0, 1])
    assert minor(original) == original
    assert shape(minor(JoinGraph(original.nodes, original.edges))) == {2: None, 3: None}


def test_the_minor_of_figure_6_4_is_the_graph_itself() -> None:
    assert minor(FIGURE_6_4) == FIGURE_6_4


def test_the_minor_of_figure_6_4_with_more_around_it() -> None:
    """book/info(author, names(title)), isbn — with roots above and leaves that join nothing."""
    original = graph(
        [
            (0, None),  # library
            (0, 0),  # book
            (0, 1),  # author, joins
            (0, 1),  # names
            (0, 3),  # title, joins
            (0, 1),  # isbn
            (1, None),  # blog
            (1, 6),  # author, joins
            (1, 6),  # title, joins
            (1, 8),  # em
        ],
        [(2, "=", 7), (4, "=", 8)],
    )
    assert shape(minor(original)) == {1: None, 2: 1, 4: 1, 6: None, 7: 6, 8: 6}


def test_every_comparison_keeps_its_nodes() -> None:
    original = graph(
        [(0, None), (0, 0), (0, 0), (0, 0), (1, None), (1, 4)],
        [(1, "=", 2), (3, "<", 5), (2, "!=", 5)],
    )
    assert shape(minor(original)) == {0: None, 1: 0, 2: 0, 3: 0, 5: None}


@given(join_graphs(largest=6))
def test_the_minor_says_what_the_definition_says(original: JoinGraph) -> None:
    """Left are the nodes that take part and the least common ancestors of any two of them, each
    below the next that is left; edges and kept nodes are untouched."""
    chains = {node.number: original.chain(node.number) for node in original.nodes}
    sides = {node.number: node.side for node in original.nodes}
    ends = {n for edge in original.edges for n in (edge.left, edge.right)} | original.kept
    left = set(ends)
    for a in ends:
        for b in ends:
            if sides[a] == sides[b]:
                left.add([x for x, y in zip(chains[a], chains[b], strict=False) if x == y][-1])
    expected = {
        number: next((x for x in reversed(chains[number][:-1]) if x in left), None)
        for number in left
    }
    reduced = minor(original)
    assert shape(reduced) == expected
    assert (reduced.edges, reduced.kept) == (original.edges, original.kept)


@given(join_graphs(largest=6))
@drawn(50)
def test_reducing_again_changes_nothing(original: JoinGraph) -> None:
    assert minor(minor(original)) == minor(original)


def test_graphs_normalise_their_edges() -> None:
    nodes = [(0, None), (0, 0), (0, 0), (1, None)]
    one = graph(nodes, [(3, "<", 1), (2, "=", 1), (1, ">", 2), (3, "=", 1), (1, "=", 3)])
    assert one.edges == (Edge("<", 2, 1), Edge("=", 1, 2), Edge("=", 1, 3), Edge(">", 1, 3))
    assert one.value_joins == (Edge("=", 1, 3),)


def test_graphs_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="precedes its parent"):
        JoinGraph((Node(1, 0, 0), Node(0, 0, None)), ())
    with pytest.raises(ValueError, match="no node 7"):
        JoinGraph((Node(0, 0, None),), (Edge("=", 0, 7),))
    with pytest.raises(ValueError, match="no node 7"):
        JoinGraph((Node(0, 0, None),), (), frozenset([7]))
    with pytest.raises(ValueError, match="no comparison"):
        Edge("~", 0, 1)
