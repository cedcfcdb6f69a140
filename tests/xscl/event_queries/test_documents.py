"""`document()` and `timestamp()`: from what is computed back to the documents."""

from __future__ import annotations

import pytest

from xscl import Engine, QueryError
from xscl.event_queries.compile import compile_events
from xscl.event_queries.notes import notes
from xscl.language import parse

DOCUMENTS: list[dict[str, object]] = [
    {"stream": "X", "id": "x", "timestamp": 0.5, "xml": "<i><k>a</k><timestamp>7</timestamp></i>"},
    {"stream": "J", "id": "j", "timestamp": 1.5, "json": {"k": "a", "document": "own"}},
    {"stream": "J", "id": "l", "timestamp": 2.5, "json": {"k": "b"}},
]
RESULTS: dict[str, list[object]] = {
    "SELECT document() AS d, timestamp() AS t, timestamp FROM FILTER{}(X/i)": [
        {"d": "x", "t": 0.5, "timestamp": "7"}
    ],
    "SELECT *, document() AS d FROM FILTER{timestamp() < 2}(J)": [
        {"k": "a", "document": "own", "d": "j"}
    ],
    "SELECT k FROM FILTER{document() = 'l'}(J)": [{"k": "b"}],
    "SELECT one, other FROM (SELECT k, document() AS one FROM X/i) NEXT{$1.k = $2.k} "
    "(SELECT k, document() AS other FROM J)": [{"one": "x", "other": "j"}],
    "SELECT COUNT(*) AS n, MAX(timestamp()) AS t FROM WINDOW{INF}(J)": [
        {"n": 1, "t": 1.5},
        {"n": 2, "t": 2.5},
    ],
    'SELECT {"id": document()} FROM FILTER{timestamp() > 2}(J)': [{"id": "l"}],
}


@pytest.mark.parametrize("query", RESULTS)
@pytest.mark.parametrize("batch", [1, 3])
def test_results_lead_back_to_documents(query: str, batch: int) -> None:
    with Engine() as engine:
        engine.subscribe(query)
        found = []
        for start in range(0, 3, batch):
            found += engine.publish_many(DOCUMENTS[start : start + batch])
        assert [one.result for one in [*found, *engine.flush()]] == RESULTS[query]


@pytest.mark.parametrize(
    "query", ["SELECT document() AS d FROM (SELECT k FROM J)", "SELECT timestamp() AS t FROM S"]
)
def test_computed_events_have_none(query: str) -> None:
    with Engine() as engine, pytest.raises(QueryError, match="not of computed events"):
        engine.subscribe(f"DECLARE STREAM S (k); {query}")


def test_the_names_alone_are_noted() -> None:
    (query,), _ = parse("SELECT document, timestamp FROM FILTER{timestamp() > 2}(J)")
    assert notes(compile_events(query, lambda stream: None)) == [
        "`document` is an attribute of that name; the id of a document is `document()`",
        "`timestamp` is an attribute of that name; the time of a document is `timestamp()`",
    ]
    (query,), _ = parse("SELECT document FROM (SELECT document() AS document FROM J)")
    assert notes(compile_events(query, lambda stream: None)) == []
