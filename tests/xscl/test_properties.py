"""The engine on random queries and documents, against trying everything.

Each example is fed in three ways, which must all come to the oracle's matches: one by one, as one
batch, and in another order in batches of random sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import HealthCheck, event, given, note, reject, settings
from hypothesis import strategies as st

import xscl
from tests.oracle.as_xscl import xscl_file
from tests.oracle.drawn_documents import documents
from tests.oracle.drawn_queries import query_sets
from tests.oracle.stages import ExcessiveResults
from tests.oracle.standing import evaluate
from tests.oracle.terms import Document, Query
from tests.xscl.drawing import Teller, Told, in_loops, told_by_oracle

TIMES = range(7)


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


def named(queries: list[Query]) -> dict[str, Query]:
    return {f"q{number}": query for number, query in enumerate(queries, start=1)}


def expected(queries: list[Query], published: list[Document]) -> Counter[Told]:
    try:
        found = told_by_oracle(evaluate(*in_loops(named(queries), published)))
    except ExcessiveResults:
        reject()
    event("matches" if found else "no matches")
    return found


def run(queries: list[Query], fed: Iterable[list[Document]], **options: float) -> Counter[Told]:
    text = xscl_file(named(queries), {})
    note(text)
    batches = list(fed)
    with xscl.Engine(**options) as engine:  # type: ignore[arg-type]
        engine.load(text)
        found = [
            match
            for batch in batches
            for match in engine.publish_many(document.envelope() for document in batch)
        ]
        assert engine.skipped.total == 0
        assert len({match.id for match in found}) == len(found)
        assert all(match.result for match in found[:3])
        return Teller({document.id for batch in batches for document in batch}).told(found)


limits = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(limits, max_examples=100)
@given(st.data(), query_sets("plain"), documents("plain", times=TIMES))
def test_matches_are_those_of_nested_loops(
    data: st.DataObject, queries: list[Query], published: list[Document]
) -> None:
    rows = expected(queries, published)
    assert run(queries, [[document] for document in published]) == rows
    assert run(queries, [published]) == rows
    assert run(queries, data.draw(batches(published))) == rows


@settings(limits, max_examples=50)
@given(st.data(), query_sets("plain", finite=True), documents("plain", times=TIMES, most=9))
def test_forgetting_loses_no_match(
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
