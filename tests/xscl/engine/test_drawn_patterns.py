"""Drawn patterns over drawn documents: the engine against the evaluator that tries every run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import xscl
from pattern_stage.switches import SWITCHES
from tests.drawn import drawn
from tests.oracle.drawn_sequences import Scene, scenes
from tests.oracle.sequences import evaluate

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
    with xscl.Engine(without=without, lateness=20) as engine:
        engine.load(scene.text)
        found = []
        for start in range(0, len(scene.envelopes), size):
            found += engine.publish_many(scene.envelopes[start : start + size])
        found += engine.flush()
    assert found_in(found) == expected_of(scene), scene.text


@pytest.mark.drawn
@drawn(30, suppress_health_check=SLOW)
@given(scenes())
def test_groups_and_counts(scene: Scene) -> None:
    expected = Counter(match[0] for match in expected_of(scene).elements())
    with xscl.Engine() as engine:
        engine.load(scene.text)
        counts = engine.count(scene.envelopes)
        assert +counts == expected
    with xscl.Engine() as engine:
        engine.load(scene.text)
        grouped: Counter[str] = Counter()
        found = []
        for group in engine.run(scene.envelopes, grouped=True):
            (name,) = group.queries
            grouped[name] += group.count
            found += group.matches()
        assert grouped == expected
        assert found_in(found) == expected_of(scene)
