"""No query takes the machine: one that asks for more than the engine allows is stopped and
reported, and no other is."""

from __future__ import annotations

from pathlib import Path

import pytest

import xscl
from xscl.errors import QueryStopped

MOST = 200
ANY = "WHERE skip_till_any_match {}"
EXPLODING = {
    "all matches are found": f"PATTERN SEQ(S+ a[], S b) {ANY}",
    "they are pending": f"PATTERN SEQ(S+ a[], S b, !T c) {ANY} WITHIN 1 h",
    "runs are told apart": "PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match { avg(a[].v) > 99 }",
    "without a last one": f"PATTERN SEQ(S+ a[], T b) {ANY[:-2]} {{ avg(a[].v) > 99 }}",
    "sequences": "EVENT SEQ(S a, S b, S c, S d, S e, S f, S g)",
    "sequences, pending": "EVENT SEQ(S a, S b, S c, S d, S e, S f, !T g) WITHIN 1 h",
}


def documents(many: int, first: int = 0) -> list[dict[str, object]]:
    return [
        {"stream": "S", "id": f"d{i}", "timestamp": 1000 + i, "json": {"k": 1, "v": i * i}}
        for i in range(first, first + many)
    ]


@pytest.mark.parametrize("lateness", [0, None])
@pytest.mark.parametrize("kind", EXPLODING)
def test_a_pattern_is_stopped(kind: str, lateness: float | None, tmp_path: Path) -> None:
    state, stops = tmp_path / "s.duckdb", list[QueryStopped]()
    text = EXPLODING[kind].replace("{ { ", "{ ")
    with xscl.Engine(state, lateness=lateness, most_matches=MOST, on_stop=stops.append) as engine:
        engine.subscribe(text, name="much")
        engine.subscribe("EVENT SEQ(S a, !S b) WITHIN 0.5", name="other")
        matches = engine.publish_many(documents(30)) + engine.flush()
        assert [one.query for one in stops] == ["much"]
        assert "more than 200" in str(stops[0])
        assert [one.name for one in engine.subscriptions] == ["other"]
        assert sum(one.query == "other" for one in matches) == 30
        assert sum(one.query == "much" for one in matches) <= MOST
    with xscl.Engine(state, lateness=lateness, most_matches=MOST, on_stop=stops.append) as engine:
        matches = engine.publish_many(documents(3, 30)) + engine.flush()
        assert [one.documents for one in matches] == [("d30",), ("d31",), ("d32",)]
    assert len(stops) == 1


def test_counts_need_no_bound() -> None:
    """Where nobody goes through matches, there may be any number of them."""
    stops = list[QueryStopped]()
    engine = xscl.Engine(most_matches=MOST, on_stop=stops.append)
    engine.subscribe(EXPLODING["all matches are found"], name="much")
    assert engine.count(documents(30))["much"] == 2**30 - 30 - 1
    assert not stops


def test_one_that_looks_back_is_stopped() -> None:
    stops = list[QueryStopped]()
    engine = xscl.Engine(most_matches=MOST, on_stop=stops.append)
    engine.subscribe("S/*->x JOIN {x = y} Never/none->y")
    engine.publish_many(documents(30))
    engine.subscribe(EXPLODING["they are pending"], name="much", history=True)
    engine.flush()
    assert [one.query for one in stops] == ["much"]


def test_a_bound_is_a_number_of_matches() -> None:
    with pytest.raises(xscl.XSCLError, match="most_matches: 0 is too few"):
        xscl.Engine(most_matches=0)
