"""Automata in an engine: streams that they publish, groups, counts, history, restarts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.drawn import seeded

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
