"""What `explain` says that a strong query waits for is what it waits for."""

from __future__ import annotations

import pytest

import xscl

EAGER = {
    "an event": "EVENT S a",
    "a sequence": "EVENT SEQ(S a, S b) WITHIN 5 s",
    "a pattern": "PATTERN SEQ(S a, S b) WHERE skip_till_any_match { a.k = b.k } WITHIN 5 s",
    "an event query": "DECLARE STREAM S(k); SELECT k FROM FILTER{k = 1}(S)",
    "a composition": "SELECT * FROM (S A) WHERE FILTER(A.k = 1)",
}
PATIENT = {
    "a negation": "EVENT SEQ(S a, !T b, S c) WITHIN 5 s",
    "a greedy pattern": "PATTERN SEQ(S a) WHERE skip_till_next_match { }",
    "a successor": "SELECT k FROM S NEXT{$1.k = $2.k} S",
    "a composition of two": "SELECT * FROM (S A; S B) WHERE (A, B) OCCURS WITHIN 5 s",
}
NUMBERED = """AUTOMATON {
  "events": {"e": "S"}, "final": ["two"], "sequence": "n", "consistency": "strong",
  "arcs": [{"from": "none", "to": "one", "event": "e"}, {"from": "one", "to": "two", "event": "e"}]
}"""
DOCUMENTS = [
    {"stream": "S", "id": f"d{n}", "timestamp": n, "json": {"k": 1, "n": n}} for n in (1, 2, 3)
]


def run(text: str, revisable: bool) -> tuple[str, list[xscl.Match], list[xscl.Match]]:
    """What a query says of its consistency; what is reported before the end, and at it."""
    with xscl.Engine(revisable=revisable) as engine:
        engine.subscribe(text, "q")
        said = engine.explain("q").partition("  consistency ")[2].partition("\n  template")[0]
        return " ".join(said.split()), engine.publish_many(DOCUMENTS), engine.flush()


@pytest.mark.parametrize("revisable", [False, True])
@pytest.mark.parametrize("name", [*EAGER, *PATIENT])
def test_it_waits_for_what_is_said(name: str, revisable: bool) -> None:
    said, early, late = run((EAGER | PATIENT)[name], revisable)
    nothing = "waits for nothing" in said
    assert nothing == (name in EAGER)
    eager = nothing and not revisable
    assert (early != [], late != []) == (eager, not eager)
    assert eager or "watermark" in said
    assert ("over a revisable stream for the watermark" in said) == nothing


@pytest.mark.parametrize("revisable", [False, True])
def test_numbered_events_wait_for_what_is_said(revisable: bool) -> None:
    said, early, late = run(NUMBERED, revisable)
    assert (early == []) == revisable
    assert (late == []) != revisable
    where = "where a number of `n` is missing, or a stream is revisable"
    assert said == f"strong, waits for the watermark {where}"
