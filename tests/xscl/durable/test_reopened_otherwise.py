"""A state file that is reopened with another lateness, another consistency or other revisable
streams: what was pending is reported once, what was reported is not again."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.drawn import DRAW

S = {"revisable": {"S"}}
MIDDLE = {"consistency": "middle"}
STRONG = {"consistency": "strong"}


def said(found: list[xscl.Match]) -> list[tuple[bool, tuple[str, ...]]]:
    return [(isinstance(one, xscl.Retraction), one.documents) for one in found]


QUERIES = ["S/i JOIN {1 day} T/i", "SELECT x FROM S/i->x JOIN {1 day} T/i", "S/i PUBLISH P"]
CHANGES: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    (S, S, False),
    (S, MIDDLE, False),
    (S, S | {"consistency": "middle(5 s)"}, False),
    (S, {"revisable": False}, False),
    (S, {"revisable": {"X"}}, False),
    ({}, S, True),
    ({}, S | MIDDLE, True),
    (S | MIDDLE, STRONG, True),
    (S | MIDDLE, MIDDLE, True),
]
REOPENED = [
    (*change, retracts, query)
    for number, (change, retracts) in enumerate(product(CHANGES, [False, True]))
    for query in (QUERIES if DRAW >= 1 else [QUERIES[number % len(QUERIES)]])
]
"""Each change with one query, by `make fuzz` with all."""


@pytest.mark.drawn
@pytest.mark.parametrize(("first", "then", "reported", "retracts", "query"), REOPENED)
def test_a_match_of_a_join_is_reported_once(
    first: dict[str, Any],
    then: dict[str, Any],
    reported: bool,
    retracts: bool,
    query: str,
    tmp_path: Path,
) -> None:
    state = tmp_path / "s.duckdb"
    expected = ("a",) if "PUBLISH" in query else ("a", "b")
    with xscl.Engine(state, **first) as engine:
        engine.subscribe(query)
        found = engine.publish("S", "<i/>", id="a", timestamp=1)
        found += engine.publish("T", "<i/>", id="b", timestamp=2)
    assert said(found) == [(False, expected)] * reported
    with xscl.Engine(state, **then) as engine:
        if retracts and then.get("revisable", {"S"}) == {"S"}:
            # Before any other step: what was reported only provisionally is taken back.
            found = engine.retract("S", "a") + engine.flush()
            again = [(True, expected)] * (then.get("consistency") == "middle" and reported)
        else:
            found = engine.publish("U", "<i/>", id="u", timestamp=3) + engine.flush()
            again = [(False, expected)] * (not reported)
        assert said(found) == again


@pytest.mark.parametrize(
    "query",
    [
        "S/i FOLLOWED BY {1 h} T/i",
        "EVENT SEQ(S a, !U u, T b) WITHIN 1 h",
        "S/i FOLLOWED BY {1 h} T/i JOIN {1 h} T/i",
    ],
)
@pytest.mark.parametrize("asks", ["subscribe", "stats", "history", "windows"])
def test_what_another_lateness_lets_be_reported_is_there_still(
    query: str, asks: str, tmp_path: Path
) -> None:
    """Nothing lets go of its documents before the step that reports it."""
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state, lateness="1 day", revisable={"S"}) as engine:
        engine.subscribe(query, name="q")
        engine.publish("S", "<i/>", id="a", timestamp=0)
        for number, time in enumerate((600, 700)):
            engine.publish("T", "<i/>", id=f"b{number}", timestamp=time)
        engine.publish("S", "<i/>", id="c", timestamp=10_000)
    with xscl.Engine(state, lateness=None if asks == "windows" else 0) as engine:
        found: list[xscl.Match] = []
        if asks == "windows":
            engine.follow_windows(0)
        elif asks == "stats":
            engine.stats(exact=True)
        else:
            # To look back is a step.
            found += engine.subscribe("S/j", name="new", history=asks == "history").found
        found += engine.publish("S", "<i/>", id="d", timestamp=50_000)
        assert {match.documents[:2] for match in found} >= {("a", "b0")}
        # Then they go.
        assert engine.stats(exact=True)["documents"] == 1


def test_a_document_without_rows_that_a_pattern_holds_is_in_no_match(tmp_path: Path) -> None:
    """No query reaches its leaves any more, though the widest window and the widest order together
    would."""
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state, lateness=0) as engine:
        engine.load(
            "S/i->a JOIN {1 h} T/i->b; S/i->c FOLLOWED BY {10 days} T/i->d; "
            "EVENT SEQ(T x, U y) WITHIN 30 days"
        )
        engine.publish("T", "<i/>", id="old", timestamp=0)
    with xscl.Engine(state) as engine:
        engine.publish("T", "<i/>", id="new", timestamp=7_200)
        engine.stats(exact=True)
        found = engine.publish("S", "<i/>", id="n", timestamp=7_201)
        assert [(one.query, one.documents) for one in found] == [("q1", ("n", "new"))]
        found = engine.publish("U", "<i/>", id="u", timestamp=7_202)
        assert sorted(one.documents for one in found) == [("new", "u"), ("old", "u")]
