"""The pattern stage against the evaluator that tries every run (tests/oracle/sequences.py)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from pattern_stage import SWITCHES
from tests.drawn import drawn
from tests.oracle.drawn_sequences import Scene, scenes
from tests.oracle.sequences import evaluate
from tests.pattern_stage.staging import Staging

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def expected(scene: Scene) -> Counter[tuple[object, ...]]:
    """All matches, by definition."""
    return Counter(
        tuple(match) for query in scene.queries for match in evaluate(query, scene.select)
    )


@pytest.mark.drawn
@drawn(60, suppress_health_check=SLOW)
@given(
    scenes(),
    st.sets(st.sampled_from(sorted(SWITCHES))),
    st.integers(1, 5),
    st.sampled_from(["ordered", "late", "endless"]),
    st.randoms(use_true_random=False),
)
def test_agreement(scene: Scene, without: set[str], size: int, order: str, dice: Random) -> None:
    staging = Staging(scene.queries, without)
    stage = staging.stage
    coming = [
        staging.event(type_, event)
        for block, type_ in staging.types.items()
        for event in scene.select(block)
    ]
    dice.shuffle(coming)
    if order == "ordered":
        coming.sort(key=lambda one: one[1][0])
    found = []
    for start in range(0, len(coming), size):
        stage.take(coming[start : start + size])
        if order != "endless":
            rest = [event[0] for _, event in coming[start + size :]]
            stage.advance(min(rest) if rest else None)
        found += stage.found()
    stage.flush()
    found += stage.found()
    assert Counter(map(staging.match, found)) == expected(scene), scene.text
