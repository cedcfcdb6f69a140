"""Descriptions of automata as values: equal by content, the same in Python and as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

import xscl
from tests.conformance.runner import read_cases
from tests.conformance.test_automata import CASES
from tests.shared import needs
from xscl.language import parse

TWO: dict[str, Any] = {
    "name": "two",
    "events": {"e": "S//item[category = 'x']"},
    "final": ["q2"],
    "arcs": [
        {"from": "q0", "to": "q1", "event": "e", "when": "e.x != ';' AND NOT e.y = '}'"},
        {"from": "q1", "to": "q2", "event": "*", "at": "2026-01-01T00:00:00Z"},
    ],
    "register": {"n": 1, "s": {"type": "string"}},
    "within": "7 s",
}


def test_what_is_left_out_has_its_default() -> None:
    automaton = xscl.Automaton.from_dict(TWO)
    assert automaton.start == "q0"
    assert [arc.name for arc in automaton.arcs] == ["a0", "a1"]
    assert (automaton.keep, automaton.by, automaton.publish) == (False, (), None)


def test_python_and_json_say_the_same() -> None:
    arcs = [
        xscl.Arc("q0", "q1", "e", when="e.x != ';' AND NOT e.y = '}'"),
        xscl.Arc("q1", "q2", "*", at="2026-01-01T00:00:00Z"),
    ]
    more = {name: TWO[name] for name in ("events", "register", "within")}
    one = xscl.Automaton("two", final="q2", arcs=arcs, **more)
    other = xscl.Automaton.from_dict(json.loads(json.dumps(one.to_dict())))
    assert one == other == xscl.Automaton.from_dict(TWO)
    assert hash(one) == hash(other)
    assert one != xscl.Automaton.from_dict({**TWO, "within": "8 s"})


@pytest.mark.parametrize("clause", ["", " PUBLISH p", " CONSISTENCY strong PUBLISH p"])
def test_a_statement_has_the_automaton_and_its_name(clause: str) -> None:
    text = f"AUTOMATON {json.dumps(TWO, indent=2)}{clause}; -- name: after\nS//a"
    (query, after), errors = parse(text)
    assert (errors, query.name, after.name) == ([], "two", "after")
    assert query.source.automaton.arcs == xscl.Automaton.from_dict(TWO).arcs  # type: ignore[union-attr]
    assert (query.publish.text if query.publish else "") == ("p" if "PUBLISH" in clause else "")


@needs("conformance", "pattern-afa.jsonl")
def test_the_shared_descriptions_are_read_and_written() -> None:
    for case in read_cases(CASES):
        for members in case["automata"]:
            automaton = xscl.Automaton.from_dict(members)
            assert xscl.Automaton.from_dict(automaton.to_dict()) == automaton
