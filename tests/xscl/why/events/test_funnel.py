"""The funnel of an event query: its counts are those of nested loops over the documents, its
matches those that an engine finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.drawn import seeded, times
from xscl import Engine, XSCLError
from xscl.why import Funnel

NEXT = (
    "SELECT k, w FROM FILTER{v > 2 AND k != 'z'}(S) "
    "NEXT{$1.k = $2.k AND $2.w >= $1.v AND DUR <= 60 s} (SELECT k, v AS w FROM T)"
)
QUERIES = [
    NEXT,
    "(SELECT *, 0 AS n FROM FILTER{v < 5}(S)) FOLD{$2.k = $.k, $2.v > $.v, $.n + 1 AS n} S",
    "SELECT k, AVG(v) AS mean FROM WINDOW{60 s}(S) GROUP BY k",
    "FILTER{w > 3}((SELECT k, v AS w FROM S) UNION (SELECT k, v AS w FROM T))",
    "FILTER{v > 1}(S/json[k = 'x']) NEXT{} T NEXT{$2.v > 4} S",
]


def drawn(draw: random.Random) -> list[dict[str, Any]]:
    """Documents in order of time."""
    found = []
    for number in range(draw.randrange(1, 40)):
        value = {"k": draw.choice("xyz"), "v": draw.randrange(10)}
        time, stream = draw.randrange(150), draw.choice("ST")
        found.append({"stream": stream, "id": f"d{number}", "timestamp": time, "json": value})
    return sorted(found, key=lambda one: one["timestamp"])


def asked(query: str, documents: list[dict[str, Any]]) -> tuple[Funnel, int]:
    """The funnel, and the number of matches that the engine finds."""
    with Engine() as engine:
        engine.subscribe(query, name="q")
        found = len(engine.publish_many(documents)) + len(engine.flush())
        funnel = engine.why("q", among=documents)
    assert isinstance(funnel, Funnel)
    return funnel, found


@pytest.mark.drawn
@pytest.mark.parametrize("query", QUERIES)
def test_matches_are_those_of_the_engine(query: str) -> None:
    for number in range(times(20)):
        funnel, found = asked(query, drawn(seeded("event funnels", number)))
        assert funnel.matches == found, number


@pytest.mark.drawn
def test_counts_are_those_of_nested_loops() -> None:
    for number in range(times(40)):
        documents = drawn(seeded("pairs of events", number))
        funnel, found = asked(NEXT, documents)
        left, right = (
            [(one["timestamp"], one["json"]) for one in documents if one["stream"] == stream]
            for stream in "ST"
        )
        high = [one for one in left if one[1]["v"] > 2]
        some = [one for one in high if one[1]["k"] != "z"]
        order = [(a, b) for a in some for b in right if a[0] < b[0]]
        same = [(a, b) for a, b in order if a[1]["k"] == b[1]["k"]]
        more = [(a, b) for a, b in same if b[1]["v"] >= a[1]["v"]]
        near = [(a, b) for a, b in more if b[0] - a[0] <= 60]
        firsts = {
            (a[0], b[0], a[1]["k"], b[1]["v"])
            for a, b in near
            if b[0] == min(t[0] for s, t in near if s is a)
        }
        pairs = [one.passed for one in funnel.conditions if one.pairs]
        assert pairs == [len(order), len(same), len(more), len(near)], number
        filters = [one.passed for one in funnel.conditions if one.kind == "filter"]
        assert filters == [len(high), len(some)]
        assert found == funnel.matches == len(firsts)


def test_what_it_cannot_count_is_said() -> None:
    with Engine() as engine:
        engine.subscribe("FILTER{v > 1}(S)", name="held")
        with pytest.raises(XSCLError, match="give documents to count `among`"):
            engine.why("held")
        engine.subscribe(
            "S NEXT (SELECT <r>{x}</r> FROM S//a->x JOIN {x = y} T//b->y)", name="inner"
        )
        with pytest.raises(XSCLError, match="in another language is not counted here"):
            engine.why("inner", among=[])
