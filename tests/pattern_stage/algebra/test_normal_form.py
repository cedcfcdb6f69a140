"""Normal forms find what the plans find that they come from, and are forms of many."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from tests.drawn import drawn
from tests.pattern_stage.algebra.plans import documents, found, plans
from xscl.pattern_stage.algebra import normal_form
from xscl.pattern_stage.algebra.nodes import Iterate, Map, Node, Select, Sequence, Source
from xscl.pattern_stage.values.terms import (
    Age,
    And,
    Arithmetic,
    Call,
    Column,
    Comparison,
    Constant,
    Not,
    Or,
    Predicate,
    Truth,
)


@drawn(300)
@given(plans(), documents())
def test_the_same_events(plan: Node, given_: Any) -> None:
    normal = normal_form(plan)
    assert found(normal, given_) == found(plan, given_)
    assert normal_form(normal) == normal


R, S = Source(0, ("a", "b")), Source(1, ("b", "c"))


def above(name: str, place: int, side: Any = 0) -> Predicate:
    """`name > constant`."""
    return Comparison(">", Column(side, name), Constant(place, number=True), "number")


JOINED = Comparison("=", Column(0, "b"), Column(1, "b"), "text")
SHORT = Comparison("<=", Age(1), Constant(5, number=True), "number")


def test_conjuncts_go_as_far_down_as_they_mean_the_same() -> None:
    written = Select(
        (above("a_1", 0), above("c", 1)),
        Sequence(
            (And((JOINED, above("c", 2, 1), SHORT, above("a", 3))),), True, R, Map(True, (), S)
        ),
    )
    of_s = Comparison("<=", Age(0), Constant(5, number=True), "number")
    assert normal_form(written) == Select(
        (above("c", 1),),
        Sequence(
            (JOINED,),
            True,
            Select((above("a", 3), above("a", 0)), R),
            Select((above("c", 2), of_s), S),
        ),
    )


def test_what_an_open_event_may_show_stays_above() -> None:
    of_open = Select((above("a_1", 0),), Sequence((), True, R, Source(1, None)))
    assert normal_form(of_open) == of_open
    shown = [(0, 0, 0, {"a": 3}), (1, 2, 0, {"a_1": 1})]
    assert not found(of_open, shown)
    assert found(of_open, [shown[0], (1, 2, 0, {"a_1": 4})])


def test_what_asks_how_long_all_of_it_took_stays_above() -> None:
    lasts = Comparison(">", Age(0), Constant(0, number=True), "number")
    both = Sequence((), True, R, S)
    asked = normal_form(Select((Or((lasts, above("a_1", 0))), above("a_1", 1)), both))
    assert isinstance(asked, Select)
    assert len(asked.condition) == 1
    assert asked.input == Sequence((), True, Select((above("a", 1),), R), S)


def test_a_condition_of_fold_goes_down_but_not_what_ends_a_run() -> None:
    latest = Comparison(">", Column(1, "b"), Column(2, "b"), "either")
    parts = (latest, above("b", 0, 1), above("a", 1)), (above("b", 2, 1),)
    fold = Iterate(*parts, (), ("b",), (), ("b",), R, Map(False, (("b", Column(0, "c")),), S))
    below = Map(False, (("b", Column(0, "c")),), Select((above("c", 0),), S))
    found_ = normal_form(Select((above("b_1", 3), above("b", 4)), fold))
    left = Select((above("a", 1), above("b", 3)), R)
    turned = Comparison("<", Column(2, "b"), Column(1, "b"), "either")
    rest = Iterate((turned,), parts[1], (), ("b",), (), ("b",), left, below)
    assert isinstance(found_, Select)
    assert found_.condition == (above("b", 4),)
    assert found_.input in (rest, Iterate((latest,), *rest_of(rest)))


def rest_of(node: Iterate) -> tuple[Any, ...]:
    """All but the condition."""
    return (
        node.continuing,
        node.aggregates,
        node.common,
        node.kept,
        node.right_names,
        node.left,
        node.right,
    )


def test_lists_are_one_and_conditions_are_over_what_they_are_made_of() -> None:
    twice = Arithmetic("*", Column(0, "a"), Constant(0, number=True))
    inner = Map(True, (("d", twice), ("e", Column(0, "b"))), R)
    outer = Map(False, (("x", Arithmetic("/", Column(0, "e"), Column(0, "d"))),), inner)
    ratio = Arithmetic("/", Column(0, "b"), Call("kept", (twice,)))
    over = Comparison(">", Call("kept", (ratio,)), Constant(1, number=True), "number")
    wanted = Map(False, (("x", ratio),), Select((over,), R))
    assert normal_form(Select((above("x", 1),), outer)) == wanted


def test_conditions_fold() -> None:
    one, other = above("a", 0), above("b", 1)
    same: list[tuple[Predicate, ...]] = [
        (one, other),
        (other, one, Truth(True)),
        (And((other, And((one, Or((Truth(True), other)))))),),
        (Not(Or((Not(one), Not(other)))),),
        (Not(Not(one)), Or((other, Truth(False)))),
        (Comparison("<", Constant(0, number=True), Column(0, "a"), "number"), other),
    ]
    assert {normal_form(Select(condition, R)) for condition in same} == {Select((one, other), R)}
    assert normal_form(Select((one, Not(Truth(True))), R)) == Select((Truth(False),), R)
    assert normal_form(Select((Or((one, Not(Truth(False)))),), R)) == R
