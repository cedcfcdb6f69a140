"""The funnel of a pattern: its counts are those of nested loops over the documents, its matches
those that an engine finds."""

from __future__ import annotations

import random
from bisect import bisect_left
from itertools import product
from typing import Any

import pytest

from tests.drawn import seeded, times
from xscl import Engine
from xscl.why import Funnel

ABSENT = (
    "EVENT SEQ(S/json[type = 'a'] a, !S/json[type = 'b'] b, S/json[type = 'c'] c) "
    "WHERE [id] AND a.v > 3 AND c.v >= a.v AND b.v < 8 WITHIN 60 s"
)
LOOP = (
    "PATTERN SEQ(S/json[type = 'a']+ a[], T/json c) "
    "WHERE skip_till_next_match { [id] AND a[i].v > a[i-1].v } WITHIN 60 s"
)
PLAIN = [
    ABSENT,
    LOOP,
    "EVENT SEQ(ANY(S/json[type = 'a'], T/json) x, S/json[type = 'b'] y) WHERE x.v = y.v",
    "EVENT SEQ(S/json[type = 'a'] a, S/json[type = 'b'] b, T/json c) WHERE [id] WITHIN 90 s",
    "PATTERN SEQ(S/json a, S/json b) WHERE strict_contiguity { a.v > 4 AND [id = 'x'] }",
    "EVENT SEQ(!T/json t, S/json[type = 'a'] a) WHERE [id] WITHIN 30 s",
]


def drawn(draw: random.Random) -> list[dict[str, Any]]:
    """Documents in order of time."""
    found = []
    for number in range(draw.randrange(2, 50)):
        value = {"type": draw.choice("abc"), "v": draw.randrange(10)}
        if draw.random() < 0.9:
            value["id"] = draw.choice("xyz")
        time = draw.randrange(200)
        stream = draw.choice("SSST")
        found.append({"stream": stream, "id": f"d{number}", "timestamp": time, "json": value})
    return sorted(found, key=lambda one: one["timestamp"])


def asked(query: str, documents: list[dict[str, Any]]) -> tuple[Funnel, int]:
    """The funnel, and the number of matches that the engine finds."""
    with Engine() as engine:
        engine.subscribe(query, name="q")
        found = len(engine.publish_many(documents)) + len(engine.flush())
        funnel = engine.why("q")
    assert isinstance(funnel, Funnel)
    return funnel, found


@pytest.mark.drawn
@pytest.mark.parametrize("query", PLAIN)
def test_matches_are_those_of_the_engine(query: str) -> None:
    for number in range(times(20)):
        funnel, found = asked(query, drawn(seeded("sequence funnels", number)))
        assert funnel.matches == found, number


@pytest.mark.drawn
def test_counts_are_those_of_nested_loops() -> None:
    for number in range(times(40)):
        documents = drawn(seeded("pairs of a funnel", number))
        funnel, _ = asked(ABSENT, documents)
        of = {
            kind: [
                (one["timestamp"], one["json"])
                for one in documents
                if one["stream"] == "S" and one["json"]["type"] == kind
            ]
            for kind in "abc"
        }
        alone = {kind: [one for one in some if "id" in one[1]] for kind, some in of.items()}
        alone["a"] = [one for one in alone["a"] if one[1]["v"] > 3]
        alone["b"] = [one for one in alone["b"] if one[1]["v"] < 8]
        order = [(a, c) for a, c in product(alone["a"], alone["c"]) if a[0] < c[0]]
        same = [(a, c) for a, c in order if a[1]["id"] == c[1]["id"]]
        near = [(a, c) for a, c in same if c[0] - a[0] < 60]
        high = [(a, c) for a, c in near if c[1]["v"] >= a[1]["v"]]
        free = [
            (a, c)
            for a, c in high
            if not any(a[0] < b[0] < c[0] and b[1]["id"] == a[1]["id"] for b in alone["b"])
        ]
        pairs = [one.passed for one in funnel.conditions if one.pairs]
        assert pairs == [len(order), len(same), len(near), len(high), len(free)], number
        events = {(one.block, one.text): one.passed for one in funnel.conditions if not one.pairs}
        assert events[1, "a.v > 3"] == len(alone["a"])
        assert events[2, "b.v < 8"] == len(alone["b"])
        assert events[3, "[id]"] == len(alone["c"])
        assert funnel.matches == len(free)


def test_an_absence_behind_a_kleene_plus_is_one_behind_its_last_event() -> None:
    with Engine() as engine:
        text = "PATTERN SEQ(B+ b[], !N n, C c) WHERE b[1].x > 5 WITHIN 1 hour"
        engine.subscribe(text, name="q")
        for at, (stream, x) in enumerate([("B", 9), ("N", 0), ("B", 1), ("C", 0)]):
            engine.publish(stream, {"x": x}, id=f"d{at}", timestamp=at)
        found = engine.why("q")
        assert isinstance(found, Funnel)
        assert found.matches == 1
        assert "no N" not in str(found)


def test_of_very_many_pairs_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xscl.why.sequences.funnel._MOST", 1_000)
    envelopes = [
        {"stream": stream, "id": f"{stream}{at}", "timestamp": at, "json": {"v": at % 7}}
        for at in range(60)
        for stream in "AB"
    ]
    with Engine() as engine:
        engine.subscribe("EVENT SEQ(A a, B b) WHERE a.v < b.v", name="q")
        engine.count(envelopes)
        funnel = engine.why("q")
    assert isinstance(funnel, Funnel)
    order, less = funnel.conditions[-2:]
    assert (order.passed, order.capped) == (60 * 59 // 2, False)
    assert less.capped
    values = [at % 7 for at in range(60)]
    every = sum(bisect_left(sorted(values[:at]), value) for at, value in enumerate(values))
    assert 0 < less.passed < every
    assert funnel.matches == every
    assert f"≥ {less.passed:,}" in str(funnel)
