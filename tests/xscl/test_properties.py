"""The engine on random queries and documents, against trying everything.

Each example is fed in three ways, which must all come to the oracle's matches: one by one, as one
batch, and in another order in batches of random sizes.
"""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import xscl
from tests.oracle.nested_loops import Document, evaluate
from tests.xscl.drawing import (
    DrawnQuery,
    Told,
    envelope,
    oracle_query,
    query_sets,
    streams_of_documents,
    told_by_engine,
    told_by_oracle,
    xscl_text,
)

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


@st.composite
def batches(draw: st.DrawFn, documents: list[Document]) -> list[list[Document]]:
    """The documents in some order, cut into batches."""
    waiting = draw(st.permutations(documents))
    cut: list[list[Document]] = []
    while waiting:
        size = draw(st.integers(1, len(waiting)))
        cut.append(waiting[:size])
        waiting = waiting[size:]
    return cut


def run(
    queries: Iterable[DrawnQuery], fed: Iterable[list[Document]], **options: float
) -> dict[Told, int]:
    text = ";\n".join(map(xscl_text, queries))
    note(text)
    with xscl.Engine(**options) as engine:  # type: ignore[arg-type]
        engine.load(text)
        found = [match for batch in fed for match in engine.publish_many(map(envelope, batch))]
        assert engine.skipped.total == 0
        assert len({match.id for match in found}) == len(found)
        assert all(match.result for match in found[:3])
        return told_by_engine(found)


@given(st.data(), query_sets(), streams_of_documents())
@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
def test_matches_are_those_of_nested_loops(
    data: st.DataObject, queries: list[DrawnQuery], documents: list[Document]
) -> None:
    expected = told_by_oracle(evaluate(map(oracle_query, queries), documents))
    matched = {told[0] for told in expected}
    event("matches" if matched else "none")
    assert run(queries, [[document] for document in documents]) == expected
    assert run(queries, [documents]) == expected
    assert run(queries, data.draw(batches(documents))) == expected


@given(st.data(), query_sets(finite=True), streams_of_documents(size=9))
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
def test_forgetting_loses_no_match(
    data: st.DataObject, queries: list[DrawnQuery], documents: list[Document]
) -> None:
    """Documents as late as they may be, and windows that end: what goes is out of reach."""
    lateness = data.draw(st.integers(0, 3))
    latest = float("-inf")
    documents = sorted(documents, key=lambda d: d.timestamp + data.draw(st.integers(0, lateness)))
    for document in documents:
        assert document.timestamp >= latest - lateness
        latest = max(latest, document.timestamp)
    expected = told_by_oracle(evaluate(map(oracle_query, queries), documents))
    event("matches" if expected else "none")
    assert run(queries, [[d] for d in documents], lateness=lateness) == expected
    assert run(queries, [documents], lateness=lateness) == expected
