"""Drawn automata over drawn orders of arrival, retractions and arcs that come and go, against their
definition."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest

from tests.drawn import seeded, times, turn
from tests.oracle.automata import expected
from tests.pattern_stage.automata import drawing
from tests.pattern_stage.automata.drawing import TYPES
from xscl.errors import QueryError
from xscl.language.automata.description import Arc, Automaton
from xscl.pattern_stage.automata.query import AutomatonQuery
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.values.terms import Attribute, Form, Slot
from xscl.patterns.compile_automaton import compile_arc, compile_automaton
from xscl.xpath_stage import double_of


class _Fed:
    """An automaton that is fed with attributes by name."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.automaton = Automaton.from_dict(description)
        self.compiled = compile_automaton(self.automaton)
        self.layouts = Layouts()
        for name in ("k", "v", "t", "w"):
            for form in (Form.TEXT, Form.NUMBER):
                # Arcs that come later read of all events what they want to.
                self.layouts.place((0, 1), Slot(Attribute((name,)), form))
        of = self.compiled
        self.query = AutomatonQuery(
            of.program, of.arcs, len(of.states), of.final, range(len(TYPES)), self.layouts
        )
        self.found: dict[Any, int] = {}

    def event(self, number: int, one: tuple[float, str, dict[str, Any]]) -> tuple[int, Any]:
        type_ = TYPES.index(one[1])
        values: list[Any] = []
        for slot in self.layouts.slots(type_):
            text = None if slot is None else one[2].get("/".join(slot.attribute.steps))
            if text is not None and slot is not None and slot.form is Form.NUMBER:
                cast = double_of(text)
                values.append(float("nan") if cast is None else cast)
            else:
                values.append(text)
        return type_, (int(one[0] * 1_000_000), int(one[0] * 1_000_000), number, *values)

    def settle(self) -> None:
        """Net changes, each of which makes sense."""
        for key, many in self.query.changes.items():
            self.found[key] = self.found.get(key, 0) + many
            assert self.found[key] in (0, 1), key
        self.query.changes.clear()

    def matches(self) -> set[Any]:
        """As the definition says them."""
        names = [*self.automaton.by, *self.automaton.register]
        return {
            (start / 1_000_000, time / 1_000_000, tuple(zip(names, register, strict=True)))
            for (start, time, register, _), many in self.found.items()
            if many
        }


@pytest.mark.drawn
@pytest.mark.parametrize("number", turn(range(10)))
def test_all_orders_give_what_the_definition_says(number: int) -> None:
    draw = seeded("automata", number)
    for _ in range(times(400)):
        _compare(draw)


def _fed(draw: random.Random) -> tuple[dict[str, Any], _Fed]:
    while True:
        description = drawing.description(draw)
        with suppress(QueryError, ExceptionGroup):
            return description, _Fed(description)


def _compare(draw: random.Random) -> None:
    description, fed = _fed(draw)
    arcs = [{**arc} for arc in description["arcs"]]
    events = [drawing.event(draw) for _ in range(draw.randint(1, 9))]
    if draw.random() < 0.3:
        events.sort(key=lambda one: one[0])
    standing: dict[int, Any] = {}
    newest, watermark = 0.0, -1.0
    for number, one in enumerate(events):
        if one[0] < watermark:
            continue
        if draw.random() < 0.2:
            watermark = max(watermark, one[0] - draw.randint(0, 3))
            fed.query.settle(watermark * 1_000_000)
            fed.query.evict(watermark * 1_000_000)
        newest = max(newest, one[0])
        fed.query.settle(newest * 1_000_000)
        type_, event = fed.event(number, one)
        fed.query.take(event[0], [(type_, event)])
        standing[number] = one, type_, event
        fed.settle()
        if draw.random() < 0.2:
            gone = draw.choice([*standing])
            if standing[gone][0][0] > watermark:
                _, type_, event = standing.pop(gone)
                fed.query.retract(event[0], type_, event)
                fed.settle()
        if draw.random() < 0.15:
            since = draw.randint(max(0, int(watermark) + 1), 9)
            if draw.random() < 0.5:
                victim = draw.choice(arcs)
                if victim.get("at", float("-inf")) < since < victim.get("until", float("inf")):
                    victim["until"] = since
            else:
                arc = drawing.arc(draw, f"b{number}", "within" in description)
                if arc.get("kind") != "start":
                    arcs.append(arc | {"at": since})
            made = [Arc.from_dict(arc) for arc in arcs]
            lives = [
                (
                    (arc.get("at", float("-inf")) * 1e6, arc.get("until", float("inf")) * 1e6),
                    compile_arc(fed.automaton, one, fed.compiled.states),
                )
                for arc, one in zip(arcs, made, strict=True)
            ]
            fed.query.rearrange(lives, since * 1e6)
            fed.query.catch_up()
            fed.settle()
    fed.query.settle(float("inf"))
    fed.settle()
    stand = [one for one, _, _ in standing.values()]
    found, right = fed.matches(), expected(description, arcs, stand)
    assert found == right, (description, arcs, stand, found - right, right - found)


@pytest.mark.drawn
@pytest.mark.parametrize("number", turn(range(5)))
def test_batches_in_order_give_what_the_definition_says(number: int) -> None:
    draw = seeded("batches of automata", number)
    for _ in range(times(400)):
        description, fed = _fed(draw)
        events = [drawing.event(draw) for _ in range(draw.randint(1, 25))]
        events.sort(key=lambda one: one[0])
        spread = draw.choice([1, 3])
        events = [(time * spread + at // spread, *one) for at, (time, *one) in enumerate(events)]
        at = 0
        while at < len(events):
            some = range(at, min(at + draw.randint(1, 9), len(events)))
            at = some.stop
            watermark = events[at - 1][0] * 1_000_000
            forget = draw.random() < 0.7
            fed.query.take_all([fed.event(one, events[one]) for one in some], forget=forget)
            if draw.random() < 0.5:
                fed.query.settle(watermark)
            if forget:
                fed.query.evict(watermark)
            fed.settle()
        fed.query.settle(float("inf"))
        fed.settle()
        found, right = fed.matches(), expected(description, description["arcs"], events)
        assert found == right, (description, events, found - right, right - found)


def test_a_late_event_ends_runs_behind_which_others_are_found() -> None:
    steps = [{"from": f"q{n}", "to": f"q{n + 1}", "event": "a"} for n in range(2)]
    fed = _Fed({"name": "q", "events": {"a": "A", "b": "B"}, "final": ["q2"], "arcs": steps})
    found = []
    for number, (time, type_) in enumerate([(1.0, "a"), (3.0, "a"), (2.0, "b")]):
        kind, event = fed.event(number, (time, type_, {}))
        fed.query.take(event[1], [(kind, event)])
        fed.settle()
        found.append(len(fed.matches()))
    assert found == [0, 1, 0]


def test_a_run_that_is_there_anyway_enters_by_a_late_event() -> None:
    """One that has ignored an epoch is equal to one that enters its state there."""
    arcs = [
        {"from": "q0", "to": "q1", "event": "*", "set": "n = 0 - n"},
        {"from": "q0", "to": "q0", "event": "b"},
        {"from": "q1", "to": "q1", "event": "*", "kind": "ignore"},
    ]
    events = {"a": "A", "b": "B"}
    fed = _Fed({"name": "q", "events": events, "final": ["q1"], "register": {"n": 1}, "arcs": arcs})
    for number, one in enumerate([(7.0, "a", {}), (8.0, "a", {}), (7.0, "b", {})]):
        fed.query.take(int(one[0] * 1e6), [fed.event(number, one)])
    fed.settle()
    assert {key[:2] for key in fed.matches()} == {(7, 7), (7, 8), (8, 8)}


@pytest.mark.parametrize("ignored", [["v = 1"], ["v = 1", "n = 1"]])
@pytest.mark.parametrize("values", ["12", "21"])
def test_an_epoch_is_ignored_where_all_of_its_events_are(ignored: list[str], values: str) -> None:
    passing: dict[str, Any] = {"from": "q1", "to": "q1", "event": "a", "kind": "ignore"}
    fence = " AND ".join(ignored).replace("v", "a.v")
    arcs = [
        {"from": "q0", "to": "q1", "event": "b"},
        passing | {"when": fence},
        {"from": "q1", "to": "q2", "event": "b"},
    ]
    events = {"a": "A", "b": "B"}
    fed = _Fed({"name": "q", "events": events, "final": ["q2"], "register": {"n": 1}, "arcs": arcs})
    between = [(2.0, "a", {"v": value}) for value in values]
    for number, one in enumerate([(1.0, "b", {}), *between, (3.0, "b", {})]):
        fed.query.take(int(one[0] * 1e6), [fed.event(number, one)])
    fed.settle()
    assert not fed.matches()
