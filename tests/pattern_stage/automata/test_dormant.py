"""Automata that are dormant while no event changes them find what they find active."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.drawn import seeded, times, turn
from xscl import Automaton, Engine
from xscl.pattern_stage.automata.dormant import Dormant
from xscl.pattern_stage.automata.in_order import InOrder

MANY = 12

STREAMS = {"e": "S", "f": "T"}


def _automaton(draw: random.Random, value: int) -> Automaton:
    """Of one value of many, which ignores nothing, other values, or all of a type."""
    after = (value + 1) % MANY
    first = draw.choice(["e.u > 0", "e.w != 'b'", f"e.x >= {value}", "e.u = 1 AND e.x < 5"])
    then = draw.choice([f"e.v = {after}", f"e.x > {after}", f"e.v = {value} AND e.w = 'a'"])
    arcs: list[dict[str, Any]] = [
        {"name": "first", "from": "a", "to": "b", "event": "e", "when": f"e.v = {value}"},
        {"from": "b", "to": "c", "event": "e", "when": then},
        {"from": "c", "to": "d", "event": draw.choice("ef"), "when": "event.v = 1"},
    ]
    if draw.random() < 0.7:
        arcs[0]["when"] += f" AND {first}"
    ignored = [None, f"e.v != {after}", f"e.v = {value}", f"e.x < {after}", "n = 0", "e.w != 'a'"]
    for state in "bc":
        if draw.random() < 0.7:
            passing = {"from": state, "to": state, "event": "e", "kind": "ignore"}
            fence = draw.choice(ignored)
            arcs.append(passing | ({"when": fence} if fence else {}))
            if draw.random() < 0.6:
                arcs.append({"from": state, "to": state, "event": "f", "kind": "ignore"})
    if draw.random() < 0.15:
        arcs.append({"from": "b", "to": "c", "kind": "epsilon", "when": "n = 0"})
    of = {"name": f"Q{value}", "events": STREAMS, "arcs": arcs, "final": ["c", "d"]}
    of |= {"register": {"n": 0}}
    of |= {"within": "9 s"} if draw.random() < 0.8 else {}
    return Automaton.from_dict(of | ({"by": ["k"]} if draw.random() < 0.3 else {}))


def _found(draw: random.Random) -> list[str]:
    """What is found, with changes of arcs, queries that come and go, and ends of input between."""
    time, found, value = 0, list[str](), 0
    with Engine(lateness=draw.choice([0, 2])) as engine:
        for number in range(MANY - 2):
            engine.subscribe(_automaton(draw, number))
        for batch in range(30):
            lines: list[dict[str, Any]] = []
            for _ in range(draw.randrange(1, 12)):
                time += draw.choice((0, 0, 1, 1, 3))
                value = draw.choice((value, (value + 1) % MANY, draw.randrange(MANY)))
                event = {"v": value, "u": draw.choice((0, 1)), "k": draw.choice("xy")}
                event |= {"x": draw.randrange(9), "w": draw.choice("ab")}
                if draw.random() < 0.1:
                    del event[draw.choice("vukxw")]
                stream = draw.choice("SSST")
                lines.append({"stream": stream, "timestamp": time, "json": event})
            found += map(str, engine.publish_many(lines))
            if batch % 10 == 5:
                of = draw.randrange(MANY - 2)
                arc = {"from": "a", "to": "b", "event": "e", "when": f"e.v = {(of + 1) % MANY}"}
                change = {"automaton": f"Q{of}", "replace": "first", "with": arc}
                found += map(str, engine.publish_many([change]))
            if batch in (8, 16):
                engine.subscribe(_automaton(draw, MANY - 2 + batch // 16))
            if draw.random() < 0.1:
                found += map(str, engine.flush())
            if draw.random() < 0.1:
                found.append(str(engine.stats()["patterns"]["waiting"]))
        found += map(str, engine.flush())
    return found


_DORMANT: list[object] = []


def _noted(self: Dormant, group: Any, add: Any = Dormant.add) -> Any:
    _DORMANT.append(group)
    return add(self, group)


@pytest.mark.drawn
@pytest.mark.parametrize("number", turn(range(5)))
def test_dormant_automata_find_what_active_ones_do(number: int) -> None:
    drawn = seeded("dormant", number)
    for _ in range(times(4)):
        seed = drawn.random()
        _DORMANT.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Dormant, "add", _noted)
            found = _found(random.Random(seed))
        assert _DORMANT
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(InOrder, "_suspend", lambda *_: False)
            assert sorted(found) == sorted(_found(random.Random(seed))), seed


def test_many_with_ignorable_arcs_are_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    from xscl.pattern_stage.automata.query import AutomatonQuery

    arcs = [
        {"from": "a", "to": "b", "event": "e", "when": "e.k = '{}' AND e.v = 1"},
        {"from": "b", "to": "c", "event": "e", "when": "e.k = '{}' AND e.v = 2"},
        {"from": "b", "to": "b", "event": "e", "kind": "ignore", "when": "e.k != '{}'"},
    ]
    took = 0
    for name in ("take", "take_all", "take_next"):
        there = getattr(AutomatonQuery, name)

        def counted(self: Any, *of: Any, there: Any = there, **named: Any) -> Any:
            nonlocal took
            took += 1
            return there(self, *of, **named)

        monkeypatch.setattr(AutomatonQuery, name, counted)
    with Engine(lateness=0) as engine:
        for number in range(50):
            mine = [one | {"when": one["when"].format(number)} for one in arcs]
            of = {"name": f"Q{number}", "events": {"e": "S"}, "final": ["c"], "arcs": mine}
            engine.subscribe(Automaton.from_dict(of))
        time = 0

        def events(value: int) -> list[dict[str, Any]]:
            nonlocal time
            time += 50
            return [
                {"stream": "S", "timestamp": time + one, "json": {"k": str(one), "v": value}}
                for one in range(50)
            ]

        engine.publish_many(events(0))
        engine.publish_many(events(1))
        took = 0
        found = engine.publish_many(events(2))
        assert len(found) + len(engine.flush()) == 50
    assert took < 200
