"""Queries in EQL among those of the other languages: sub-queries either way, published streams,
what SELECT makes, rates and plans, state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xscl
from xscl.errors import XSCLError
from xscl.explain import as_json


def event(stream: str, time: float, **values: object) -> dict[str, Any]:
    return {"stream": stream, "id": f"{stream}{time:g}", "timestamp": time, "json": values}


EVENTS = [
    event("A", 1, k="x", v=1),
    event("B", 2, k="x", v=2),
    event("C", 3, k="x", v=3),
    event("B", 4, k="x", v=2),
    event("C", 5, k="x", v=9),
]


def found(text: str, **options: Any) -> list[Any]:
    with xscl.Engine(**options) as engine:
        engine.load(text)
        matches = [*engine.publish_many(EVENTS), *engine.flush()]
        results = [one.result for one in matches]
        return [one if isinstance(one, (dict, list)) else str(one) for one in results]


PAIR = "SELECT A.k AS k, B.v AS v FROM (A; B)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"SELECT * FROM (({PAIR})/json P; C) WHERE FILTER(P.k = C.k)",
            [[{"k": "x", "v": 2}, {"k": "x", "v": 3}]],
        ),
        (
            "SELECT v, w FROM (SELECT <pair>{A.k}{B.v}</pair> FROM (A; B))/pair[.//k->k][.//v->v] "
            "FOLLOWED BY {k = q, 1} C/json[./k->q][./v->w]",
            ["<result><v>2</v><v>3</v></result>"],
        ),
        (
            "SELECT X.v AS v, C.v AS w FROM ((FILTER{v > 1}(B))/json X; C)",
            [{"v": 2, "w": 3}, {"v": 2, "w": 9}],
        ),
        (f"SELECT k FROM FILTER{{v > 1}}(({PAIR}))", [{"k": "x"}]),
        (
            f"{PAIR} PUBLISH P; SELECT P.v AS v FROM (P; C)",
            [{"k": "x", "v": 2}, {"v": 2}],
        ),
        (
            f"{PAIR} PUBLISH P; SELECT p.v AS v FROM EVENT SEQ(P p, C c) WHERE c.v > 5 WITHIN 9",
            [{"k": "x", "v": 2}, {"v": 2}],
        ),
    ],
)
def test_queries_in_queries(text: str, expected: list[Any]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("*", [{"k": "x", "v": 2}, {"k": "x", "v": 2}, {"k": "x", "v": 9}]),
        ("B.v AS v", {"v": [2, 2]}),
        ("PREV(B.v) AS v, C.v", {"v": [2, 9]}),
        ("B.v + C.v AS sum", {"sum": 11}),
        ("C.document AS id, C.timestamp AS at", {"id": "C5", "at": 5}),
    ],
)
def test_what_select_makes(select: str, expected: object) -> None:
    """Of several events all values, in arithmetic that of the last."""
    assert expected in found(f"SELECT {select} FROM (B+; C) WHERE FILTER(C.v > 5)")


def test_rates_change_plans_but_no_matches(tmp_path: Path) -> None:
    """A plan that was made for other rates is made again, over a restart, too; nothing is reported
    twice."""
    text = "SELECT * FROM (A; B; C) CONSISTENCY strong"
    state = tmp_path / "state.xscl"
    with xscl.Engine(state, lateness=0) as engine:
        engine.subscribe(text, name="q", rates={"A": 1, "B": 1, "C": 1})
        assert engine.publish_many(EVENTS[:2]) == []
        assert engine.replan() == 0
        engine.subscribe("SELECT * FROM (A; B)", name="other", rates={"A": 128, "C": 128})
        assert engine.replan() == 1
        assert engine.replan() == 0
        assert engine.publish_many(EVENTS[2:3]) == []
        assert engine.replan() == 0
    with xscl.Engine(state, rates={"A": 128, "C": 128}) as engine:
        found = engine.publish_many(EVENTS[3:])
        assert [(one.query, one.documents) for one in found] == [("q", ("A1", "B2", "C3"))]
        assert engine.flush() == []


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
def test_a_rate_is_above_none(rate: float) -> None:
    with pytest.raises(XSCLError, match="documents a second, above 0"):
        xscl.Engine(rates={"A": rate})


def test_measured_rates_are_those_of_the_stream() -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe("SELECT * FROM (A; B; A C) WHERE (A, C) OCCURS WITHIN 1 s", name="q")
        many = [event("AB"[place % 11 == 0], place / 10, k=place) for place in range(1, 3000)]
        engine.publish_many([{**one, "id": f"d{place}"} for place, one in enumerate(many)])
        engine.replan()
        (stage,) = [
            one.stage for level in engine._queries.levels.all for one in level.composites.values()
        ]
        rates = {place: rate for place, (rate, how) in enumerate(stage.rates([0, 1]))}
        assert rates[0] == pytest.approx(10 * 10 / 11, rel=0.05)
        assert rates[1] == pytest.approx(10 / 11, rel=0.05)


INTERVALS = [
    {**event("A", 5, k="x"), "start": 1},
    {**event("X", 3, k="x"), "start": 2},
    event("B", 7, k=0),
    {**event("C", 9, k="late"), "start": 8},
    {**event("C", 9, k="early"), "start": 7.5, "id": "C9-early"},
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The scope of an exception begins with the start of the first event.
        ("SELECT * FROM A \\ X", []),
        ("SELECT * FROM (A; B \\ X)", [("A5", "B7")]),
        ("SELECT * FROM ((A; B) \\ X)", []),
        # Of two that end together the one that started earlier is the successor.
        ("SELECT * FROM (B; C)", [("B7", "C9-early")]),
        # What is not defined is not compared.
        ("SELECT * FROM (A; B) WHERE B.k / B.k <> 1", []),
        ("SELECT * FROM (A; B) WHERE NOT (B.k / B.k <> 1)", [("A5", "B7")]),
    ],
)
def test_intervals_and_undefined_numbers(text: str, expected: list[tuple[str, ...]]) -> None:
    with xscl.Engine() as engine:
        engine.subscribe(text, name="q")
        matches = [*engine.publish_many(INTERVALS), *engine.flush()]
        assert [one.documents for one in matches] == expected
        for one in expected:
            assert "Every condition holds." in str(engine.why("q", *one))


def test_what_ends_together_is_no_successor() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("SELECT * FROM (B; C)", name="q")
        engine.publish_many(INTERVALS)
        assert "C9-early, at" in str(engine.why("q", "B7", "C9"))


PART = "SELECT * FROM (B X; C Y)"


@pytest.mark.parametrize(
    ("queries", "operators"),
    [
        # Two streams, and `;`.
        ([PART], 3),
        ([PART, "SELECT * FROM (B U; C V)"], 3),
        # One stream and one `;` more, whatever the part's variables are called, and where it is.
        ([PART, "SELECT * FROM (A Z; (B P; C Q))"], 5),
        ([PART, "SELECT * FROM (B P; C Q; A Z)"], 5),
        ([PART, "SELECT * FROM (A Z | (B P; C Q))"], 5),
        ([PART, "SELECT * FROM A Z \\ (B P; C Q)"], 5),
        ([PART, "SELECT * FROM (A Z; (B P; C Q)+)"], 7),
        # Names that conditions read, and σ above.
        (
            [
                f"{PART} WHERE FILTER(X.k = Y.k), X.v + 0 < Y.v",
                "SELECT * FROM (A Z | (B P; C Q)) WHERE FILTER(P.k = Q.k), P.v + 0 < Q.v",
            ],
            6,
        ),
        # Another condition is another operator.
        ([f"{PART} WHERE FILTER(X.k = Y.k)", "SELECT * FROM (A Z | (B P; C Q))"], 6),
    ],
)
def test_operators_are_shared_whatever_variables_are_called(
    queries: list[str], operators: int
) -> None:
    rates = {"A": 128, "B": 1, "C": 128}
    with xscl.Engine(rates=rates, lateness=0) as engine:
        for place, query in enumerate(queries):
            engine.subscribe(query, name=f"q{place}")
        [stage] = [
            one.stage for level in engine._queries.levels.all for one in level.composites.values()
        ]
        assert stage._stages[0].stats()["members"] == operators
        together = [*engine.publish_many(EVENTS), *engine.flush()]
    alone = list[xscl.Match]()
    for place, query in enumerate(queries):
        with xscl.Engine(rates=rates, lateness=0) as engine:
            engine.subscribe(query, name=f"q{place}")
            alone += [*engine.publish_many(EVENTS), *engine.flush()]
    told = [sorted(str(one.to_dict()) for one in some) for some in (together, alone)]
    assert told[0] == told[1]
    assert told[0]


def test_explain_says_which_queries_have_an_operator() -> None:
    rates = {"A": 128, "B": 1, "C": 128}
    with xscl.Engine(rates=rates) as engine:
        engine.subscribe(PART, name="part")
        engine.subscribe("SELECT * FROM (A Z; (B P; C Q))", name="whole")
        engine.subscribe(f"{PART} WHERE FILTER(X.k = Y.k)", name="other")
        every = [as_json(one, engine._sample()) for one in engine._sample()]
        text = engine.explain()
    found: Any = every
    shared = {
        (one["name"], operator["plan"]): operator["queries"]
        for one in found
        for operator in one["operators"]
    }
    assert shared == {
        ("part", "X ; Y"): ["part", "whole"],
        ("whole", "P ; Q"): ["part", "whole"],
        ("whole", "Z ; (P ; Q)"): ["whole"],
        ("other", "X ; Y"): ["other"],
    }
    assert "also of" in text


COMPUTED = {
    "T.v - PREV(T.v)": [None, None, None, 2, 3, 3],
    "-PREV(T.v)": [None, None, None, -1, -3, -3],
    "2 * PREV(T.v) + T.v": [None, None, None, 5, 12, 12],
    "1 / (T.v / 0)": [None] * 6,
    "T.v / 2": [0.5, 1.5, 3, 1.5, 3, 3],
}


@pytest.mark.parametrize("text", COMPUTED)
def test_what_is_computed_of_events_before(text: str) -> None:
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(f"SELECT {text} AS n FROM t T+ WHERE T.v > PREV(T.v)", name="n")
        engine.subscribe(f'SELECT {{"n": {text}}} FROM t T+ WHERE T.v > PREV(T.v)', name="json")
        found = [one for n in (1, 3, 6) for one in engine.publish("t", {"v": n}, timestamp=n)]
        found += engine.flush()
    for name in ("n", "json"):
        results = [one.result for one in found if one.query == name]
        some = sorted((one["n"] for one in results), key=lambda n: (n is not None, n or 0))
        assert some == sorted(COMPUTED[text], key=lambda n: (n is not None, n or 0))
