"""`why` of event queries: it agrees with the brute force on what matches, and names what fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, note
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.oracle.event_algebra.drawn_documents import documents
from tests.oracle.event_algebra.drawn_queries import queries
from tests.oracle.event_algebra.model import Model
from tests.oracle.event_algebra.syntax import Declared, Query
from tests.oracle.event_algebra.writing import query_text
from xscl import Engine, XSCLError
from xscl.why import Why


@pytest.mark.drawn
@drawn(30, suppress_health_check=list(HealthCheck))
@given(
    queries("Q", Model(), {}, False),
    documents(6),
    st.lists(st.integers(0, 5), unique=True, min_size=1),
)
def test_it_agrees_with_the_brute_force(
    query: Query, envelopes: list[dict[str, Any]], places: list[int]
) -> None:
    """Of documents at different times, the times of a match identify the first and the last."""
    envelopes = [
        {**one, "timestamp": float(number)}
        for number, one in enumerate(envelopes)
        if number in places
    ]
    for one in envelopes:
        one.pop("start", None)
    assume(envelopes)
    query = replace(query, publish=None)
    text = query_text(query)
    assume("PUBLISH" not in text and " BY " not in text and "WINDOW" not in text)
    assume("SELECT COUNT" not in text and not any(f"{one}(" in text for one in AGGREGATES))
    note(text)
    model = Model()
    model.subscribe(Declared({}, (query,)))
    found = [*model.publish(envelopes), *model.flush()]
    times = [round(one["timestamp"] * 10**6) for one in envelopes]
    expected = any((one.start, one.time) == (times[0], times[-1]) for one in found)
    event(f"{len(envelopes)}: {expected}")
    with Engine() as engine:
        engine.subscribe(text, name="Q")
        try:
            answer = engine.why("Q", *envelopes)
        except XSCLError:
            assert not expected
            return
    assert answer.holds == expected, str(answer)  # type: ignore[union-attr]


AGGREGATES = ("SUM", "COUNT", "ARGMAX", "ARGMIN", "min", "max", "AVG")

QUERIES = """
-- name: up
SELECT Name, Price_1 AS low, Price AS high
FROM FILTER{Price > 5}(FILTER{Price < 3}(Stock) NEXT{$2.Name = $1.Name} Stock);
-- name: run
SELECT Name, c
FROM (SELECT *, 1 AS c FROM Stock)
  FOLD{$2.Name = $.Name, $2.Price > $.Price AND DUR < 9, $.c + 1 AS c} Stock;
-- name: mean
SELECT Name, AVG(Price) AS mean FROM WINDOW{3 s}(FILTER{Price > 1}(Stock)) GROUP BY Name;
-- name: dear
FILTER{Price > 5}(Stock)
"""
QUOTES = {
    "a": ("IBM", 2, 1),
    "b": ("Dell", 2, 2),
    "c": ("IBM", 4, 3),
    "d": ("IBM", 9, 4),
    "e": ("IBM", 8, 9),
    "f": ("IBM", 10, 11),
}


def quote(name: str) -> Mapping[str, Any]:
    what, price, time = QUOTES[name]
    return {
        "stream": "Stock",
        "id": name,
        "timestamp": time,
        "json": {"Name": what, "Price": price},
    }


def why(query: str, named: str) -> Why:
    with Engine() as engine:
        engine.load(QUERIES)
        answer = engine.why(query, *map(quote, named))
    assert isinstance(answer, Why)
    return answer


@pytest.mark.parametrize(
    ("query", "documents", "cause", "note"),
    [
        ("up", "ad", None, None),
        ("up", "abd", None, None),
        ("up", "ab", "$2.Name = $1.Name", None),
        ("up", "abcd", "NEXT skips c", "nothing refuses it, so it is taken before d"),
        ("up", "ac", "Price > 5", None),
        ("up", "cd", "Price < 3", None),
        ("run", "abcd", None, None),
        ("run", "acde", "$2.Price > $.Price", "FOLD ends at e"),
        ("run", "acdf", "DUR < 9 s", "FOLD ends at f"),
        ("mean", "bc", "GROUP BY Name", None),
        ("mean", "cde", "within WINDOW{3 seconds}", None),
        ("mean", "cd", None, None),
    ],
)
def test_the_first_that_fails_is_named(
    query: str, documents: str, cause: str | None, note: str | None
) -> None:
    answer = why(query, documents)
    assert answer.holds == (cause is None), answer
    found = answer.cause
    assert (None, None) if found is None else (found.text, found.note) == (cause, note), answer


def test_what_is_skipped_is_said_with_the_values() -> None:
    (skipped,) = [one for one in why("up", "abd").findings if one.text == "NEXT skips b"]
    assert skipped.left is not None
    assert (skipped.left.shown, skipped.note) == (("Dell",), "$2.Name = $1.Name refuses it")


@pytest.mark.parametrize(
    ("query", "documents", "wrong"),
    [("up", "a", "too few"), ("dear", "cd", "too many"), ("dear", "cde", "too many")],
)
def test_a_match_has_no_such_number_of_documents(query: str, documents: str, wrong: str) -> None:
    with pytest.raises(XSCLError, match=f"{wrong} documents"):
        why(query, documents)


def test_of_results_the_query_is_named_that_publishes_them() -> None:
    engine = Engine()
    engine.subscribe("SELECT x FROM FILTER{x > 1}(S) PUBLISH P", name="below")
    engine.subscribe("FILTER{x > 2}(P) NEXT P", name="above")
    with pytest.raises(XSCLError, match="'above' reads P, the results of query 'below'"):
        engine.why("above", {"stream": "S", "json": {"x": 3}})
    assert not engine.why("above", {"stream": "P", "json": {"x": 3}}, {"json": {}}).holds
