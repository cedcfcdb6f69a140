"""`why` of automata without documents: how far the runs over those held come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.xscl.patterns.test_automata import FALLS, events
from xscl.why import AutomatonFunnel

GOLDEN = Path(__file__).with_name("golden") / "counts.txt"


def counted(some: list[dict[str, Any]]) -> AutomatonFunnel:
    with xscl.Engine(lateness=1000) as engine:
        engine.subscribe(xscl.Automaton.from_dict(FALLS))
        engine.publish_many(some)
        answer = engine.why("falls")
        assert isinstance(answer, AutomatonFunnel)
        return answer


def changes(*some: int) -> list[dict[str, Any]]:
    return [
        {"stream": "S", "id": f"d{at}", "timestamp": at, "json": {"of": "x", "change": change}}
        for at, change in enumerate(some)
    ]


def test_the_text_reads_well() -> None:
    nameless = {"stream": "S", "id": "k", "timestamp": 3, "json": {"change": 1}}
    assert str(counted([*changes(1, -1, -2, 3, 0, -1, -1, 1), nameless])) == GOLDEN.read_text(
        "utf-8"
    )


@pytest.mark.parametrize("number", range(3))
def test_matches_are_those_of_the_engine(number: int) -> None:
    with xscl.Engine() as engine:
        engine.subscribe(xscl.Automaton.from_dict(FALLS))
        matches = [*engine.publish_many(events(number)), *engine.flush()]
    answer = counted(events(number))
    assert (answer.documents, answer.outside, answer.matches) == (40, 0, len(matches))
    assert [one.events for one in answer.types] == [40]


def test_json_says_which_condition_fails_how_often() -> None:
    answer: Any = json.loads(json.dumps(counted(changes(1, -1, 0)).to_dict()))
    first, *_ = answer["arcs"]
    assert (first["tried"], first["passed"], first["failed"]) == (3, 1, [["e.change < 0", 2]])
    states = {one["name"]: (one["reached"], one["ended"]) for one in answer["states"]}
    assert states == {"q0": (0, 0), "q1": (1, 1), "q2": (0, 0), "q3": (0, 0)}


def test_of_many_documents_the_newest_are_counted() -> None:
    assert counted(changes(*[1] * 350)).documents == 300
