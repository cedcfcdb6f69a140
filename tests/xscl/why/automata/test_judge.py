"""`why` of automata: it agrees with the shared cases and the engine on what matches, and says what
failed, which document ended a run and what withholds a match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.shared import SHARED, needs
from tests.xscl.patterns.test_automata import FALLS, events
from xscl.why import AutomatonWhy

CASES = SHARED / "conformance" / "pattern-afa.jsonl"
GOLDEN = Path(__file__).with_name("golden")


def asked(engine: xscl.Engine, name: str, *documents: Any) -> Any:
    """The answer as JSON."""
    answer = engine.why(name, *documents)
    assert isinstance(answer, AutomatonWhy)
    return json.loads(json.dumps(answer.to_dict()))


def found(answer: Any) -> set[str]:
    return {
        said(one["start"], one["time"], {**part["by"], **one["register"]})
        for part in answer["parts"]
        for one in part["matches"]
    }


def said(start: float, time: float, result: Any) -> str:
    return json.dumps([float(start), float(time), result], sort_keys=True)


@needs("conformance")
def test_it_agrees_with_the_shared_cases() -> None:
    judged = 0
    for case in map(json.loads, CASES.read_text("utf-8").splitlines()):
        if case.get("dropped") or not all("json" in one for one in case["events"]):
            continue
        for automaton in case["automata"]:
            made = xscl.Automaton.from_dict(automaton)
            if {*made.events.values()} - {one["stream"] for one in case["events"]}:
                continue  # reads what another one publishes
            with xscl.Engine() as engine:
                engine.subscribe(made)
                answer = asked(engine, made.name, *case["events"])
            of = [one for one in case["expected"] if one["query"] == made.name]
            expected = {said(one["start"], one["time"], one["result"]) for one in of}
            assert found(answer) == expected, case["case"]
            judged += 1
    assert judged > 15


@pytest.mark.parametrize("number", range(3))
def test_it_agrees_with_the_engine(number: int) -> None:
    some = events(number)
    with xscl.Engine() as engine:
        engine.subscribe(xscl.Automaton.from_dict(FALLS))
        matches: list[Any] = [*engine.publish_many(some), *engine.flush()]
        answer = asked(engine, "falls", *some)
    assert matches
    assert found(answer) == {said(one.start, one.time, one.result) for one in matches}


CHANGES = [1, -1, -2, 3, 4, 0]


def envelopes() -> list[dict[str, Any]]:
    return [
        {"stream": "S", "id": f"d{at}", "timestamp": at, "json": {"of": "x", "change": change}}
        for at, change in enumerate(CHANGES)
    ]


@pytest.fixture
def engine() -> Any:
    with xscl.Engine(lateness=5) as engine:
        engine.subscribe(xscl.Automaton.from_dict(FALLS))
        engine.publish_many(envelopes())
        yield engine


@pytest.mark.parametrize(
    ("name", "ids"),
    [("withheld", ["d3", "d1", "d2"]), ("ended", ["d1", "d2", "d5"]), ("not-begun", ["d0"])],
)
def test_the_text_reads_well(engine: xscl.Engine, name: str, ids: list[str]) -> None:
    assert str(engine.why("falls", *ids)) == (GOLDEN / f"{name}.txt").read_text("utf-8")


def test_json_names_the_first_conjunct_that_fails(engine: xscl.Engine) -> None:
    answer = asked(engine, "falls", "d1", "d5")
    assert answer["holds"] is False
    assert answer["cause"].startswith("d5 ends the run in q1, n = 1; a1: e.change < 0 fails")
    (part,) = answer["parts"]
    run = part["epochs"][1]["runs"][0]
    assert (run["state"], run["ends"], run["register"]) == ("q1", True, {"n": 1})
    assert run["arcs"][1]["fails"] == {"text": "e.change > 0", "left": ["0"], "right": ["0"]}


def test_documents_that_are_not_in_the_input_are_named(engine: xscl.Engine) -> None:
    given = {"stream": "S", "timestamp": 2, "id": "k", "json": {"change": -1}}
    other = {"stream": "T", "timestamp": 3, "id": "l", "json": {}}
    answer = asked(engine, "falls", given, other)
    assert answer["cause"] == "no document is in the automaton's input"
    assert answer["outside"] == {
        "k": "it has no `of`, which splits the input",
        "l": "`e`: stream S fails: T",
    }


def test_a_document_with_an_event_in_the_input_is_in_it() -> None:
    text = (
        'AUTOMATON {"events": {"e": "S//item"}, "by": ["k"], "final": ["q1"], '
        '"arcs": [{"from": "q0", "to": "q1", "event": "e"}]}'
    )
    with xscl.Engine() as engine:
        engine.subscribe(text, name="q")
        engine.publish("S", "<r><item><k>u</k></item><item/></r>", id="d", timestamp=1)
        answer: dict[str, Any] = engine.why("q", "d").to_dict()
        assert (answer["holds"], answer["outside"]) == (True, {})


def test_documents_between_that_make_a_difference_are_named(engine: xscl.Engine) -> None:
    (part,) = asked(engine, "falls", "d1", "d4")["parts"]
    notes = part["matches"][0]["notes"]
    assert "with the documents between there is no such match: ask for them, too: d2, d3" in notes


@pytest.mark.parametrize(
    ("level", "lateness", "note"),
    [
        ("strong", 0, "strong withholds it until the watermark is 1970-01-01 00:00:22Z; it is"),
        ("middle", 9, "middle withholds it until the newest time is 1970-01-01 00:00:22Z; it is"),
        ("middle(2 s)", 9, "middle(2 s) withholds it until the watermark is 1970-01-01 00:00:20Z"),
        ("weak", None, "weak withholds it until the newest time is 1970-01-01 00:00:22Z; it is"),
    ],
)
def test_each_level_says_until_when_it_withholds(
    level: str, lateness: float | None, note: str
) -> None:
    with xscl.Engine(lateness=lateness) as engine:
        engine.subscribe(xscl.Automaton.from_dict({**FALLS, "consistency": level}))
        engine.publish_many(envelopes())
        answer = asked(engine, "falls", *envelopes()[2:4])
        engine.publish_many([{"stream": "S", "id": "z", "timestamp": 50, "json": {"of": "y"}}])
        later = asked(engine, "falls", *envelopes()[2:4])
    (part,) = answer["parts"]
    assert part["matches"][-1]["time"] == 22
    assert part["matches"][-1]["notes"][0].startswith(note)
    (part,) = later["parts"]
    assert part["matches"][-1]["notes"] == []


def test_arcs_that_have_come_and_gone_are_judged_by_their_lives() -> None:
    with xscl.Engine() as engine:
        engine.subscribe(xscl.Automaton.from_dict(FALLS))
        engine.publish_many(envelopes())
        engine.arcs("falls").delete("a2", at=3)
        engine.arcs("falls").insert(xscl.Arc("q1", "q2", "e", when="e.change = 4", name="new"))
        answer = asked(engine, "falls", *envelopes()[2:4])
    (part,) = answer["parts"]
    tried = [arc["name"] for arc in part["epochs"][1]["runs"][0]["arcs"]]
    assert tried == ["a1", "a3"]


def test_a_document_between_may_have_the_id_of_one_given() -> None:
    """In another stream, as rows of two tables have."""
    made = xscl.Automaton(
        "q",
        {"a": "A", "b": "B"},
        ["f"],
        [xscl.Arc("s", "m", "a"), xscl.Arc("m", "f", "a")],
    )
    with xscl.Engine() as engine:
        engine.subscribe(made)
        for stream, id, time in (("A", "1", 0), ("B", "1", 1), ("A", "2", 2)):
            engine.publish(stream, {}, id=id, timestamp=time)
        assert engine.flush() == []
        answer = engine.why("q", {"stream": "A", "id": "1", "timestamp": 0, "json": {}}, "2")
        assert "with the documents between there is no such match" in str(answer)
