"""Stages that are made again, as streams become revisable or over a restart, and what of their
state goes with time: nothing is reported twice, nothing is lost, nothing stays for good."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.oracle.automata import expected
from xscl import Arc, Automaton, Engine
from xscl.pattern_stage.automata.group import AutomatonGroup
from xscl.pattern_stage.automata.part import Part

EVER, NEVER = float("-inf"), float("inf")

PUBLISHING = "EVENT SEQ(U x, !V y) WITHIN 5 CONSISTENCY middle PUBLISH P"


def ids(matches: Iterable[xscl.Match]) -> list[tuple[str, ...]]:
    return [(one.id, *one.documents) for one in matches if one.query == "q"]


def automaton(arcs: Sequence[dict[str, str]], *, final: str, **more: Any) -> str:
    description = {"events": {"a": "A"}, "final": [final], "arcs": arcs, **more}
    return f"AUTOMATON {json.dumps(description)}"


@pytest.mark.parametrize("again", ["a restart", "another stream"])
@pytest.mark.parametrize(
    "text", ["SELECT * FROM (P x | T y)", "EVENT P x WITHIN 1 h", "SELECT v FROM P"]
)
def test_what_was_reported_before_a_stream_became_revisable_is_not_again(
    text: str, again: str, tmp_path: Path
) -> None:
    state = tmp_path / "s.duckdb"
    with Engine(state, lateness=10) as engine:
        engine.subscribe(text, name="q")
        found = engine.publish("P", {"v": 1}, id="p", timestamp=100)
        assert len(ids(found)) == 1
        engine.subscribe(PUBLISHING, name="u")
        found += engine.publish("U", {}, id="u", timestamp=101)
        if again == "another stream":
            engine.subscribe(f"{PUBLISHING[:-1]}Z", name="z")
            found += engine.publish("W", {}, id="w", timestamp=102)
    for _ in range(2 if again == "a restart" else 0):
        with Engine(state) as engine:
            found += engine.publish("W", {}, timestamp=102)
    with Engine(state) as engine:
        found += [*engine.publish("T", {}, id="t", timestamp=120), *engine.advance(500)]
    assert sorted(set(ids(found))) == sorted(ids(found))


@pytest.mark.parametrize("lateness", [None, 10 * 86_400])
def test_what_was_before_1970_is_reported_as_what_comes_later_is(lateness: float | None) -> None:
    found = []
    for year in (1960, 2000):
        with Engine(lateness=lateness, consistency="middle") as engine:
            engine.subscribe("EVENT SEQ(A x, !C z, B y) WITHIN 30 days", name="q")
            engine.subscribe("SELECT COUNT(*) AS n FROM A", name="event query")
            matches: list[xscl.Match] = []
            for stream, day in (("A", 16), ("B", 20), ("A", 21)):
                matches += engine.publish(stream, {}, id=stream, timestamp=f"{year}-07-{day}")
            found.append([(one.query, one.documents, one.retracts) for one in matches])
    assert found[0] == found[1]
    assert ("q", ("A", "B"), False) in found[0]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_decision_of_matches_that_do_not_overlap_stays(restarts: bool, tmp_path: Path) -> None:
    """What the older events decided is known, though some of them are no longer retained."""
    state = tmp_path / "s.duckdb"
    text = "EVENT SEQ(A x, B y) WHERE x.id = y.id WITHIN 10 OUTPUT NON OVERLAPPING"
    pairs = [(5, 12), (11, 16), (14, 20), (18, 27), (25, 34)]
    feed = [("A", a, n) for n, (a, _) in enumerate(pairs)]
    feed += [("B", b, n) for n, (_, b) in enumerate(pairs)] + [("A", 33, 9)]
    feed.sort(key=lambda one: one[1])
    found: list[xscl.Match] = []
    engine = Engine(state, lateness=0)
    engine.subscribe(f"{text} CONSISTENCY middle", name="q")
    engine.subscribe("EVENT SEQ(A x, B y) WITHIN 25", name="longer")
    for stream, time, n in feed:
        if restarts:
            engine.close()
            engine = Engine(state)
        found += engine.publish(stream, {"id": n}, id=f"{stream}{n}", timestamp=time)
    found += engine.flush()
    engine.close()
    assert [one[1:] for one in ids(found)] == [("A0", "B0"), ("A2", "B2"), ("A4", "B4")]


@pytest.mark.parametrize("restarts", [False, True])
def test_an_event_that_is_retracted_ends_no_run(restarts: bool, tmp_path: Path) -> None:
    """Where a weak engine retains it for others."""
    state = tmp_path / "s.duckdb"
    text = automaton(
        [
            {"from": "q0", "to": "q1", "event": "a", "when": "a.x = 'a'"},
            {"from": "q1", "to": "q2", "event": "a", "when": "a.x = 'b'"},
        ],
        final="q2",
        consistency="strong",
    )
    engine = Engine(state, lateness=1, consistency="weak", revisable={"A"})
    engine.subscribe(text, name="q")
    engine.subscribe("EVENT SEQ(A x, T y) WITHIN 1 h", name="weak")
    engine.publish("A", {"x": "a"}, id="first", timestamp=1)
    engine.publish("A", {"x": "c"}, id="gone", timestamp=2)
    engine.retract("A", "gone")
    engine.publish("T", {}, timestamp=4)
    if restarts:
        engine.close()
        engine = Engine(state)
    found = [*engine.publish("A", {"x": "b"}, id="last", timestamp=5), *engine.flush()]
    engine.close()
    assert [one.time for one in found if one.query == "q"] == [5]


def test_a_match_with_its_events_is_one_however_these_are_read() -> None:
    with Engine(lateness=0) as engine:
        text = automaton(
            [{"from": "q0", "to": "q1", "event": "a", "when": "a.x = 1"}], final="q1", keep=True
        )
        engine.subscribe(text, name="q")
        found = engine.publish("A", {"x": 1, "new": 2}, id="d1", timestamp=5)
        arc = Arc("q0", "q1", "a", when="a.new = 2")
        found += engine.arcs("q").insert(arc)
        found += engine.publish("A", {"x": 9}, id="d2", timestamp=5)
        found += engine.publish("A", {"x": 9, "new": 2}, id="d3", timestamp=6)
        found += engine.flush()
    assert [one.time for one in found] == [5, 6]


@pytest.mark.parametrize("consistency", ["strong", "middle", "weak"])
def test_a_run_that_ignores_all_goes_with_its_window(consistency: str) -> None:
    """However many there were, those of a window are counted, and kept."""
    arcs = [
        Arc("q0", "q1", "a"),
        Arc("q1", "q1", "*", kind="ignore"),
        Arc("q1", "q2", kind="end"),
    ]
    query = Automaton("q", {"a": "A"}, ["q2"], arcs, within=5, consistency=consistency)
    with Engine(lateness=0, most_matches=20) as engine:
        engine.subscribe(query)
        found: list[xscl.Match] = []
        for time in range(200):
            found += engine.publish("A", {"x": time}, id=f"d{time}", timestamp=time)
            assert engine.stats()["patterns"]["runs"] <= 6
        found += engine.flush()
    events = [(float(time), "a", {"x": time}) for time in range(200)]
    description = query.to_dict()
    lives = [{"at": EVER, "until": NEVER, **arc} for arc in description["arcs"]]
    matches = expected(description, lives, events)
    assert sorted(one.time for one in found) == sorted(time for _, time, _ in matches)


def test_parts_that_have_gone_are_forgotten() -> None:
    """By an automaton that has to look at all of them, too."""
    arcs = [
        {"from": "q0", "to": "q1", "event": "a"},
        {"from": "q1", "to": "q2", "kind": "end"},
    ]
    with Engine(lateness=0) as engine:
        engine.subscribe(automaton(arcs, final="q2", by=["card"], within="5 s"), name="q")
        for time in range(200):
            engine.publish("A", {"card": time}, timestamp=time)
        (group,) = engine._queries.levels.all[0].patterns.stage._groups
        assert isinstance(group, AutomatonGroup)
        assert len(group.query._touched) == len(group.query.parts) < 10


def test_parts_without_news_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of a thousand, in each step; they go when their runs have."""
    arcs = [
        {"from": "q0", "to": "q1", "event": "a", "when": "a.x > 0"},
        {"from": "q1", "to": "q1", "kind": "ignore", "event": "a", "when": "a.x > 1"},
        {"from": "q1", "to": "q2", "event": "a", "when": "a.x < 0"},
    ]
    looked: list[Part] = []
    evict = Part.evict
    monkeypatch.setattr(
        Part, "evict", lambda part, mark: (looked.append(part), evict(part, mark))[1]
    )
    many = 1_000
    with Engine(lateness=0) as engine:
        engine.subscribe(automaton(arcs, final="q2", by=["card"], within="1 h"), name="q")
        feed = [
            {"stream": "A", "json": {"card": n, "x": 1}, "timestamp": n / 1_000}
            for n in range(many)
        ]
        engine.publish_many(feed)
        looked.clear()
        for n in range(100):
            engine.publish("A", {"card": n, "x": 2}, timestamp=2 + n)
        assert len(looked) <= many + 400
        assert engine.stats()["patterns"]["runs"] == many + 100
        found = engine.publish("A", {"card": many - 1, "x": -1}, timestamp=3_000)
        assert len(found) == 1
        engine.publish("A", {"card": 2, "x": 2}, timestamp=3_602)
        engine.publish("A", {"card": 2, "x": 0}, timestamp=9_000)
        assert engine.stats()["patterns"]["runs"] == 0
        assert engine.stats()["patterns"]["epochs"] <= 2
