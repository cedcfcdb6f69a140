"""`document()` and `timestamp()`: from what is computed back to the documents."""

from __future__ import annotations

from pathlib import Path

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


@pytest.mark.parametrize("publishes", ["FILTER{k != 'z'}(J)", 'SELECT {"k": k} FROM FILTER{}(J)'])
@pytest.mark.parametrize("batch", [1, 3])
def test_a_published_result_is_a_document(publishes: str, batch: int) -> None:
    """With the id of its match, and its time."""
    with Engine() as engine:
        engine.subscribe(f"{publishes} PUBLISH P", name="p")
        engine.subscribe("SELECT document() AS d, timestamp() AS t, k FROM P", name="q")
        engine.subscribe(
            "SELECT COUNT(*) AS n, MAX(timestamp()) AS t FROM WINDOW{INF}(P)", name="n"
        )
        found = []
        for start in range(0, 3, batch):
            found += engine.publish_many(DOCUMENTS[start : start + batch])
        found += engine.flush()
    ids = [one.id for one in found if one.query == "p"]
    assert len(ids) == 2
    assert [one.result for one in found if one.query == "q"] == [
        {"d": ids[0], "t": 1.5, "k": "a"},
        {"d": ids[1], "t": 2.5, "k": "b"},
    ]
    assert [one.result for one in found if one.query == "n"] == [
        {"n": 1, "t": 1.5},
        {"n": 2, "t": 2.5},
    ]


OWN = (
    "SELECT t, own FROM (SELECT timestamp() AS t, timestamp AS own, k FROM J) "
    "NEXT{$1.k = $2.k} (SELECT k FROM J)"
)
OTHERS = (
    "SELECT t, d, k FROM (SELECT timestamp() AS t, document() AS d, k FROM J) "
    "NEXT{$1.k = $2.k} (SELECT k FROM J)",
    "SELECT x, y, k FROM (SELECT timestamp AS x, document AS y, k FROM J) "
    "NEXT{$1.k = $2.k} (SELECT k FROM J)",
)


@pytest.mark.parametrize("queries", [(OWN,), OTHERS, OTHERS[::-1], (OWN, *OTHERS)])
@pytest.mark.parametrize("lateness", [0, 5])
@pytest.mark.parametrize("restart", [False, True])
def test_members_of_these_names_are_others_when_the_state_is_rebuilt(
    queries: tuple[str, ...], lateness: float, restart: bool, tmp_path: Path
) -> None:
    state = tmp_path / "s.duckdb"
    first = {"k": "x", "timestamp": 7, "document": "own"}
    found_by = []
    for again in (False, True):
        engine = Engine(state if again and restart else None, lateness=lateness)
        for number, query in enumerate(queries):
            engine.subscribe(query, name=f"q{number}")
        engine.publish("J", first, id="a", timestamp=1)
        if again and restart:
            engine.close()
            engine = Engine(state)
        elif again:
            engine.subscribe("SELECT COUNT(*) AS n FROM WINDOW{4}(J)", name="other", history=True)
        found = engine.publish("J", {"k": "x"}, id="b", timestamp=2) + engine.flush()
        found_by.append([(one.query, one.result) for one in found if one.query != "other"])
        engine.close()
    assert found_by[0] == found_by[1]
    assert len(found_by[0]) == len(queries)


@pytest.mark.parametrize(
    "select",
    [
        "SELECT timestamp() AS at, COUNT(*) AS n",
        "SELECT concat(document(), 'x') AS d, COUNT(*) AS n",
        'SELECT {"t": timestamp(), "n": COUNT(*)}',
    ],
)
def test_what_every_document_has_is_to_be_aggregated_too(select: str, tmp_path: Path) -> None:
    with Engine(tmp_path / "s.duckdb") as engine:
        with pytest.raises(QueryError, match=r"`(timestamp|document)\(\)`"):
            engine.subscribe(f"{select} FROM WINDOW{{60 s}}(Votes)")
        engine.subscribe("SELECT MAX(timestamp()) AS at, COUNT(*) AS n FROM WINDOW{60 s}(Votes)")
