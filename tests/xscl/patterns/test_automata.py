"""Automata in an engine: streams that they publish, groups, counts, history, restarts."""

from __future__ import annotations

import gc
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.drawn import seeded
from xscl.pattern_stage.automata.query import AutomatonQuery

FALLS: dict[str, Any] = {
    "name": "falls",
    "events": {"e": "S"},
    "by": ["of"],
    "register": {"n": 0},
    "within": 20,
    "start": "q0",
    "final": ["q2"],
    "arcs": [
        {"from": "q0", "to": "q1", "event": "e", "when": "e.change < 0", "set": "n = 1"},
        {"from": "q1", "to": "q1", "event": "e", "when": "e.change < 0", "set": "n = n + 1"},
        {"from": "q1", "to": "q2", "event": "e", "when": "e.change > 0"},
        {"from": "q1", "to": "q3", "event": "e", "when": "e.change > 2"},
        {"from": "q3", "to": "q2", "kind": "end"},
        {"from": "q3", "to": "q3", "event": "*", "kind": "ignore"},
    ],
}


def events(number: int) -> list[dict[str, Any]]:
    draw = seeded("events of automata", number)
    return [
        {
            "stream": "S",
            "id": f"d{at}",
            "timestamp": at,
            "json": {"of": draw.choice("xy"), "change": draw.randint(-3, 3)},
        }
        for at in range(40)
    ]


def subscribed(**options: Any) -> xscl.Engine:
    engine = xscl.Engine(**options)
    for keep in (False, True):
        members = {**FALLS, "name": f"falls {keep}", "keep": keep, "publish": f"Out{keep}"}
        engine.subscribe(xscl.Automaton.from_dict(members))
    engine.load("-- name: many\nSELECT n, of FROM FILTER{n > 2}(OutTrue);\n-- name: all\nOutFalse")
    return engine


def said(matches: Any) -> Counter[str]:
    return Counter(
        json.dumps([one.query, one.start, one.time, one.variables, one.result]) for one in matches
    )


@pytest.mark.parametrize("number", range(3))
def test_counts_groups_and_restarts_are_as_plain_matches(number: int, tmp_path: Path) -> None:
    some = events(number)
    with subscribed(lateness=5) as engine:
        plain = said([*engine.publish_many(some), *engine.flush()])
    names = Counter(json.loads(one)[0] for one in plain.elements())
    assert min(names[name] for name in ("falls False", "falls True", "many", "all")) > 0
    assert names["falls False"] == names["all"]
    late = [*some]
    seeded(number).shuffle(late)
    with subscribed() as engine:
        assert said([*engine.publish_many(late), *engine.flush()]) == plain
    with subscribed() as engine:
        assert engine.count(late) == names
    with subscribed(lateness=0) as engine:
        groups = engine.publish_many([*some, {"advance": 1_000}], grouped=True)
        assert said(match for group in groups for match in group.matches()) == plain
        assert groups.total == plain.total()
    state, found = tmp_path / "state.xscl", Counter[str]()
    subscribed(lateness=5, state=state).close()
    for at in range(0, len(some), 7):
        with xscl.Engine(lateness=5, state=state) as engine:
            found += said(engine.publish_many(some[at : at + 7]))
    with xscl.Engine(lateness=5, state=state) as engine:
        found += said(engine.flush())
        assert said(engine.flush()) == Counter()
    assert found == plain


def test_what_flush_has_found_is_not_found_again(tmp_path: Path) -> None:
    some, state = events(7), tmp_path / "state.xscl"
    with subscribed() as engine:
        whole = said([*engine.publish_many(some), *engine.flush()])
    found = Counter[str]()
    with subscribed(state=state) as engine:
        found += said([*engine.publish_many(some), *engine.flush(), *engine.flush()])
    with xscl.Engine(state=state) as engine:
        found += said([*engine.flush(), *engine.publish_many([{"advance": 1_000}])])
    assert found == whole


def test_an_automaton_that_comes_later_sees_what_is_retained() -> None:
    some = events(1)
    with xscl.Engine(lateness=5) as engine:
        engine.load("EVENT SEQ(S a, S b) WHERE [never] WITHIN 1 h")
        engine.publish_many(some)
        subscription = engine.subscribe(xscl.Automaton.from_dict(FALLS), history=True)
        found = said([*subscription.found, *engine.flush()])
    with xscl.Engine(lateness=5) as engine:
        engine.subscribe(xscl.Automaton.from_dict(FALLS))
        assert found == said([*engine.publish_many(some), *engine.flush()]) != Counter()


def test_a_query_with_too_many_runs_is_stopped_alone() -> None:
    doubling = {
        "name": "doubling",
        "events": {"e": "S"},
        "register": {"n": 0},
        "start": "q0",
        "final": ["q9"],
        "arcs": [
            {"from": "q0", "to": "q1", "event": "e"},
            {"from": "q1", "to": "q1", "event": "e", "set": "n = n * 2"},
            {"from": "q1", "to": "q1", "event": "e", "set": "n = n * 2 + 1"},
            {"from": "q1", "to": "q9", "event": "e", "when": "n < 0"},
        ],
    }
    stopped: list[str] = []
    stop = lambda error: stopped.append(error.query)  # noqa: E731
    with xscl.Engine(lateness=0, most_matches=1_000, on_stop=stop) as engine:
        engine.subscribe(xscl.Automaton.from_dict(FALLS))
        engine.subscribe(xscl.Automaton.from_dict(doubling))
        found = said([*engine.publish_many(events(2)), *engine.flush()])
    assert stopped == ["doubling"]
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(xscl.Automaton.from_dict(FALLS))
        assert found == said([*engine.publish_many(events(2)), *engine.flush()])


def test_stats_count_runs_epochs_and_what_is_late_or_duplicate() -> None:
    some = [
        {"stream": "S", "id": f"d{at}", "timestamp": at, "json": {"of": "x", "change": -1}}
        for at in range(4)
    ]
    late = {"stream": "S", "id": "late", "timestamp": -90, "json": {}}
    with xscl.Engine(lateness=50) as engine:
        engine.subscribe(xscl.Automaton.from_dict({**FALLS, "consistency": "middle"}))
        engine.publish_many([*some, some[0], late])
        stats: Any = engine.stats()
        assert (stats["patterns"]["epochs"], stats["patterns"]["runs"]) == (4, 4)
        assert (stats["skipped"]["late"], stats["skipped"]["duplicate"]) == (1, 1)


@pytest.mark.parametrize("names", ["ab", "abc", "cabd"])
@pytest.mark.parametrize("function", ["min", "max"])
def test_the_least_and_the_greatest_of_any_number_of_values(function: str, names: str) -> None:
    values = {"a": 3, "b": 1.5, "c": 2, "d": 9}
    called = f"{function}({', '.join(f'e.{name}' for name in names)})"
    expected = (min if function == "min" else max)(values[name] for name in names)
    made = xscl.Automaton(
        "q",
        {"e": "S"},
        ["f"],
        [xscl.Arc("s", "f", "e", when=f"{called} > 0", set=f"m = {called}")],
        register={"m": 0},
    )
    with xscl.Engine() as engine:
        engine.subscribe(made)
        found = engine.publish("S", values, id="d", timestamp=1) + engine.flush()
        found += engine.publish("S", {"a": 1}, id="e", timestamp=2) + engine.flush()
    assert [one.result for one in found] == [{"m": expected}]


@pytest.mark.parametrize("lateness", [0, None])
def test_a_document_that_is_two_events_is_ignored_as_both_or_as_none(
    lateness: float | None,
) -> None:
    arcs = [
        xscl.Arc("q0", "q1", "a", when="a.x = 1"),
        xscl.Arc("q1", "q1", "a", kind="ignore"),
        xscl.Arc("q1", "q2", "a", when="a.x = 2"),
    ]
    with xscl.Engine(lateness=lateness) as engine:
        engine.subscribe(xscl.Automaton("two", {"a": "S", "b": "S"}, ["q2"], arcs))
        found = [*engine.publish("S", {"x": 0}, id="0", timestamp=0)]
        for time, x in enumerate([1, 7, 2], 1):
            found += engine.publish("S", {"x": x}, id=str(time), timestamp=time)
        assert found + engine.flush() == []


@pytest.mark.parametrize("table", [[{"name": "a"}, {"name": "b"}], None])
def test_automata_of_one_text_have_arcs_of_their_own(
    table: list[dict[str, str]] | None, tmp_path: Path
) -> None:
    text = (
        'AUTOMATON {"events": {"e": "S"}, "final": ["q1"], '
        '"arcs": [{"name": "in", "from": "q0", "to": "q1", "event": "e"}]}'
    )
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state, lateness=0) as engine:
        if table is None:
            for name in "ab":
                engine.subscribe(text, name=name)
        else:
            engine.subscribe_many(text, table)
        engine.arcs("a").delete("in", at=10)
    for _ in range(2):
        with xscl.Engine(state) as engine:
            assert [(arc.name, arc.until) for arc in engine.arcs("a")] == [("in", 10.0)]
            assert [(arc.name, arc.until) for arc in engine.arcs("b")] == [("in", None)]
    with xscl.Engine(state) as engine:
        found = engine.publish("S", {}, id="d", timestamp=20) + engine.flush()
        assert [one.query for one in found] == ["b"]


ARC: dict[str, Any] = {"from": "a", "to": "b", "event": "e"}
WRONG: dict[str, dict[str, Any]] = {
    "/final": {"final": 5},
    "/final ": {"final": [["b"]]},
    "/events": {"events": ["S"]},
    "/arcs": {"arcs": None},
    "/by": {"by": 5},
    "/register": {"register": 5},
    "/register/n": {"register": {"n": 10**400}},
    "/register/n ": {"register": {"n": {"type": "number", "initial": 10**400}}},
    "/start": {"start": ["a"]},
    "/states": {"states": {"a": 1}},
    "/arcs/0/event": {"arcs": [{**ARC, "event": ["e"]}]},
    "/arcs/0/event ": {"arcs": [{**ARC, "event": 5}]},
    "/arcs/0/name": {"arcs": [{**ARC, "name": ["x"]}]},
    "/arcs/0/kind": {"arcs": [{**ARC, "kind": ["x"]}]},
    "/arcs/0/from": {"arcs": [{**ARC, "from": ["a"]}]},
    "/arcs/0/to": {"arcs": [{**ARC, "to": 7}]},
}


@pytest.mark.parametrize("pointer", WRONG)
def test_members_of_another_kind_are_refused_and_end_nothing(pointer: str, tmp_path: Path) -> None:
    whole = {"events": {"e": "S"}, "final": ["b"], "arcs": [ARC], **WRONG[pointer]}
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        with pytest.raises(ExceptionGroup) as caught:
            engine.load(f"AUTOMATON {json.dumps(whole)}")
        (error,) = caught.value.exceptions
        assert pointer.strip() in str(error)
        with pytest.raises(xscl.QueryError):
            xscl.Automaton.from_dict({"name": "q", **whole})
        engine.subscribe("S//a")


@pytest.mark.parametrize("member", ["event", "name", "kind", "from", "to"])
def test_an_arc_of_another_kind_is_a_line_that_is_skipped(member: str, tmp_path: Path) -> None:
    with xscl.Engine(tmp_path / "s.duckdb", on_skip=lambda error: None) as engine:
        engine.subscribe(xscl.Automaton("q", {"e": "S"}, ["b"], [xscl.Arc("a", "b", "e")]))
        line = {"automaton": "q", "insert": {**ARC, member: ["x"]}, "at": 5}
        assert len(engine.publish_many([line, {"id": "d", "timestamp": 6, "xml": "<a/>"}])) == 0
        assert engine.skipped.malformed == 1
        assert engine.documents == 1


def test_a_sub_query_goes_by_the_level_of_the_query_around_it() -> None:
    with xscl.Engine() as engine:
        for inner in (
            "SELECT <r>{a.k}</r> FROM EVENT SEQ(T a, !T b) WITHIN 5 CONSISTENCY middle",
            'SELECT * FROM AUTOMATON {"events": {"e": "S"}, "final": ["b"], '
            '"consistency": "middle", "arcs": [{"from": "a", "to": "b", "event": "e"}]}',
        ):
            with pytest.raises(xscl.QueryError, match="by the level of the query around it"):
                engine.subscribe(f"({inner})/*->x JOIN {{x = y}} U/json[k->y]")


def test_what_is_over_is_forgotten() -> None:
    made = xscl.Automaton(
        "unanswered",
        {"o": "Order", "n": "Answer"},
        ["late"],
        [
            xscl.Arc("begin", "open", "o"),
            xscl.Arc("open", "open", "o", kind="ignore"),
            xscl.Arc("open", "late", kind="end"),
        ],
        by=["number"],
        within="10 min",
        keep=True,
    )
    before = [one for one in gc.get_objects() if isinstance(one, AutomatonQuery)]
    engine = xscl.Engine(lateness=0)
    engine.subscribe(made)
    found = 0
    for number in range(200):
        document = {"number": str(number)}
        found += len(engine.publish("Order", document, timestamp=1_000.0 * number))
    assert found == 199
    others = {id(one) for one in before}
    every = [one for one in gc.get_objects() if isinstance(one, AutomatonQuery)]
    assert all(len(one._counts) < 5 for one in every if id(one) not in others)
    assert len(every) > len(before)


def test_a_life_that_ends_before_it_begins_is_refused_each_time() -> None:
    with xscl.Engine() as engine:
        query = engine.subscribe(xscl.Automaton("q", {"e": "S"}, ["b"], [xscl.Arc("a", "b", "e")]))
        new = xscl.Arc("a", "b", "e", when="event.x = 1", name="new")
        assert query.name == "q"
        engine.arcs("q").insert(new, at=10, until=20)
        with pytest.raises(xscl.QueryError, match="ends after its `at`"):
            engine.arcs("q").insert(new, at=30, until=25)


@pytest.mark.parametrize("depth", [500, 900, 5_000, 100_000])
def test_a_description_that_is_nested_deeply_is_refused_alone(depth: int, tmp_path: Path) -> None:
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        for end in ("", "]" * depth + "}"):
            text = 'AUTOMATON {"x": ' + "[" * depth + end
            with pytest.raises((xscl.QueryError, ExceptionGroup)):
                engine.load(f"-- name: deep\n{text};\n-- name: good\nS//a")
        assert engine.publish("S", "<a/>") is not None


@pytest.mark.parametrize("publish", [["p"], 5, "a b", "", "\x00q1(1)", {}])
def test_a_stream_is_a_name(publish: object, tmp_path: Path) -> None:
    whole = {"events": {"e": "S"}, "final": ["b"], "arcs": [ARC], "publish": publish}
    with xscl.Engine(tmp_path / "s.duckdb") as engine:
        with pytest.raises(ExceptionGroup, match="bad query") as caught:
            engine.load(f"AUTOMATON {json.dumps(whole)}")
        assert "/publish" in str(caught.value.exceptions[0])
        engine.subscribe("S//a")


WHOLE = json.dumps({"name": "n", "events": {"e": "S"}, "final": ["b"], "arcs": [ARC]})


@pytest.mark.parametrize(
    "behind",
    [
        "\n-- the end",
        " (: why :) PUBLISH p",
        " CONSISTENCY strong -- why\n",
        " (: a :) CONSISTENCY (: b :) middle(5 s) (: c :)",
        "(::)",
    ],
)
def test_comments_may_stand_behind_a_description(behind: str) -> None:
    with xscl.Engine() as engine:
        engine.load(f"AUTOMATON {WHOLE}{behind}")
        other = WHOLE.replace('"name": "n"', '"name": "m"')
        engine.load(f"-- name: m\nAUTOMATON {other}{behind}\n;\n-- name: other\nS//a")
        assert [one.name for one in engine.subscriptions] == ["n", "m", "other"]


def test_a_query_has_one_name() -> None:
    with xscl.Engine() as engine, pytest.raises(ExceptionGroup) as caught:
        engine.load(f"-- name: low\nAUTOMATON {WHOLE}")
    assert "the description names it `n`, and `-- name:` `low`" in str(caught.value.exceptions[0])
