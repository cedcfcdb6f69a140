"""Operators with constants of their own: equal ones are one object."""

from __future__ import annotations

from xscl.pattern_stage.algebra import Localised, Operators
from xscl.pattern_stage.algebra.nodes import Aggregate, Node, Select, Sequence, Source
from xscl.pattern_stage.values.terms import Call, Column, Comparison, Constant


def above(place: int, below: Node) -> Select:
    """`FILTER{a > constant}`."""
    return Select((Comparison(">", Column(0, "a"), Constant(place, True), "number"),), below)


def test_queries_that_are_the_same_up_to_places_are_of_one_operator_each() -> None:
    operators, source = Operators(), Source(0, None)
    both = Comparison("=", Column(0, "b"), Constant(3, False), "text")
    twice = Comparison("=", Column(1, "b"), Constant(3, False), "text")
    one = operators.localise(Sequence((both, twice), True, above(1, source), above(2, source)))
    assert [found.places for found in (one, *one.inputs)] == [(3,), (1,), (2,)]
    assert one.inputs[0].node is one.inputs[1].node
    # It is all the same to an operator which events its inputs select.
    assert one.node.left == source  # type: ignore[union-attr]
    again = operators.localise(above(7, Source(0, None)))
    assert again == Localised(one.inputs[0].node, (7,), one.inputs[0].inputs)
    assert again.node is one.inputs[0].node
    assert operators.localise(above(7, Source(1, None))).node is not again.node


def test_the_length_of_a_window_is_a_constant() -> None:
    operators = Operators()
    windows = [5, 8, None]
    of = [
        operators.localise(Aggregate(one, ("a",), (("n", Call("count", ())),), Source(0, None)))
        for one in windows
    ]
    assert of[0].node is of[1].node
    assert [one.places for one in of] == [(5,), (8,), ()]
    assert of[2].node is not of[0].node
