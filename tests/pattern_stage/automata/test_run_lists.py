"""Views of runs against plain lists of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.drawn import seeded, times, turn
from xscl.pattern_stage.automata.run_lists import Run, RunList, RunShape, Shift


def _absolute(runs: Sequence[Run], shift: Shift) -> list[Run]:
    return [(start, n + shift[0], text) for start, n, text in runs]


def _add(one: Shift, other: Shift) -> Shift:
    return (one[0] + other[0],)


@pytest.mark.parametrize("number", turn(range(5)))
def test_views_are_as_the_lists_that_they_stand_for(number: int) -> None:
    draw = seeded("run lists", number)
    for _ in range(times(100)):
        shape = RunShape(2, [0], _absolute, _add)
        clock, known = 0, [(shape.empty, list[Run]())]
        for _ in range(draw.randint(1, 60)):
            view, plain = draw.choice(known[-8:])
            at = draw.randint(0, clock + 1)
            match draw.choice(["followed", "followed", "shifted", "after", "until", "before"]):
                case "followed":
                    clock += 1
                    runs: list[Run] = [(clock, float(draw.randint(0, 2)), draw.choice("xy"))]
                    view, plain = view.followed_by(runs), plain + runs
                case "shifted" if plain:
                    by = (float(draw.randint(-2, 2)),)
                    view, plain = view.shifted(by), _absolute(plain, by)
                case "after":
                    view, plain = view.after(at), [run for run in plain if run[0] > at]
                case "until":
                    view, plain = view.until(at), [run for run in plain if run[0] <= at]
                case "before":
                    newer, others = draw.choice(known)
                    view = view.until(at).before(newer.after(at))
                    plain = [run for run in plain if run[0] <= at]
                    plain += [run for run in others if run[0] > at]
            assert view.runs == plain
            assert len(view) == len(plain)
            assert (view is shape.empty) is (not plain)
            if plain:
                assert (view.first, view.last) == (plain[0][0], plain[-1][0])
                assert _sought(view, 1.0) == [run for run in plain if run[1] == 1.0]
            known.append((view, plain))
            equal = [other == view for other, _ in known]
            assert equal == [other == plain for _, other in known]


def _sought(view: RunList | None, number: float) -> list[Run]:
    """The runs with a number, as an arc looks for them."""
    found: list[Run] = []
    while view is not None:
        some = view.having(1, number - view.shift[0])
        found += [run for run in _absolute(some, view.shift) if run[1] == number]
        view = view.rest
    return found
