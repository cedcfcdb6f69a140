"""Counted bounds, against the list of all."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from xscl.join_stage import TimeConstraint
from xscl.join_stage.bounds import Bounds, Widest


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5))))
def test_the_largest_of_what_is_in(changes: list[tuple[bool, int]]) -> None:
    widest, values = Widest(), list[int]()
    for adds, value in changes:
        if adds:
            widest.add(value)
            values.append(value)
        elif value in values:
            widest.remove(value)
            values.remove(value)
        assert widest.largest == max(values, default=0)
        assert bool(widest) == bool(values)


def test_what_goes_leaves_nothing() -> None:
    """A window that comes and goes under a wider one that stays, any number of times."""
    widest = Widest()
    widest.add(1_000)
    for window in range(500):
        widest.add(window)
        widest.remove(window)
    assert len(pickle.dumps(widest)) < 200
    assert widest.largest == 1_000


def test_bounds_widen_and_narrow() -> None:
    bounds = Bounds()
    constraints = [TimeConstraint(True, 5), TimeConstraint(False, 3), TimeConstraint(True, None)]
    seen = []
    for constraint in constraints:
        bounds.add(constraint)
        seen.append(bounds.widest)
    for constraint in reversed(constraints):
        assert bounds.widest == seen.pop()
        bounds.remove(constraint)
    assert bounds.widest == (0, 0)
