"""Drawn patterns over drawn documents: the engine against the evaluator that tries every run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.oracle.drawn_sequences import Scene, scenes
from tests.oracle.sequences import evaluate
from tests.xscl.engine.three_ways import in_three_ways
from xscl.pattern_stage.switches import SWITCHES

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def expected_of(scene: Scene) -> Counter[tuple[Any, ...]]:
    return Counter(
        (one.query, one.documents, one.variables, one.nodes, one.start, one.time)
        for query in scene.queries
        for one in evaluate(query, scene.select)
    )


def found_in(matches: Any) -> Counter[tuple[Any, ...]]:
    return Counter(
        (one.query, one.documents, one.variables, one.nodes, one.start, one.time) for one in matches
    )


@pytest.mark.drawn
@drawn(60, suppress_health_check=SLOW)
@given(scenes(), st.sets(st.sampled_from(sorted(SWITCHES))), st.integers(1, 4))
def test_agreement(scene: Scene, without: set[str], size: int) -> None:
    def engine() -> xscl.Engine:
        made = xscl.Engine(without=without, lateness=20)
        made.load(scene.text)
        return made

    starts = range(0, len(scene.envelopes), size)
    found = in_three_ways(engine, [scene.envelopes[start : start + size] for start in starts])
    assert found_in(found) == expected_of(scene), scene.text
