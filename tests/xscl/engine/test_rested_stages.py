"""A level has a stage of patterns and one of event queries; the one that has no queries only lets
time pass, so that a query which comes late finds what it finds where others were there before."""

from __future__ import annotations

import pytest

from xscl import Engine

_PATTERN = "PATTERN SEQ(S a, S b) WHERE a.n < b.n WITHIN 100"
_EVENTS = "SELECT n, COUNT(*) AS many FROM WINDOW{100 s}(S) GROUP BY n"
_NOBODY = {
    "pattern": "PATTERN SEQ(T a, T b) WHERE a.n < b.n WITHIN 100",
    "events": "SELECT n, COUNT(*) AS many FROM WINDOW{100 s}(T) GROUP BY n",
}
# Some come late, and some out of order.
_TIMES = (100, 160, 95, 155, 151, 149, 170, 165, 240, 230, 500)


def found(first: str, later: str, *others: str) -> list[tuple[str, ...]]:
    """The matches of a query that comes when time has passed for another, by their documents."""
    with Engine(lateness=10) as engine:
        for text in (first, *others):
            engine.subscribe(text)
        for n, time in enumerate(_TIMES[:3]):
            engine.publish("S", {"n": n}, id=f"before {n}", timestamp=time)
        subscription = engine.subscribe(later)
        matches = [
            match
            for n, time in enumerate(_TIMES)
            for match in engine.publish("S", {"n": n}, id=str(n), timestamp=time)
            if match.query == subscription.name
        ]
        return [(*match.documents, str(match.time), str(match.result)) for match in matches]


@pytest.mark.parametrize(
    ("first", "later", "kind"), [(_EVENTS, _PATTERN, "pattern"), (_PATTERN, _EVENTS, "events")]
)
def test_a_stage_without_queries_knows_the_time(first: str, later: str, kind: str) -> None:
    alone = found(first, later)
    assert alone
    assert alone == found(first, later, _NOBODY[kind])
