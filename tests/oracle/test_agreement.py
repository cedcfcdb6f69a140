"""The oracles against each other: the same matches by nested loops and by XQuery.

XQuery numbers neither the matches nor the documents that they become, so these are `*` here.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, event, given, note, reject

from tests.drawn import drawn
from tests.oracle.as_nested_loops import query_in_loops
from tests.oracle.as_xscl import xscl_file
from tests.oracle.drawn_documents import documents
from tests.oracle.drawn_queries import query_sets
from tests.oracle.patterns import Document as Published
from tests.oracle.saxon import matches_by_xquery
from tests.oracle.stages import ExcessiveResults
from tests.oracle.standing import evaluate
from tests.oracle.terms import Document, Query


def by_nested_loops(queries: dict[str, Query], published: list[Document]) -> Counter[str]:
    rows = evaluate(
        [query_in_loops(name, query, {}) for name, query in queries.items()],
        [Published(d.stream, d.id, d.timestamp, str(d.content)) for d in published],
    )
    return Counter(
        line(
            row.query,
            [name if isinstance(name, str) else "*" for name in row.documents],
            [number for number, _ in row.nodes],
            {name: number for name, (number, _) in row.bindings},
        )
        for row in rows
    )


def by_xquery(queries: dict[str, Query], published: list[Document]) -> Counter[str]:
    return Counter(
        line(match["query"], match["documents"], match["nodes"], match["bindings"])
        for match in matches_by_xquery(queries, {}, published)
    )


def line(query: str, ids: list[str], nodes: list[int], bindings: dict[str, int]) -> str:
    return f"{query} {ids} {nodes} {sorted(bindings.items())}"


@given(query_sets("plain"), documents("plain"))
@drawn(25, suppress_health_check=list(HealthCheck))
def test_nested_loops_agree_with_xquery(drawn: list[Query], published: list[Document]) -> None:
    named = {f"q{number}": query for number, query in enumerate(drawn, start=1)}
    note(xscl_file(named, {}))
    try:
        found = by_nested_loops(named, published)
    except ExcessiveResults:
        reject()
    event("matches" if found else "no matches")
    assert found == by_xquery(named, published)
