"""Automata that sleep while no event may begin a run find what they find awake."""

from __future__ import annotations

import random
from typing import Any

import pytest

from xscl import Automaton, Engine
from xscl.pattern_stage.automata.dormant import Dormant
from xscl.pattern_stage.processor import PatternStage

MANY = 12


def _automaton(value: int, by: bool) -> Automaton:
    after = (value + 1) % MANY
    arcs: list[dict[str, Any]] = [
        {
            "name": "first",
            "from": "a",
            "to": "b",
            "event": "e",
            "when": f"e.v = {value} AND e.u > 0",
        },
        {"from": "b", "to": "c", "event": "e", "when": f"e.v = {after}"},
    ]
    if value % 3 == 0:
        ignores = {"from": "b", "to": "b", "event": "e", "kind": "ignore"}
        arcs.append({**ignores, "when": f"e.v != {after}"})
    description = {"name": f"Q{value}", "events": {"e": "S"}, "within": "9 s", "arcs": arcs}
    return Automaton.from_dict(description | {"final": ["c"]} | ({"by": ["k"]} if by else {}))


def _found(seed: int) -> list[str]:
    draw, time, found = random.Random(seed), 0, list[str]()
    with Engine(lateness=0) as engine:
        for value in range(MANY):
            engine.subscribe(_automaton(value, draw.random() < 0.3))
        value = 0
        for batch in range(40):
            lines: list[dict[str, Any]] = []
            for _ in range(draw.randrange(1, 12)):
                time += draw.choice((0, 1, 1, 3))
                value = draw.choice((value, (value + 1) % MANY, draw.randrange(MANY)))
                event = {"v": value, "u": draw.choice((0, 1)), "k": draw.choice("xy")}
                lines.append({"stream": "S", "timestamp": time, "json": event})
            found += map(str, engine.publish_many(lines))
            if batch % 10 == 5:
                of = draw.randrange(MANY)
                arc = {"from": "a", "to": "b", "event": "e", "when": f"e.v = {(of + 1) % MANY}"}
                change = {"automaton": f"Q{of}", "replace": "first", "with": arc}
                found += map(str, engine.publish_many([change]))
        found += map(str, engine.flush())
    return found


@pytest.mark.parametrize("seed", range(5))
def test_those_that_sleep_find_what_others_do(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    slept, add = [], Dormant.add
    monkeypatch.setattr(Dormant, "add", lambda self, one: slept.append(one) or add(self, one))
    found = _found(seed)
    assert len({*slept}) == MANY
    monkeypatch.setattr(PatternStage, "_rest", lambda *_: False)
    assert len(found) > 20
    assert found == _found(seed)
