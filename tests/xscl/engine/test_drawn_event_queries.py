"""Drawn event queries over drawn documents: the engine against the brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from tests.oracle.event_algebra.drawn_documents import documents
from tests.oracle.event_algebra.drawn_queries import texts
from tests.oracle.event_algebra.model import evaluate
from tests.oracle.event_algebra.syntax import Declared
from tests.oracle.event_algebra.told import RULES, Told, told_by_engine, told_by_model
from tests.oracle.event_algebra.writing import written

SLOW = list(HealthCheck)
WITHOUT = st.just(frozenset[str]()) | st.frozensets(st.sampled_from(sorted(RULES))) | st.just(RULES)
Envelope = Mapping[str, Any]


def expected_of(text: Declared, envelopes: list[Envelope]) -> Counter[Told]:
    note(written(text))
    return Counter(map(told_by_model, evaluate(text, envelopes)))


def found_in(matches: Iterable[xscl.Match], envelopes: list[Envelope]) -> Counter[Told]:
    ids = {one["id"] for one in envelopes}
    return Counter(told_by_engine(one.to_dict(), ids) for one in matches)


@pytest.mark.drawn
@drawn(60, suppress_health_check=SLOW)
@given(texts(), documents(), WITHOUT, st.integers(1, 6), st.booleans())
def test_agreement(
    text: Declared, envelopes: list[Envelope], without: set[str], size: int, ordered: bool
) -> None:
    expected = expected_of(text, envelopes)
    if ordered:
        envelopes = sorted(envelopes, key=lambda one: one["timestamp"])
    with xscl.Engine(without=without, lateness=0 if ordered else 20) as engine:
        engine.load(written(text))
        found = []
        for start in range(0, len(envelopes), size):
            found += engine.publish_many(envelopes[start : start + size])
        found += engine.flush()
    assert found_in(found, envelopes) == expected


@pytest.mark.drawn
@drawn(30, suppress_health_check=SLOW)
@given(texts(), documents())
def test_groups_and_counts(text: Declared, envelopes: list[Envelope]) -> None:
    expected = expected_of(text, envelopes)
    by_query = Counter(one.query for one in expected.elements())
    with xscl.Engine() as engine:
        engine.load(written(text))
        assert +engine.count(envelopes) == by_query
    with xscl.Engine() as engine:
        engine.load(written(text))
        found = [one for group in engine.run(envelopes, grouped=True) for one in group.matches()]
    assert found_in(found, envelopes) == expected
