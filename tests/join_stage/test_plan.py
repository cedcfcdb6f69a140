"""From a join graph to the plan of its template: what is joined, what is read on its own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.templates.graphs import graph, join_graphs, relabellings
from xscl.join_stage import Chain, Plan, TimeConstraint, plan_of
from xscl.templates import JoinGraph, minor, template_of


def planned(original: JoinGraph, sides: int = 2) -> tuple[Plan, tuple[int, ...]]:
    """The plan of a graph's minor."""
    return plan_of(minor(original), sides)


BOOKS = [(0, None), (0, 0), (0, 0), (1, None), (1, 3), (1, 3)]
JOINS = [(1, "=", 4), (2, "=", 5)]


def named(chain: Chain, assignment: tuple[int, ...]) -> tuple[int, tuple[int, ...], bool]:
    """A chain in the nodes of the graph that was planned."""
    return chain.side, tuple(assignment[node] for node in chain.nodes), chain.value


def test_the_queries_of_table_6_2() -> None:
    plan, assignment = planned(graph(BOOKS, JOINS, kept=[0, 3]))
    joins = {tuple(named(chain, assignment) for chain in pair) for pair in plan.joins}
    assert joins == {
        ((0, (0, 1), True), (1, (3, 4), True)),
        ((0, (0, 2), True), (1, (3, 5), True)),
    }
    assert plan.singles == ()
    assert {assignment[node] for node in plan.outputs} == {0, 3}
    assert (plan.columns, plan.depth, plan.sides) == (("j0", "j1"), 2, 2)
    assert plan.template == template_of(graph(BOOKS, JOINS))[0]


def test_output_nodes_do_not_change_the_template() -> None:
    """The thesis' template is that of the minor; what a query puts out is its plan's."""
    one, _ = planned(graph(BOOKS, JOINS, kept=[0, 3]))
    other, _ = planned(graph([*BOOKS, (0, 0)], JOINS, kept=[0, 3, 6]))
    assert one.id != other.id
    assert one.template == other.template


def test_what_no_value_join_reaches_is_read_on_its_own() -> None:
    """x1(x2, x3) and y1(y2, y3): x2 = y2, x3 < y3, and y3 is put out."""
    edges = [(1, "=", 4), (2, "<", 5)]
    plan, assignment = planned(graph(BOOKS, edges, kept=[0, 3, 5]))
    assert {named(chain, assignment) for chain in plan.singles} == {
        (0, (0, 2), True),
        (1, (3, 5), True),
    }
    assert plan.columns == ("j0", "s0", "s1")


def test_a_filter_query_has_one_side() -> None:
    plan, assignment = planned(graph([(0, None), (0, 0), (0, 0)], [], kept=[0, 2]), 1)
    assert [named(chain, assignment) for chain in plan.singles] == [(0, (0, 2), False)]
    assert plan.joins == ()
    assert plan.query(plan.outputs).head[:2] == ("r", "dl")


def test_an_equality_within_a_block_compares_numbers_of_strings() -> None:
    plan, _ = planned(graph(BOOKS, [(1, "=", 2), (1, "=", 4)], kept=[0, 3]))
    query = plan.query(plan.outputs)
    assert [comparison.operator for comparison in query.comparisons] == ["="]
    assert [atom.relation for atom in query.body] == ["pair", "bound"]


def test_an_order_asks_for_each_string_once() -> None:
    """x2 and y2 are equal, so one of the three."""
    edges = [(1, "=", 4), (2, "<", 5), (2, "<=", 4), (1, "<", 5)]
    plan, _ = planned(graph(BOOKS, edges, kept=[0, 3]))
    relations = [atom.relation for atom in plan.query(plan.outputs).body]
    assert relations.count("strings") == 3


def test_no_equality_takes_all_pairs_in_time() -> None:
    plan, _ = planned(graph([(0, None), (1, None)], [(0, "<", 1)], kept=[0, 1]))
    assert plan.query(plan.outputs).body[0].relation == "together"


def test_a_valued_node_has_a_chain_with_its_value() -> None:
    """Where it is equal to another the join knows its string; an inner node has its own chain."""
    joined = replace(graph(BOOKS, [(1, "=", 4)], kept=[0, 1, 3, 5]), valued=frozenset([0, 1, 5]))
    plan, assignment = planned(joined)
    assert {assignment[node] for node in plan.valued} == {0, 1, 5}
    assert {named(chain, assignment) for chain in plan.singles} == {
        (0, (0,), True),
        (1, (3, 5), True),
    }
    query = plan.query(plan.outputs, plan.valued)
    assert set(query.head[4 + len(plan.outputs) :]) == {"v0", "w0", "w1"}
    plain, _ = planned(replace(joined, valued=frozenset()))
    assert plain.id != plan.id
    assert plain.template == plan.template
    assert plain.query(plain.outputs) == plain.query(plain.outputs, plain.valued)


def test_only_what_is_kept_is_valued() -> None:
    with pytest.raises(ValueError, match=r"valued, but not kept: \[1\]"):
        replace(graph(BOOKS, JOINS, kept=[0]), valued=frozenset([0, 1]))


@given(st.data())
def test_valued_nodes_distinguish_templates(data: st.DataObject) -> None:
    """Graphs have one plan only if their valued nodes correspond."""
    original = data.draw(join_graphs(largest=3))
    assume(original.needed)
    kept = st.sets(st.sampled_from(sorted(original.needed)), max_size=2)
    one, other = (
        replace(original, kept=original.needed, valued=frozenset(data.draw(kept))) for _ in range(2)
    )
    same = sorted(some.side for some in one.nodes if some.number in one.valued) == sorted(
        some.side for some in other.nodes if some.number in other.valued
    )
    if planned(one)[0] is planned(other)[0]:
        assert same
    if one.valued == other.valued:
        assert planned(one)[0] is planned(other)[0]


def test_plans_of_composites_are_plans_of_their_own() -> None:
    ordinary, assignment = planned(graph(BOOKS, JOINS, kept=[0, 3]))
    ids = [ordinary.id]
    for composite in ((True, False), (False, True), (True, True)):
        plan, same = plan_of(minor(graph(BOOKS, JOINS, kept=[0, 3])), 2, composite)
        assert (plan.template, same) == (ordinary.template, assignment)
        ids.append(plan.id.removeprefix(ordinary.id))
    assert ids == [ordinary.id, "l", "r", "lr"]


@given(st.data())
def test_equal_shapes_have_one_plan(data: st.DataObject) -> None:
    original = data.draw(join_graphs(largest=3))
    assume(original.needed)
    other = data.draw(relabellings(original))
    assert planned(original)[0] is planned(other)[0]


@given(join_graphs(largest=4))
def test_every_node_of_the_minor_is_read_by_some_chain(original: JoinGraph) -> None:
    assume(original.needed)
    plan, assignment = planned(original)
    chains = [chain for pair in plan.joins for chain in pair] + list(plan.singles)
    reduced = minor(original)
    assert {assignment[n] for chain in chains for n in chain.nodes} == {
        node.number for node in reduced.nodes
    }
    for chain in chains:
        _, nodes, value = named(chain, assignment)
        assert nodes == reduced.chain(nodes[-1])
        compared = {n for edge in reduced.edges for n in (edge.left, edge.right)}
        assert value == (nodes[-1] in compared)
    assert plan.minor == minor(JoinGraph(plan.graph.nodes, plan.graph.edges))
    assert plan.depth == max(len(chain.nodes) for chain in chains)


@pytest.mark.parametrize(
    ("after", "window", "inside", "outside"),
    [
        (True, 10, [1, 10], [-10, -1, 0, 11]),
        (False, 10, [-10, 0, 10], [-11, 11]),
        (True, None, [1, 10**17], [0, -1]),
        (False, None, [-(10**17), 0, 10**17], []),
        (False, 0, [0], [1, -1]),
    ],
)
def test_time_constraints(
    after: bool, window: int | None, inside: list[int], outside: list[int]
) -> None:
    low, widest = TimeConstraint(after, window).bounds
    assert all(low < dt and abs(dt) <= widest for dt in inside)
    assert not any(low < dt and abs(dt) <= widest for dt in outside)
