"""Where patterns and event queries meet with each other and with time: nodes that two blocks
select, results that are read on, times that are not over, values that results show alike."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.drawn import turn

Coming = tuple[str, float, str, object]


def publish(engine: xscl.Engine, *coming: Coming) -> list[list[xscl.Match]]:
    """What each document finds."""
    return [
        [*engine.publish(stream, document, id=id, timestamp=time)]
        for stream, time, id, document in coming
    ]


@pytest.mark.parametrize("lateness", [0, None])
@pytest.mark.parametrize("inner", ["{0} UNION {1}", "{1} UNION {0}", "{0} UNION {1} UNION {1}"])
@pytest.mark.parametrize("outer", ["{}", "FILTER{{f = 'x' OR f = 'y'}}({})"])
def test_a_node_of_two_blocks_is_one_event(outer: str, inner: str, lateness: float | None) -> None:
    union = inner.format("S//item[f = 'x']", "S//item")
    engine = xscl.Engine(lateness=lateness)
    engine.subscribe(outer.format(union), name="u")
    engine.subscribe(f"SELECT COUNT(*) AS n FROM WINDOW{{INF}}({outer.format(union)})", name="c")
    engine.subscribe(f"SELECT f FROM {outer.format(union)} PUBLISH P", name="p")
    engine.subscribe("P", name="read")
    found: list[xscl.Match] = []
    for number in range(3):
        text = "<r><item><f>x</f></item><item><f>y</f></item></r>"
        found += engine.publish("S", text, id=f"d{number}", timestamp=number)
    found += engine.flush()
    by_query = {name: [one for one in found if one.query == name] for name in ("u", "p", "read")}
    assert {name: len(some) for name, some in by_query.items()} == {"u": 6, "p": 6, "read": 6}
    assert len({one.id for one in found}) == len(found)
    assert [one.result for one in found if one.query == "c"][-1] == {"n": 6}


def test_a_middle_query_reads_results_as_they_come() -> None:
    engine = xscl.Engine(consistency="middle")
    engine.load(
        "-- name: up\nSELECT n FROM FILTER{n > 0}(S) PUBLISH P;\n"
        "-- name: pair\nSELECT n_1 AS a, n AS b FROM P NEXT{$2.n > $1.n} P"
    )
    first, second = publish(engine, ("S", 1, "1", {"n": 1}), ("S", 2, "2", {"n": 2}))
    assert [one.query for one in first] == ["up"]
    assert {one.query: one.result for one in second} == {"up": {"n": 2}, "pair": {"a": 1, "b": 2}}
    assert engine.flush() == []


WAITING = {
    "an event query": "SELECT COUNT(*) AS n FROM WINDOW{INF}(S)",
    "a composite": "SELECT * FROM (S X; S Y) WHERE (X, Y) OCCURS WITHIN 9 s",
    "not overlapping": "EVENT SEQ(S a, S b) WITHIN 9 s OUTPUT NON OVERLAPPING",
    "an absence": "EVENT SEQ(S a, !T b) WITHIN 3 s",
    "a closure": "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match {} WITHIN 9 s",
}


@pytest.mark.parametrize("query", WAITING)
@pytest.mark.parametrize("lateness", [0, 2])
def test_middle_that_looks_nowhere_ahead_takes_nothing_back(query: str, lateness: float) -> None:
    coming = [("S", t, f"d{n}", {"v": n}) for n, t in enumerate([1, 3, 3, 3, 5, 4, 7, 7, 12])]
    said = {}
    for level in ("strong", "middle(0 s)"):
        engine = xscl.Engine(lateness=lateness, consistency=level)
        engine.subscribe(WAITING[query], name="q")
        steps = publish(engine, *coming)  # type: ignore[arg-type]
        assert not any(one.retracts for step in steps for one in step), level
        said[level] = [
            sorted((one.time, one.documents, json.dumps(one.result)) for one in step)
            for step in [*steps, [*engine.flush()]]
        ]
    assert said["strong"] == said["middle(0 s)"]
    assert any(said["strong"])


@pytest.mark.parametrize("others", [["a.w"], ["-a.v / 0"], ["a.w", "-a.v / 0"]])
def test_runs_that_show_the_same_are_one_match(others: list[str]) -> None:
    """An infinite number is shown as one that is missing."""
    arcs = [{"from": "q0", "to": "q1", "event": "a", "set": f"n = {one}"} for one in others]
    automaton = {
        "events": {"a": "A"},
        "start": "q0",
        "final": ["q1"],
        "register": {"n": {"type": "number"}},
        "arcs": [{"from": "q0", "to": "q1", "event": "a", "set": "n = a.v / 0"}, *arcs],
    }
    engine = xscl.Engine()
    engine.subscribe(f"AUTOMATON {json.dumps(automaton)}", name="q")
    publish(engine, ("A", 1, "d", {"v": 1}))
    assert [one.result for one in engine.flush()] == [{"n": None}]


@pytest.mark.parametrize("number", [1.1, 0.7, 2.3, 29, 57, 80, 110.1])
@pytest.mark.parametrize("kind", ["pattern", "automaton", "event query"])
def test_per_cent_is_the_decimal(kind: str, number: float) -> None:
    """b.v is exactly that share of a.v, by the decimal numbers."""
    decimal = repr(float(f"{number}e-2"))

    def matches(constant: str) -> int:
        texts = {
            "pattern": f"EVENT SEQ(A a, B b) WHERE b.v = {constant}*a.v",
            "automaton": "AUTOMATON "
            + json.dumps(
                {
                    "events": {"a": "A", "b": "B"},
                    "start": "q0",
                    "final": ["q2"],
                    "register": {"n": 0},
                    "arcs": [
                        {"from": "q0", "to": "q1", "event": "a", "set": "n = a.v"},
                        {"from": "q1", "to": "q2", "event": "b", "when": f"b.v = {constant}*n"},
                    ],
                }
            ),
            "event query": f"A NEXT{{$2.v = {constant}*$1.v}} B",
        }
        engine = xscl.Engine()
        engine.subscribe(texts[kind], name="q")
        steps = publish(
            engine, ("A", 1, "a", {"v": 1000}), ("B", 2, "b", {"v": float(decimal) * 1000})
        )
        return sum(map(len, steps)) + len(engine.flush())

    assert matches(f"{number}%") == matches(decimal) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [(True, 1), (False, 0), ({"a": False}, {"a": 0}), ("1", 1), (1, 1)],
)
def test_documents_of_sharable_streams_are_equal_as_json(one: object, other: object) -> None:
    engine = xscl.Engine(sharable=[{"S1", "S2"}])
    for stream in ("S1", "S2"):
        engine.subscribe(f"SELECT v_1 AS v FROM {stream} NEXT T", name=stream)
    coming: list[dict[str, Any]] = [
        {"stream": "S1", "id": "1", "timestamp": 1, "json": {"v": one}},
        {"stream": "S2", "id": "2", "timestamp": 1, "json": {"v": other}},
        {"stream": "T", "id": "3", "timestamp": 2, "json": {"k": 1}},
    ]
    found = {m.query: m.result["v"] for m in [*engine.publish_many(coming), *engine.flush()]}
    assert {name: json.dumps(value) for name, value in found.items()} == {
        "S1": json.dumps(one),
        "S2": json.dumps(other),
    }


@pytest.mark.parametrize("level", ["strong", "weak"])
def test_a_match_is_reported_once_whatever_a_simultaneous_event_does(level: str) -> None:
    automaton = {
        "events": {"a": "A", "b": "B"},
        "start": "q0",
        "final": ["qf"],
        "register": {"n": 0},
        "arcs": [
            {"from": "q0", "to": "q1", "event": "a"},
            {"from": "q1", "to": "q1", "kind": "ignore", "event": "b", "when": "b.v < 3"},
            {"from": "q1", "to": "qf", "kind": "epsilon"},
        ],
    }
    engine = xscl.Engine(lateness=0, consistency=level)
    engine.subscribe(f"AUTOMATON {json.dumps(automaton)}", name="q")
    steps = publish(
        engine, ("A", 1, "a", {"v": 0}), ("B", 2, "b1", {"v": 1}), ("B", 2, "b2", {"v": 5})
    )
    found = [one for step in [*steps, [*engine.flush()]] for one in step]
    assert found
    assert len({one.id for one in found}) == len(found)


COMPETING = "EVENT SEQ(A a, B b) WITHIN 10 OUTPUT NON OVERLAPPING"


COMPETITIONS = [*itertools.product(["", "(3 s)"], [0, 3])]


@pytest.mark.drawn
@pytest.mark.parametrize(
    ("state", "window", "lateness"),
    [
        *((False, *one) for one in COMPETITIONS),
        *((True, *one) for one in turn(COMPETITIONS)),
    ],
)
def test_matches_that_compete_are_ordered_by_documents_that_are_there(
    state: bool, window: str, lateness: int, tmp_path: Path
) -> None:
    """Also where time goes on by other streams, and over a restart."""
    found: dict[str, Counter[tuple[str, ...]]] = {}
    for level in ("strong", f"middle{window}"):
        file = tmp_path / f"{level}.duckdb" if state else None
        engine = xscl.Engine(file, lateness=lateness)
        for name in ("one", "other"):
            engine.subscribe(f"{COMPETING} CONSISTENCY {level}", name=name)
        engine.subscribe("C//none")
        net: Counter[tuple[str, ...]] = Counter()
        for number in range(70):
            stream = "C" if number % 31 > 27 else "AB"[number % 2]
            for match in engine.publish(stream, "<i/>", id=str(number), timestamp=number):
                back = isinstance(match, xscl.Retraction)
                net[match.query, *match.documents] += -1 if back else 1
            if state and number % 23 == 22:
                engine.close()
                engine = xscl.Engine(file, lateness=lateness)
        for match in engine.flush():
            net[match.query, *match.documents] += -1 if isinstance(match, xscl.Retraction) else 1
        engine.close()
        found[level] = +net
    strong, middle = found.values()
    assert strong == middle
    assert strong.total() > 40


def test_a_pattern_is_cancelled_while_others_make_its_streams_others(tmp_path: Path) -> None:
    with xscl.Engine(tmp_path / "s.duckdb", lateness=50) as engine:
        engine.subscribe("EVENT SEQ(A a, B b) CONSISTENCY weak", name="q")
        engine.subscribe("S//a", name="other")
        for time in (9, 8):
            engine.publish("A", "<i/>", timestamp=time)
        engine.subscribe("SELECT a.x AS x FROM EVENT N a PUBLISH A", name="publishing")
        engine.cancel("q")
        assert [one.name for one in engine.subscriptions] == ["other", "publishing"]
        assert engine.publish("S", "<a/>", timestamp=10)


def test_one_of_two_equal_patterns_that_compete_is_cancelled(tmp_path: Path) -> None:
    with xscl.Engine(tmp_path / "s.duckdb", lateness=0) as engine:
        for name in ("one", "other"):
            engine.subscribe(f"{COMPETING} CONSISTENCY middle", name=name)
        for time in range(24):
            engine.publish("AB"[time % 2], "<i/>", timestamp=time)
        engine.cancel("one")
        found = engine.publish("A", "<i/>", timestamp=30)
        found += engine.publish("B", "<i/>", timestamp=31)
        assert [match.query for match in found] == ["other"]


@pytest.mark.parametrize("excluded", [False, True])
def test_what_came_after_a_flush_is_pending_over_a_restart(excluded: bool, tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state) as engine:
        engine.subscribe("EVENT SEQ(O o, !P p) WHERE [k] WITHIN 1 hour CONSISTENCY middle")
        engine.publish("O", {"k": 7}, id="first", timestamp=0)
        assert [match.documents for match in engine.flush()] == [("first",)]
        engine.publish("O", {"k": 8}, id="second", timestamp=100)
    with xscl.Engine(state) as engine:
        if excluded:
            assert engine.publish("P", {"k": 8}, timestamp=200) == []
        found = engine.advance(5_000)
        assert [match.documents for match in found] == [("second",)] * (not excluded)
