"""Pending decisions stay the same when the state is rebuilt: by a restart, another query that looks
back, a query that puts others onto another level."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.drawn import DRAW, turn

Coming = tuple[str, float, str]
Disturbance = Callable[[xscl.Engine, Path], xscl.Engine]


def nothing(engine: xscl.Engine, state: Path) -> xscl.Engine:
    return engine


def restart(engine: xscl.Engine, state: Path) -> xscl.Engine:
    engine.close()
    return xscl.Engine(state)


def looking_back(engine: xscl.Engine, state: Path) -> xscl.Engine:
    engine.subscribe("EVENT SEQ(A x, B y) WITHIN 4", name="other", history=True)
    engine.subscribe("SELECT COUNT(*) AS n FROM WINDOW{4}(A)", name="another", history=True)
    return engine


def lifting(engine: xscl.Engine, state: Path) -> xscl.Engine:
    for stream in "AS":
        text = f"SELECT a.x AS x FROM EVENT Never a PUBLISH {stream}"
        engine.subscribe(text, name=f"to {stream}")
    return engine


DISTURBANCES = [nothing, restart, looking_back, lifting]


def kept(state: Path, disturb: Disturbance) -> Path | None:
    """The file of an engine that is opened again."""
    return state if disturb is restart else None


AUTOMATON = {
    "events": {"a": "A", "b": "B"},
    "start": "q0",
    "final": ["q2"],
    "within": 8,
    "keep": True,
    "consistency": "weak",
    "arcs": [
        {"from": "q0", "to": "q1", "event": "a"},
        {"from": "q1", "to": "q1", "kind": "ignore", "event": "*"},
        {"from": "q1", "to": "q2", "event": "b"},
    ],
}

LIVES: dict[str, tuple[str, float, Sequence[Coming], list[tuple[str, ...]]]] = {
    "an absence at the start, another at the end": (
        "EVENT SEQ(!N n, A a, B b, !C c) WITHIN 8",
        0,
        [("N", 3, "n"), ("A", 9, "a"), ("B", 10, "b"), ("B", 13, "late b")],
        [("a", "late b")],
    ),
    "an absence at the start, not overlapping": (
        "EVENT SEQ(!N n, A a, B b) WITHIN 4.5 OUTPUT NON OVERLAPPING",
        2,
        [("N", 2, "n"), ("A", 5, "a"), ("B", 6, "b1"), ("B", 8, "b2"), ("B", 10, "b3")],
        [("a", "b2")],
    ),
    "what is weak has dropped": (
        "EVENT SEQ(A a, B b) WITHIN 8 CONSISTENCY weak",
        5,
        [("A", 9, "a"), ("B", 10, "b"), ("A", 8, "late a")],
        [],
    ),
    "what a weak composition has dropped": (
        "SELECT * FROM (A X; B Y) WHERE (X, Y) OCCURS WITHIN 8 s CONSISTENCY weak",
        5,
        [("A", 9, "a"), ("B", 10, "b"), ("A", 8, "late a")],
        [],
    ),
    "what a weak automaton has dropped": (
        "AUTOMATON " + json.dumps(AUTOMATON),
        5,
        [("A", 9, "a"), ("B", 10, "b"), ("A", 8, "late a")],
        [],
    ),
}


@pytest.mark.parametrize("life", LIVES)
@pytest.mark.parametrize("disturb", DISTURBANCES)
def test_a_pattern(life: str, disturb: Disturbance, tmp_path: Path) -> None:
    text, lateness, coming, expected = LIVES[life]
    state = tmp_path / "state.xscl"
    engine = xscl.Engine(kept(state, disturb), lateness=lateness)
    engine.subscribe(text, name="q")
    before = found(publish(engine, coming))
    engine = disturb(engine, state)
    assert found(engine.flush()) == expected
    later = [("B", 14.0, "last")]
    after = before + expected + found(publish(engine, later) + engine.flush())
    engine.close()
    assert len({*after}) == len(after), "reported again"
    undisturbed = xscl.Engine(lateness=lateness)
    undisturbed.subscribe(text, name="q")
    matches = publish(undisturbed, coming) + undisturbed.flush()
    matches += publish(undisturbed, later) + undisturbed.flush()
    assert found(matches) == after


@pytest.mark.parametrize("lateness", [0, 2, None])
@pytest.mark.parametrize("life", [one for one, (text, *_) in LIVES.items() if "EVENT" in text])
def test_a_pattern_that_looks_back(life: str, lateness: float | None) -> None:
    """It finds what one does that was there, whatever that one has read of what is pending."""
    text, _, coming, _ = LIVES[life]
    text = text.replace(" CONSISTENCY weak", "")
    engine = xscl.Engine(lateness=lateness)
    for stream in "NABC":
        engine.subscribe(f"{stream}/*->x JOIN {{x = y}} Never/none->y", name=f"keep {stream}")
    engine.subscribe(text, name="there")
    matches = publish(engine, coming)
    more = text.replace(" WITHIN", " WHERE a.k = 'u' WITHIN")
    matches += engine.subscribe(more, name="q", history=True).found
    matches += publish(engine, [("A", 13.5, "a2"), ("B", 14.0, "last")]) + engine.flush()
    there = [one.documents for one in matches if one.query == "there"]
    assert sorted(found(matches)) == sorted(there)


@pytest.mark.parametrize("disturb", DISTURBANCES)
def test_what_was_reported_early_is_not_reported_again(
    disturb: Disturbance, tmp_path: Path
) -> None:
    """Of two that overlap the earlier is reported when the input has ended; what is decided then
    holds, whatever comes."""
    state = tmp_path / "state.xscl"
    engine = xscl.Engine(kept(state, disturb))
    engine.subscribe("EVENT SEQ(A a, !B b) WHERE [k] WITHIN 5 OUTPUT NON OVERLAPPING", name="q")
    publish(engine, [("A", 1, "a1"), ("A", 2, "a2")])
    assert found(engine.flush()) == [("a1",)]
    publish(engine, [("A", 9, "a9")])
    assert found(engine.flush()) == [("a9",)]
    engine = disturb(engine, state)
    assert found([*engine.advance(30), *engine.flush()]) == []
    engine.close()


def test_patterns_that_look_back_share_an_automaton_in_the_end(tmp_path: Path) -> None:
    """Each has one of its own at first; with many of these all are brought together."""
    engine = xscl.Engine(lateness=5)
    engine.subscribe("EVENT SEQ(A a, B b, !C c) WHERE [k] WITHIN 9", name="keep")
    publish(engine, [("A", 1, "a1"), ("C", 2, "c"), ("A", 3, "a")])
    for number in range(70):
        text = "EVENT SEQ(A a, B b, !C c) WHERE [k] WITHIN 9"
        assert engine.subscribe(text, name=f"q{number}", history=True).found == []
    publish(engine, [("B", 4, "b")])
    matches = engine.flush()
    assert {one.documents for one in matches} == {("a1", "b"), ("a", "b")}
    assert len(matches) == 2 * 71
    stats: Any = engine.stats()["patterns"]
    assert stats["queries"] == 71
    assert stats["automata"] < 20


@pytest.mark.parametrize("flushes", [False, True])
def test_a_pattern_that_looks_back_sees_time_pass(flushes: bool) -> None:
    """Of a stream that is quiet: what is pending is decided by the watermark alone, and once."""
    engine = xscl.Engine(lateness=2)
    engine.subscribe("A/*->x JOIN {x = y} Never/none->y")
    publish(engine, [("A", 6, "a")])
    assert engine.subscribe("EVENT SEQ(A a, !B b) WITHIN 3", name="q", history=True).found == []
    early = engine.flush() if flushes else []
    matches = [*early, *engine.advance(8), *engine.advance(20)]
    assert found(matches) == [("a",)]
    assert engine.flush() == []


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("end", ["flush", "run", "count"])
def test_one_that_looks_back_knows_that_the_input_has_ended(end: str, other: bool) -> None:
    """Whether or not a match was pending then."""
    engine = xscl.Engine()
    engine.subscribe("A/*->x JOIN {x = y} Never/none->y")
    if other:
        engine.subscribe("EVENT SEQ(B a, !B b) WITHIN 3", name="other")
    coming = [{"stream": "A", "id": "a", "timestamp": 1, "json": {"k": 1}}]
    match end:
        case "flush":
            engine.publish_many(coming)
            engine.flush()
        case "run":
            assert not [*engine.run(coming)]
        case _:
            engine.count(coming)
    text = "EVENT SEQ(A a, !B b) WITHIN 3"
    assert found(engine.subscribe(text, name="q", history=True).found) == [("a",)]
    assert engine.flush() == []


FIRST = [
    "SELECT k FROM S NEXT{$2.k = $1.k} S",
    "SELECT k, v FROM S NEXT{$2.k = $1.k} S",
    "SELECT k_1 AS x FROM S NEXT{$2.k = $1.k} S",
    "SELECT COUNT(*) AS n FROM S GROUP BY k",
]
SECOND = {
    "S NEXT S": [{"k_1": "a", "v_1": 2, "k": "a", "v": 3}],
    "S NEXT{$2.k = $1.k} S": [{"k_1": "a", "v_1": 2, "k": "a", "v": 3}],
    "SELECT k, v_1 AS before, v FROM S NEXT{$2.k = $1.k} S": [{"k": "a", "before": 2, "v": 3}],
    "SELECT SUM(v) AS n FROM WINDOW{INF}(S)": [{"n": 2}, {"n": 5}],
    "SELECT SUM(v) AS n FROM S GROUP BY k": [{"n": 2}, {"n": 3}],
}


LOOKS = [
    (first, second, again)
    for i, first in enumerate(FIRST)
    for j, second in enumerate(SECOND)
    for again in (nothing, restart)
    if DRAW >= 1 or again is nothing or (i + j) % len(FIRST) == 0
]
"""Each second one with one first over a restart, by `make fuzz` with all."""


@pytest.mark.drawn
@pytest.mark.parametrize("advances", turn([False, True]))
@pytest.mark.parametrize(("first", "second", "again"), LOOKS)
def test_event_queries_look_back_whatever_others_read(
    first: str, second: str, again: Disturbance, advances: bool, tmp_path: Path
) -> None:
    """Of a stream that only event queries read no document is retained: one that looks back sees
    nothing of it, not the attributes of others' pending events; with a join that retains documents
    it sees them whole."""
    whole = [{"k_1": "a", "v_1": 1, "k": "a", "v": 2}]
    for retained in (False, True):
        state = tmp_path / f"{retained}.xscl"
        engine = xscl.Engine(state if again is restart else None)
        if retained:
            engine.subscribe("S/*->x JOIN {x = y} Never/none->y", name="keep")
        engine.subscribe(first, name="first")
        engine.publish("S", {"k": "a", "v": 1}, id="1", timestamp=1)
        subscription = engine.subscribe(second, name="second", history=True)
        assert not [one for one in subscription.found if one.query != "second"]
        engine = again(engine, state)
        engine.publish("S", {"k": "a", "v": 2}, id="2", timestamp=2)
        matches = engine.advance(2.5) if advances else []
        engine = again(engine, state)
        engine.publish("S", {"k": "a", "v": 3}, id="3", timestamp=3)
        matches += engine.flush()
        results = [one.to_dict()["result"] for one in matches if one.query == "second"]
        engine.close()
        expected: list[Any] = SECOND[second]
        if retained:
            expected = {
                "SELECT k, v_1 AS before, v FROM S NEXT{$2.k = $1.k} S": [
                    {"k": "a", "before": 1, "v": 2},
                    *expected,
                ],
                "SELECT SUM(v) AS n FROM WINDOW{INF}(S)": [{"n": 1}, {"n": 3}, {"n": 6}],
                "SELECT SUM(v) AS n FROM S GROUP BY k": [{"n": 1}, {"n": 2}, {"n": 3}],
            }.get(second, whole + expected)
        assert results == expected


FLUSHED = [
    "SELECT * FROM A NEXT B",
    "SELECT x, k FROM A NEXT{$1.k = $2.k} B",
    "SELECT COUNT(*) AS n FROM WINDOW{9}(A)",
    "SELECT x FROM A",
    "EVENT SEQ(A a, B b) WITHIN 30",
    "EVENT SEQ(A a, B b, !C c) WITHIN 30",
]


@pytest.mark.parametrize("level", ["strong", "middle"])
@pytest.mark.parametrize("text", FLUSHED)
@pytest.mark.parametrize("disturb", DISTURBANCES[1:])
def test_what_comes_after_the_input_had_ended_was_not_reported_then(
    disturb: Disturbance, text: str, level: str, tmp_path: Path
) -> None:
    """Also where it is of a time before what was pending then, and is no longer pending itself."""
    by_way: list[list[list[Any]]] = []
    for way in (nothing, disturb):
        state = tmp_path / way.__name__
        engine = xscl.Engine(kept(state, way), lateness=10)
        engine.subscribe(f"{text} CONSISTENCY {level}", name="q")
        steps = [publish(engine, [("A", 1, "a1"), ("B", 20, "b20")]), engine.flush()]
        steps.append(publish(engine, [("A", 15, "a15"), ("C", 27, "c27")]))
        for _ in range(2 if way is restart else 1):
            engine = way(engine, state)
        steps += [engine.advance(18), engine.advance(60), engine.flush()]
        by_way.append([[one.to_dict() for one in step if one.query == "q"] for step in steps])
        engine.close()
    assert by_way[0] == by_way[1]


REVISED = [
    "EVENT SEQ(A a, B b) WITHIN 9",
    "EVENT SEQ(A a, B b, !C c) WITHIN 3",
    "SELECT * FROM (A X; B Y) WHERE (X, Y) OCCURS WITHIN 9 s",
    "SELECT x FROM A",
    "SELECT a.x AS x FROM EVENT SEQ(A a, B b) WITHIN 9",
    "SELECT * FROM A NEXT{$1.k = $2.k} B",
]
TAKEN_BACK = "SELECT n.x AS x FROM EVENT SEQ(Never n, !N m) WITHIN 5 CONSISTENCY middle PUBLISH A"


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("ceases", [False, True])
@pytest.mark.parametrize("text", REVISED)
def test_matches_are_reported_once_where_a_stream_becomes_revisable_or_ceases_to_be(
    text: str, ceases: bool, ended: bool
) -> None:
    found_by = []
    for published in (False, True):
        engine = xscl.Engine(lateness=10)
        engine.subscribe(text, name="q")
        if published and ceases:
            engine.subscribe(TAKEN_BACK, name="p")
        matches = publish(engine, [("A", 1, "a1"), ("B", 2, "b2"), ("A", 3, "a3")])
        matches += engine.flush() if ended else []
        if published and ceases:
            engine.cancel("p")
        elif published:
            engine.subscribe(TAKEN_BACK, name="p")
        matches += publish(engine, [("B", 4, "b4"), ("A", 5, "a5"), ("B", 6, "b6")])
        matches += [*engine.advance(30), *engine.flush()]
        found_by.append(sorted(one.id for one in matches if one.query == "q"))
    assert found_by[0] == found_by[1]
    assert found_by[0]


@pytest.mark.parametrize("text", REVISED)
@pytest.mark.parametrize("ceases", [False, True])
def test_matches_are_reported_once_where_streams_are_revisable_only_before_or_after_a_restart(
    text: str, ceases: bool, tmp_path: Path
) -> None:
    found_by = []
    for way in ([], [ceases, not ceases]):
        state = tmp_path / f"{len(way)}.xscl"
        engine = xscl.Engine(state if way else None, lateness=10, revisable=way[0] if way else None)
        engine.subscribe(text, name="q")
        matches = publish(engine, [("A", 1, "a1"), ("B", 2, "b2"), ("A", 3, "a3")])
        if way:
            engine.close()
            engine = xscl.Engine(state, revisable=way[1])
        matches += publish(engine, [("B", 4, "b4"), ("A", 5, "a5"), ("B", 6, "b6")])
        engine = lifting(engine, state) if way else engine
        matches += [*engine.advance(30), *engine.flush()]
        found_by.append(sorted(one.id for one in matches if one.query == "q"))
        engine.close()
    assert found_by[0] == found_by[1]
    assert found_by[0]


@pytest.mark.parametrize("text", [one for one in REVISED if "NEXT" not in one and "!" not in one])
def test_middle_reports_immediately_again_where_a_stream_is_no_longer_revisable(text: str) -> None:
    engine = xscl.Engine(lateness=10, consistency="middle")
    engine.subscribe(text, name="q")
    engine.subscribe(TAKEN_BACK, name="p")
    before = publish(engine, [("A", 1, "a1"), ("B", 2, "b2")])
    engine.cancel("p")
    after = publish(engine, [("A", 3, "a3"), ("B", 4, "b4")])
    assert len([one for one in before if one.query == "q"]) == 1
    assert [one for one in after if one.query == "q"]
    assert not [one for one in [*engine.advance(30), *engine.flush()] if one.query == "q"]


def publish(engine: xscl.Engine, coming: Sequence[Coming]) -> list[xscl.Match]:
    matches = []
    for stream, time, id in coming:
        matches += engine.publish(stream, {"x": 1, "k": "u"}, id=id, timestamp=time)
    return matches


def found(matches: Sequence[xscl.Match]) -> list[tuple[str, ...]]:
    return [one.documents for one in matches if one.query == "q"]


WEAK = {
    "a pattern": "EVENT SEQ(A x, B y) WITHIN 100 CONSISTENCY weak",
    "a composition": "SELECT * FROM (A X; B Y) WHERE (X, Y) OCCURS WITHIN 100 s CONSISTENCY weak",
    "an automaton": "AUTOMATON " + json.dumps({**AUTOMATON, "within": 100}),
}


@pytest.mark.parametrize("lateness", [None, 50])
@pytest.mark.parametrize("query", WEAK)
@pytest.mark.parametrize("disturb", DISTURBANCES[1:])
def test_what_a_weak_query_has_dropped_stays_dropped(
    disturb: Disturbance, query: str, lateness: float | None, tmp_path: Path
) -> None:
    found_by: dict[Disturbance, list[list[tuple[str, ...]]]] = {}
    for one in (nothing, disturb):
        state = tmp_path / one.__name__
        engine = xscl.Engine(kept(state, one), lateness=lateness)
        engine.subscribe(WEAK[query], name="q")
        # The second is late for the query, and those after the disturbance are not.
        steps = [publish(engine, [("A", 5, "a5"), ("A", 3, "a3")])]
        for coming in ([("A", 6, "a6"), ("B", 7, "b")], [("B", 8, "b8")]):
            engine = one(engine, state) if one is restart or len(steps) == 1 else engine
            steps.append(publish(engine, coming))
        engine.close()
        found_by[one] = [
            sorted(found([match for match in step if match.query == "q"])) for step in steps
        ]
    assert found_by[disturb] == found_by[nothing]
    assert ("a5", "b") in found_by[nothing][1]


@pytest.mark.parametrize("block", ["A", "A/json", "A//k"])
def test_what_was_missed_is_forgotten_with_its_document(block: str, tmp_path: Path) -> None:
    """Also where its nodes are known no more, and others are missed."""
    state = tmp_path / "state.xscl"
    text = f"EVENT SEQ({block} x, B y) WITHIN 5 CONSISTENCY weak"
    for again in range(3):
        engine = xscl.Engine(state, lateness=50)
        engine.subscribe(text, name="q")
        for time in range(100 * again, 100 * again + 90, 10):
            publish(engine, [("A", time + 5, f"a{time}"), ("A", time, f"late {time}")])
        found_ = found(publish(engine, [("B", 100 * again + 89, f"b{again}")]))
        assert found_ == [(f"a{100 * again + 80}", f"b{again}")]
        engine.close()


@pytest.mark.parametrize("level", ["strong", "middle"])
@pytest.mark.parametrize("disturb", [restart, lifting])
def test_a_retraction_that_weak_ignores_is_one_for_others(
    disturb: Disturbance, level: str, tmp_path: Path
) -> None:
    state = tmp_path / "state.xscl"
    options = {"lateness": 100, "revisable": True, "consistency": "weak"}
    engine = xscl.Engine(kept(state, disturb), **options)
    engine.subscribe(f"EVENT SEQ(A x, B y) WITHIN 9 CONSISTENCY {level}", name="other")
    text = f"SELECT * FROM (A X; B Y) WHERE (X, Y) OCCURS WITHIN 9 s CONSISTENCY {level}"
    engine.subscribe(text, name="composed")
    engine.subscribe("EVENT SEQ(A x, B y) WITHIN 9", name="weak")
    publish(engine, [("A", 1, "a1"), ("A", 2, "a2")])
    engine.retract("A", "a1")
    for _ in range(2):
        engine = disturb(engine, state) if disturb is restart else engine
    engine = disturb(engine, state)
    matches = publish(engine, [("B", 3, "b")]) + engine.flush()
    by_query = {
        name: sorted(one.documents for one in matches if one.query == name)
        for name in ("weak", "other", "composed")
    }
    assert by_query["other"] == [("a2", "b")]
    assert by_query["composed"] == [("a2", "b")]
    assert ("a1", "b") in by_query["weak"]
    engine.close()


@pytest.mark.parametrize("disturb", DISTURBANCES)
def test_a_weak_event_query_ignores_retractions(disturb: Disturbance, tmp_path: Path) -> None:
    """Also that of the newest document."""
    state = tmp_path / "state.xscl"
    engine = xscl.Engine(kept(state, disturb), lateness=100, revisable=True)
    engine.subscribe("SELECT x FROM A NEXT{$1.k = $2.k} B CONSISTENCY weak", name="q")
    publish(engine, [("A", 1, "a1")])
    engine.retract("A", "a1")
    engine = disturb(engine, state)
    assert len([one for one in publish(engine, [("B", 3, "b")]) if one.query == "q"]) == 1
    engine.close()


MANY = {
    "a sequence": "EVENT SEQ(A a, B b) WITHIN 100",
    "one with its absences": "EVENT SEQ(!N n, A a, B b) WITHIN 100",
    "one without overlaps": "EVENT SEQ(A a, B b) WITHIN 100 OUTPUT NON OVERLAPPING",
    "a composition": "SELECT * FROM (A X; B Y) WHERE (X, Y) OCCURS WITHIN 100 s",
    "an automaton": "AUTOMATON "
    + json.dumps({**AUTOMATON, "within": 100, "consistency": "strong"}),
    "an event query": "SELECT * FROM A NEXT{$1.k = $2.k} B",
    "one of pairs": "SELECT * FROM A FOLD{$1.k = $2.k, true} B",
    "one that selects": "SELECT x, k FROM A",
}


@pytest.mark.drawn
@pytest.mark.parametrize("ended", turn([True, False]))
@pytest.mark.parametrize("level", ["strong", "middle", "weak"])
@pytest.mark.parametrize("disturb", DISTURBANCES[1:])
def test_matches_of_many_steps_are_not_too_many_for_one(
    disturb: Disturbance, level: str, ended: bool, tmp_path: Path
) -> None:
    found_by: list[list[Any]] = []
    for way in (nothing, disturb):
        state = tmp_path / way.__name__
        engine = xscl.Engine(kept(state, way), lateness=0, most_matches=60, consistency=level)
        for name, text in MANY.items():
            engine.subscribe(text, name=name)
        for number in range(15):
            publish(engine, [("A", number, f"a{number}"), ("B", number + 0.5, f"b{number}")])
        if ended:
            engine.flush()
        engine = way(engine, state)
        later = publish(engine, [("A", 40, "a"), ("B", 41, "b")])
        later += [*engine.advance(42), *engine.flush()]
        found = [one.to_dict() for one in later if one.query in MANY]
        found_by.append(sorted(found, key=lambda one: one["query"]))
        assert {*MANY} <= {one.name for one in engine.subscriptions}
        engine.close()
    assert found_by[0] == found_by[1]
    assert {*MANY} == {one["query"] for one in found_by[0]}


@pytest.mark.parametrize("level", ["strong", "middle", "weak"])
def test_what_looks_back_sees_no_retracted_document_unless_it_is_weak(level: str) -> None:
    engine = xscl.Engine(lateness=100, revisable=True, consistency="weak")
    for stream in "AB":
        engine.subscribe(f"{stream}/*->x JOIN {{x = y}} Never/none->y", name=f"keep {stream}")
    publish(engine, [("A", 1, "a1"), ("A", 2, "a2")])
    engine.retract("A", "a1")
    publish(engine, [("B", 3, "b")])
    text = f"EVENT SEQ(A x, B y) WITHIN 9 CONSISTENCY {level}"
    one = engine.subscribe(text, name="q", history=True)
    own = {match.documents for match in [*one.found, *engine.flush()] if match.query == "q"}
    assert own == {("a2", "b")} | ({("a1", "b")} if level == "weak" else set())
