"""Which node executes which operator."""

from __future__ import annotations

from itertools import product

from tests.drawn import seeded, times
from tests.pattern_stage.compositions.plans import chain, event
from xscl.pattern_stage.compositions.canonical import canonical, canonicals
from xscl.pattern_stage.compositions.cost import Rates
from xscl.pattern_stage.compositions.operators import Operator, operators
from xscl.pattern_stage.compositions.placement import place, round_robin
from xscl.pattern_stage.compositions.plan import Bracket
from xscl.pattern_stage.compositions.tree import tree

RATES = Rates({1: 128, 2: 1, 3: 128, 4: 2})


def plan(*numbers: int, order: Bracket | None = None) -> Operator:
    return tree(chain(*map(event, numbers), order=order), RATES)


def test_each_operator_is_where_the_formula_is_least() -> None:
    """The formula of section 8, computed as it is written."""
    draw = seeded("placement")
    for _ in range(times(60)):
        nodes = {name: draw.choice([0.0, 50.0, draw.uniform(0, 900)]) for name in "abcd"}
        orders = (((0, 1), 2), 3), ((0, 1), (2, 3)), (0, ((1, 2), 3))
        root = plan(*(draw.randint(1, 4) for _ in range(4)), order=draw.choice(orders))
        found = place(root, nodes)
        load, before = dict(nodes), dict[Operator, str]()
        for one in operators(root):
            cost = {
                node: sum(each.flow.mu for each in one.inputs if before.get(each, node) != node)
                + one.cpu
                + load[node]
                for node in nodes
            }
            least = min(cost.values())
            first = next(node for node in nodes if cost[node] <= least * (1 + 1e-12))
            assert found[one] == first
            before[one] = first
            load[first] += one.cpu
        assert [*found] == [*operators(root)]


def test_of_equal_nodes_the_first_and_what_sends_much_stays_near() -> None:
    root = plan(1, 2, 3)
    inner, outer = operators(root)
    assert place(root, {"a": 0.0, "b": 0.0}) == {inner: "a", outer: "b"}
    # 128 events a second from a to b are more than b has left.
    assert place(root, {"a": 0.0, "b": inner.cpu - 127.0}) == {inner: "a", outer: "a"}


def test_what_is_deployed_stays_and_nothing_below_it_is_placed() -> None:
    root = plan(1, 2, 3)
    inner, outer = operators(root)
    nodes = {"a": 0.0, "b": 1e9}
    forms = canonicals(root)
    assert place(root, nodes, {}) == {inner: "a", outer: "a"}
    assert place(root, nodes, {forms[outer]: "b"}) == {outer: "b"}
    assert place(root, nodes, {forms[inner]: "b"}) == {inner: "b", outer: "a"}
    other = tree(chain(event(1, "X"), event(2, "Y")), RATES)
    assert place(other, nodes, {canonical(inner): "b"}) == {other: "b"}


def test_alike_operators_of_one_plan_are_one_if_operators_are_shared() -> None:
    root = plan(1, 2, 1, 2, order=((0, 1), (2, 3)))
    left, right, _ = operators(root)
    nodes = {"a": 0.0, "b": 0.0}
    shared = place(root, nodes, {})
    assert shared[left] == shared[right] == "a"
    assert place(root, nodes)[right] == "b"


def test_arguments_stay_as_they_are() -> None:
    nodes, deployed = {"a": 0.0, "b": 0.0}, dict[str, str]()
    place(plan(1, 2, 3), nodes, deployed)
    assert (nodes, deployed) == ({"a": 0.0, "b": 0.0}, {})


def test_round_robin_takes_nodes_in_turn() -> None:
    several = [plan(1, 2, 3), plan(1, 2)]
    found = [[*one.values()] for one in round_robin(several, "abc")]
    assert found == [["a", "b"], ["c"]]
    for one, nodes in product(several, ("a", "ab")):
        [placed] = round_robin([one], nodes)
        assert [*placed] == [*operators(one)]
