"""The engine on random queries and documents, against trying everything.

Each example is fed in three ways, which must all come to the oracle's matches: one by one, as one
batch, and in another order in batches of random sizes.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.oracle.drawn_documents import documents
from tests.oracle.drawn_queries import query_sets
from tests.oracle.terms import Document, Query
from tests.xscl.engine.drawing import TIMES, batches, expected, run

limits = settings(deadline=None, suppress_health_check=list(HealthCheck))


@drawn(9, limits)
@given(st.data(), query_sets("plain"), documents("plain", times=TIMES))
def test_matches_are_those_of_nested_loops(
    data: st.DataObject, queries: list[Query], published: list[Document]
) -> None:
    rows = expected(queries, published)
    assert run(queries, [[document] for document in published]) == rows
    assert run(queries, [published]) == rows
    assert run(queries, data.draw(batches(published))) == rows


@drawn(8, limits)
@given(st.data(), query_sets("plain", finite=True), documents("plain", times=TIMES, most=9))
def test_evicting_loses_no_match(
    data: st.DataObject, queries: list[Query], published: list[Document]
) -> None:
    """Documents as late as they may be, and windows that end: what goes is out of reach."""
    lateness = data.draw(st.integers(0, 3))
    latest = float("-inf")
    late = sorted(published, key=lambda d: d.timestamp + data.draw(st.integers(0, lateness)))
    for document in late:
        assert document.timestamp >= latest - lateness
        latest = max(latest, document.timestamp)
    rows = expected(queries, late)
    assert run(queries, [[d] for d in late], lateness=lateness) == rows
    assert run(queries, [late], lateness=lateness) == rows
