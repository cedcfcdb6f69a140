"""The queries Q1, Q2 and Q3 of the automata's paper, and its synthetic prices, in order or not."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, NamedTuple

from xscl.language.automata.description import Automaton
from xscl.pattern_stage.automata.query import AutomatonQuery
from xscl.pattern_stage.layouts import Layouts
from xscl.pattern_stage.processor import PatternStage
from xscl.pattern_stage.values.terms import Attribute, Form, Slot
from xscl.patterns.compile_automaton import compile_automaton

__all__ = [
    "MILLISECOND",
    "Arrival",
    "can",
    "disordered",
    "prices",
    "q1",
    "q2",
    "q3",
    "query",
    "staged",
    "ticks",
    "v_of",
]

MILLISECOND = 1_000

_SLOTS = ("symbol", "price", "change")


class Arrival(NamedTuple):
    """An event as it comes, and the watermark of then, as far as no event is owed."""

    event: tuple[Any, ...]
    watermark: int


def prices(many: int, *, rises: float = 0.5, ignorable: float = 0.0, seed: int = 7) -> list[Any]:
    """Events, one a millisecond: the price goes up with a probability, and a share of the events
    is of the symbol "-", which no query takes."""
    draw, price, found = random.Random(seed), 100.0, list[Any]()
    for number in range(many):
        time = number * MILLISECOND
        if draw.random() < ignorable:
            found.append((time, time, number, "-", price, float("nan")))
            continue
        size = -1.0
        while size <= 0:
            size = draw.gauss(0.7, 0.3)
        change = size if draw.random() < rises else -size
        if price + change < 1:
            change = size
        price += change
        found.append((time, time, number, "S", price, change))
    return found


def disordered(
    events: list[Any], share: float, late: int = 1_000, every: int = 500, seed: int = 11
) -> list[Arrival]:
    """The events, of which a share comes up to `late` events later; the watermark moves every so
    many events, to the oldest one that is owed."""
    draw = random.Random(seed)
    places = [
        at + (draw.randint(1, late) if draw.random() < share else 0) for at in range(len(events))
    ]
    order = sorted(range(len(events)), key=lambda at: (places[at], at))
    owed = [0] * len(order)
    least = len(events)
    for place in range(len(order) - 1, -1, -1):
        owed[place] = least
        least = min(least, order[place])
    arrivals, watermark = list[Arrival](), -1
    for place, at in enumerate(order):
        if place % every == every - 1 and owed[place] < len(events):
            watermark = events[owed[place]][1]
        arrivals.append(Arrival(events[at], watermark))
    return arrivals


def query(automaton: Automaton) -> AutomatonQuery:
    """An automaton as the pattern stage runs it, whose events are those of `prices`."""
    layouts = Layouts()
    for name in _SLOTS:
        form = Form.TEXT if name == "symbol" else Form.NUMBER
        layouts.place((0,), Slot(Attribute((name,)), form))
    of = compile_automaton(automaton)
    return AutomatonQuery(of.program, of.arcs, len(of.states), of.final, [0], layouts)


def q1(
    ignoring: bool = False,
    by: Iterable[str] = (),
    *,
    patterns: int = 1,
    within: str = "500 ms",
    anchors: bool = True,
) -> Automaton:
    """A drop, then so many V's with as many upticks as downticks in all.  Without `anchors` each
    run is asked whether it ignores an event."""
    down, up = "e.change < 0", "e.change > 0"
    last = f"{up} AND r1 = 1 AND r2 = {patterns - 1}"
    arcs = [
        _arc("q0", "q1", "e.change < -0.25", "r1 = 0, r2 = 0"),
        _arc("q1", "q1", down, "r1 = r1 + 1"),
        _arc("q1", "q2", down, "r1 = r1 + 1"),
        _arc("q2", "q2", up, "r1 = r1 - 1"),
        _arc("q2", "q1", up, "r1 = r1 - 1, r2 = r2 + 1"),
        _arc("q2", "q3", last, "r1 = r1 - 1, r2 = r2 + 1"),
    ]
    passing = () if not ignoring else ("q1", "q2")
    asking = "" if anchors else "r1 < 1000000"
    register = {"r1": 0, "r2": 0}
    return _automaton("Q1", arcs, passing, "q3", register, by, within=within, asking=asking)


def can(patterns: int, within: str) -> Automaton:
    """Q1 by two states, as in the paper's figure 4: which state a run is in is in the register."""
    down, up = "e.change < 0 AND state = 1", "e.change > 0 AND state = 2"
    arcs = [
        _arc("q0", "q0", "e.change < -0.25 AND state = 0", "state = 1"),
        _arc("q0", "q0", down, "r1 = r1 + 1"),
        _arc("q0", "q0", down, "r1 = r1 + 1, state = 2"),
        _arc("q0", "q0", up, "r1 = r1 - 1"),
        _arc("q0", "q0", up, "r1 = r1 - 1, r2 = r2 + 1, state = 1"),
        _arc("q0", "q1", f"{up} AND r1 = 1 AND r2 = {patterns - 1}", "r1 = 0, r2 = 0, state = 3"),
        _arc("q0", "q0", "e.symbol = '-' AND state > 0") | {"kind": "ignore"},
    ]
    return _automaton("CAN", arcs, (), "q1", {"state": 0, "r1": 0, "r2": 0}, within=within)


def q2() -> Automaton:
    """A drop, then V's until the price is back where it was before the drop."""
    arcs = [
        _arc("q0", "q1", "e.change < -0.25", "p = e.price - e.change, k = 0"),
        _arc("q1", "q1", "e.change < 0"),
        _arc("q1", "q2", "e.change > 0"),
        _arc("q2", "q2", "e.change > 0 AND e.price < p"),
        _arc("q2", "q1", "e.change < 0", "k = k + 1"),
        _arc("q2", "q3", "e.change > 0 AND e.price >= p", "k = k + 1"),
    ]
    return _automaton("Q2", arcs, (), "q3", {"p": 0, "k": 0})


def ticks(seed: int = 1) -> list[bool]:
    """The eight ticks of Q3, up or not."""
    draw = random.Random(seed)
    return [draw.random() < 0.5 for _ in range(8)]


def q3(up: Iterable[bool], name: str = "Q3") -> Automaton:
    """Ticks in a row."""
    signs = [">" if one else "<" for one in up]
    arcs = [_arc(f"s{at}", f"s{at + 1}", f"e.change {sign} 0") for at, sign in enumerate(signs)]
    return _automaton(name, arcs, (), f"s{len(signs)}", {})


def v_of(symbol: str, ignoring: bool) -> Automaton:
    """A downtick and an uptick of a symbol, next to each other or among those of others."""
    name = f"V{symbol}"
    own, other = f"e.symbol = '{symbol}'", f"e.symbol != '{symbol}'"
    arcs = [
        _arc("q0", "q1", f"{own} AND e.change < 0"),
        _arc("q1", "q2", f"{own} AND e.change > 0"),
    ]
    passing = [_arc("q1", "q1", other) | {"kind": "ignore"}] if ignoring else []
    return _automaton(name, arcs + passing, (), "q2", {})


def staged(automata: Iterable[Automaton], events: Iterable[Any]) -> tuple[PatternStage, list[Any]]:
    """Automata in one stage, as an engine has them, and the events of `prices` in its layout."""
    stage = PatternStage()
    for number, one in enumerate(automata, 1):
        compile_automaton(one).add_to(stage, number, [[0]], 0)
    places = [
        None if slot is None else 3 + _SLOTS.index(slot.attribute.steps[0])
        for slot in stage.slots(0)
    ]
    return stage, [
        (0, (*event[:3], *(None if place is None else event[place] for place in places)))
        for event in events
    ]


def _automaton(
    name: str,
    arcs: list[dict[str, Any]],
    ignoring: Iterable[str],
    final: str,
    register: dict[str, Any],
    by: Iterable[str] = (),
    *,
    within: str = "500 ms",
    asking: str = "",
) -> Automaton:
    fence = " AND ".join(["e.symbol = '-'", *([asking] if asking else [])])
    passing = [_arc(state, state, fence) | {"kind": "ignore"} for state in ignoring]
    return Automaton.from_dict(
        {
            "name": name,
            "events": {"e": "S"},
            "start": arcs[0]["from"],
            "final": [final],
            "within": within,
            "arcs": arcs + passing,
        }
        | ({"register": register} if register else {})
        | ({"by": [*by]} if by else {})
    )


def _arc(source: str, target: str, when: str, transfer: str = "") -> dict[str, Any]:
    arc = {"from": source, "to": target, "event": "e", "when": when}
    return arc | ({"set": transfer} if transfer else {})
