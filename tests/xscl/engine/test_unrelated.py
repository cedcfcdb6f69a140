"""What others ask changes nothing of what an event query finds: they share operators, events that
are pending and instances with it, of which each has read what it asks, and no more."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

import xscl
from tests.drawn import seeded, times, turn

PAIRS = ["S NEXT{$2.k = $1.k} S", "S NEXT{} S", "S NEXT{$2.k = $1.k} T", "S FOLD{$2.k = $1.k,} S"]
EXPRESSIONS = [
    *PAIRS,
    "S FOLD{$2.k = $1.k, ,$.v + 1 AS v} S",
    "WINDOW{2 s}(S)",
    "S",
    "(SELECT k AS k, v + 1 AS v FROM S)",
    "(S UNION T)",
]
CONDITIONS = ["v > 1", "k = 'a'", "v_1 > 0", "w = 7", "k_1 = 'a'", "w_1 > v", "DUR > 1"]
LISTS = ["k", "k, v", "*", "v_1 AS b, v", "w", "k_1, w_1"]
AGGREGATES = ["COUNT(*) AS n", "SUM(v) AS s", "MAX(w) AS m, COUNT(*) AS n"]
CLOSED = "DECLARE STREAM S (k, v, w); DECLARE STREAM T (k, v, w); "

Coming = list[dict[str, object]]


def drawn_expression(random: Random, depth: int = 0) -> str:
    kind = random.random()
    if depth > 1 or kind < 0.5:
        return random.choice(EXPRESSIONS)
    if kind < 0.8:
        return f"FILTER{{{random.choice(CONDITIONS)}}}({drawn_expression(random, depth + 1)})"
    condition = random.choice(["", "$2.k = $1.k", "$2.v > $1.v"])
    left = drawn_expression(random, depth + 1)
    return f"({left} NEXT{{{condition}}} {random.choice('ST')})"


def drawn_query(random: Random) -> str:
    kind, expression = random.random(), drawn_expression(random)
    if kind < 0.3:
        return f"FILTER{{}}({expression})"
    if kind < 0.6:
        return f"SELECT {random.choice(LISTS)} FROM FILTER{{}}({expression})"
    groups = random.choice(["", " GROUP BY k"])
    return f"SELECT {random.choice(AGGREGATES)} FROM {expression}{groups}"


def drawn_documents(random: Random) -> Coming:
    return [
        {
            "stream": random.choice("SST"),
            "json": {
                "k": random.choice("ab"),
                "v": random.randrange(4),
                "w": random.choice([5, 7]),
            },
            "id": str(number),
            "timestamp": random.choice([1, 2, 2, 3] if number < 4 else [4, 4, 5, 6]),
        }
        for number in range(10)
    ]


@pytest.mark.drawn
@pytest.mark.parametrize("part", turn(range(4)))
def test_what_others_ask(part: int) -> None:
    some = 0
    for number in range(times(20)):
        random = seeded("what others ask", part, number)
        others = [drawn_query(random) for _ in range(random.choice([1, 1, 2, 3]))]
        life = Life(random)
        alone, among = life.found([]), life.found(others)
        assert alone == among, f"{life} {others}"
        some += alone not in ([], ["refused"])
    assert some


@pytest.mark.parametrize("pair", PAIRS[:1] + PAIRS[3:])
def test_sets_of_others(pair: str) -> None:
    """An aggregate is of a set of events, and has to read all that they have, of its own alone."""
    engine = xscl.Engine()
    engine.subscribe("S/*->x JOIN {x = y} Never/none->y")
    engine.subscribe(f"SELECT COUNT(*) AS n FROM {pair} GROUP BY k", name="count")
    for number in (1, 2):
        engine.publish("S", {"k": "b", "w": number}, id=f"d{number}", timestamp=1)
    engine.advance(3)
    engine.subscribe(f"SELECT w_1 FROM {pair}", name="q", history=True)
    engine.publish("S", {"k": "b", "w": 3}, id="d3", timestamp=5)
    results = [(one.query, one.to_dict()["result"]) for one in engine.flush()]
    expected = [("count", {"n": 2}), ("q", {"w_1": 1}), ("q", {"w_1": 2})]
    assert sorted(results, key=str) == expected


class Life:
    """A query that comes between documents, some of which may have been retained."""

    def __init__(self, random: Random) -> None:
        self.query, self.documents = drawn_query(random), drawn_documents(random)
        self.declared = random.choice(["", CLOSED])
        self.history, self.retained = random.random() < 0.4, random.random() < 0.5
        self.advances, self.cancels = random.random() < 0.6, random.random() < 0.5

    def __repr__(self) -> str:
        return str(self.__dict__)

    def found(self, others: list[str]) -> list[str]:
        """What the query finds where there are others."""
        engine = xscl.Engine()
        for stream in "ST" if self.retained else "":
            engine.subscribe(f"{stream}/*->x JOIN {{x = y}} Never/none->y")
        names = []
        for place, text in enumerate(others):
            with suppress(xscl.XSCLError, ExceptionGroup):
                engine.load(f"{self.declared}-- name: other{place}\n{text}")
                names.append(f"other{place}")
        found = engine.publish_many(self.documents[:5])
        if self.advances:
            found += engine.advance(3.5)
        try:
            (subscription,) = engine.load(
                f"{self.declared}-- name: q\n{self.query}", history=self.history
            )
        except (xscl.XSCLError, ExceptionGroup):
            return ["refused"]
        found += [*subscription.found, *engine.publish_many(self.documents[5:])]
        if self.cancels and names:
            engine.cancel(names[-1])
        found += engine.flush()
        return sorted(str(one.to_dict()["result"]) for one in found if one.query == "q")
