"""Automata whose events are numbered without gaps: what lies between two gaps is reported without
the watermark, and for good (docs/semantics.md#sequence)."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.drawn import seeded, times
from tests.oracle.automata import expected
from tests.pattern_stage.automata import drawing
from tests.xscl.engine.test_changing_arcs import PRICES
from xscl import Automaton, DocumentError, Engine, QueryError, Retraction

Line = dict[str, Any]

NEVER = float("inf")


def found(matches: list[Any]) -> set[Any]:
    assert not any(one.retracts for one in matches)
    assert len({one.id for one in matches}) == len(matches)
    return {(one.start, one.time, tuple(one.result.items())) for one in matches}


class Scene:
    """An automaton, the lines of its input as they come, and what they say."""

    def __init__(self, draw: random.Random, level: str) -> None:
        while True:
            self.description = drawing.description(draw) | {"sequence": "no", "consistency": level}
            with suppress(QueryError, ExceptionGroup):
                Automaton.from_dict(self.description)
                break
        self.arcs = [{"at": -NEVER, "until": NEVER, **arc} for arc in self.description["arcs"]]
        events = [drawing.event(draw) for _ in range(draw.randint(3, 12))]
        events.sort(key=lambda one: one[0])
        numbers = defaultdict[Any, int](lambda: draw.randint(-1, 2))
        self.lines: list[Line] = []
        for place, (time, type_, attributes) in enumerate(events):
            part = self.part(attributes)
            numbers[part] += 1
            if draw.random() < 0.05:
                # It is lost, and its number stays a gap.
                continue
            line = {"stream": type_.upper(), "id": f"d{place}", "timestamp": time}
            self.lines.append(line | {"json": attributes | {"no": numbers[part]}})
        self.coming = self.shuffled(draw)

    def part(self, attributes: Line) -> object:
        return [attributes.get(name) for name in self.description.get("by", ())].__repr__()

    def shuffled(self, draw: random.Random) -> list[Line]:
        """The lines nearly in order, and how far time has come for certain."""
        late = draw.choice([0, 1, 3, 9])
        order = sorted(range(len(self.lines)), key=lambda at: at + draw.uniform(0, late))
        coming = list[Line]()
        for at, place in enumerate(order):
            coming.append(self.lines[place])
            left = [self.lines[one]["timestamp"] for one in order[at + 1 :]]
            if left and draw.random() < 0.2:
                coming.append({"advance": min(left) - draw.choice([0, 0, 1])})
        return coming

    def matches(self, lines: list[Line]) -> set[Any]:
        events = [
            (float(one["timestamp"]), one["stream"].lower(), one["json"])
            for one in lines
            if "json" in one
        ]
        return expected(self.description, self.arcs, events)

    def between_gaps(self, lines: list[Line]) -> Iterator[list[Line]]:
        """The events of each part that have come, by epochs, cut where one has gaps in its numbers
        or the next does not go on with its last one."""
        parts = defaultdict[object, dict[float, list[Line]]](lambda: defaultdict(list))
        for line in lines:
            if "json" in line:
                parts[self.part(line["json"])][line["timestamp"]].append(line)
        for epochs in parts.values():
            some, following = list[Line](), None
            for _, epoch in sorted(epochs.items()):
                numbers = sorted(line["json"]["no"] for line in epoch)
                if numbers[0] != following and some:
                    yield some
                    some = []
                some = [*some, *epoch]
                gapless = numbers == [*range(numbers[0], numbers[-1] + 1)]
                following = numbers[-1] + 1 if gapless else None
            yield some


@pytest.mark.drawn
@pytest.mark.parametrize("level", ["strong", "middle"])
def test_what_lies_between_gaps_is_reported_for_good(level: str, tmp_path: Path) -> None:
    draw, early = seeded("numbered events", level), 0
    for place in range(times(80)):
        scene = Scene(draw, level)
        right = scene.matches(scene.lines)
        kinds = {arc.get("kind") for arc in scene.arcs}
        timed, epsilon = not kinds.isdisjoint(["end", "start"]), "epsilon" in kinds
        state = tmp_path / f"{place}" if draw.random() < 0.2 else None
        engine = Engine(state=state)
        engine.subscribe(Automaton.from_dict(scene.description))
        reported, mark, at = set[Any](), -NEVER, 0
        while at < len(scene.coming):
            size = draw.choice([1, 1, 2, len(scene.coming)])
            some = scene.coming[at : at + size]
            at += size
            new = found([*engine.publish_many(some)])
            assert reported.isdisjoint(new)
            reported |= new
            here = json.dumps([scene.description, scene.coming, at, sorted(map(str, right))])
            assert reported <= right, here
            mark = max([mark, *(one["advance"] for one in some if "advance" in one)])
            sure = {one for one in right if one[1] < mark}
            for fragment in () if timed else scene.between_gaps(scene.coming[:at]):
                # More events at its last time may break what an ε-arc is to go on with.
                last = fragment[-1]["timestamp"] if epsilon else NEVER
                sure |= {one for one in scene.matches(fragment) if one[1] < last}
            assert sure <= reported, here
            early += any(one[1] > mark for one in reported)
            if state is not None and draw.random() < 0.5:
                engine.close()
                engine = Engine(state=state)
        reported |= found([*engine.flush()])
        assert reported == right, json.dumps([scene.description, scene.coming])
        engine.close()
    assert early


UP = replace(PRICES, sequence="n", consistency="strong")


def price(time: float, number: int | None, p: float = 1) -> Line:
    members = {"p": p} if number is None else {"p": p, "n": number}
    return {"stream": "S", "id": f"d{time}", "timestamp": time, "json": members}


def times_of(matches: Any) -> list[float]:
    return [one.time for one in matches]


QUIET = Automaton.from_dict(
    {
        "name": "quiet",
        "events": {"e": "S"},
        "register": {"c": {"type": "number", "initial": 0}},
        "arcs": [
            {"name": "a", "from": "s", "to": "one", "event": "e", "when": "e.p = 1"},
            {
                "name": "small",
                "from": "one",
                "to": "one",
                "kind": "ignore",
                "event": "e",
                "when": "e.p < 9",
            },
            {"name": "after", "from": "one", "to": "two", "kind": "epsilon", "when": "c = 0"},
        ],
        "final": ["two"],
        "start": "s",
        "sequence": "n",
        "consistency": "strong",
    }
)


@pytest.mark.parametrize("next_one", [price(3, 3, p=5), {"advance": 2.5}])
def test_an_arc_without_an_event_waits_for_all_events_of_an_ignored_time(next_one: Line) -> None:
    for broken in (False, True):
        with Engine() as engine:
            engine.subscribe(QUIET)
            # It enters the state by an event, and then by each that it ignores.
            assert times_of(engine.publish_many([price(1, 1)])) == [1]
            assert times_of(engine.publish_many([price(2, 2, p=5)])) == []
            if broken:
                more = price(2, 3, p=9) | {"id": "more"}
                assert times_of(engine.publish_many([more])) == []
                next_one = next_one | ({"json": {"n": 4, "p": 5}} if "json" in next_one else {})
            assert times_of(engine.publish_many([next_one])) == ([] if broken else [2])
            assert times_of(engine.flush()) == ([3] if "json" in next_one and not broken else [])


def test_events_without_a_number_wait_for_the_watermark() -> None:
    with Engine() as engine:
        engine.subscribe(UP)
        assert times_of(engine.publish_many([price(1, 1), price(2, None), price(3, 2)])) == []
        assert times_of(engine.publish_many([price(4, 3)])) == [4]
        assert times_of(engine.publish_many([{"advance": 3}])) == [2, 3]


def test_what_breaks_the_promise_takes_nothing_back() -> None:
    with Engine() as engine:
        engine.subscribe(UP)
        assert times_of(engine.publish_many([price(1, 1), price(3, 2)])) == [3]
        # It was to have a number between 1 and 2.
        assert times_of(engine.publish_many([price(2, 7)])) == []
        found = engine.publish_many([{"advance": 9}])
        assert [(one.start, one.time) for one in found] == [(1, 2), (2, 3)]
        assert not any(isinstance(one, Retraction) for one in found)


def test_by_default_all_wait_for_the_watermark_and_arcs_may_change_what_is_after_it() -> None:
    with Engine() as engine:
        engine.subscribe(replace(UP, consistency=None))
        assert times_of(engine.publish_many([price(1, 1), price(3, 2)])) == []
        engine.arcs("up").delete("a2", at=2)
        assert times_of(engine.publish_many([price(4, 3), {"advance": 9}])) == []


def test_a_revisable_stream_waits_for_the_watermark() -> None:
    with Engine(revisable={"S"}) as engine:
        engine.subscribe(UP)
        assert times_of(engine.publish_many([price(1, 1), price(2, 2)])) == []
        assert times_of(engine.publish_many([{"advance": 2}])) == [2]


def test_arcs_change_after_what_is_reported_for_good() -> None:
    with Engine() as engine:
        engine.subscribe(UP)
        engine.publish_many([price(1, 1), price(3, 2)])
        with pytest.raises(QueryError, match="for good"):
            engine.arcs("up").delete("a2", at=2)
        assert times_of(engine.publish_many([price(4, 3)])) == [4]
        engine.arcs("up").delete("a2", at=5)
        assert times_of(engine.publish_many([price(5, 4)])) == []
        refused = list[DocumentError]()
        lines = [price(6, 5), {"automaton": "up", "delete": "a0", "at": 5.5}]
        with Engine(on_skip=refused.append) as other:
            other.subscribe(UP)
            other.publish_many(lines)
        assert len(refused) == 1
