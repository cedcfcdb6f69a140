"""Documents that are read together find and leave what they do one by one."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn

QUERIES = """
SELECT a, b FROM FILTER{a > 0}(C);
FILTER{a > 0}(C);
SELECT b_1 AS first, b AS second FROM C NEXT{$2.a = $1.a} D;
PATTERN SEQ(P x, D y) WHERE x.a = y.a;
P//a->x JOIN {x = y} J//a->y
"""
"""`C` is read by event queries alone, `D` and `P` by a pattern, too, and `P` and `J` by a join."""

FLAT = st.fixed_dictionaries(
    {"a": st.sampled_from([0, 1, 2.5, -0.0, True, "1", None, 2**70])},
    optional={"b": st.sampled_from(["x", "é", 3, None]), "c": st.floats(allow_nan=False)},
)
OTHER = st.sampled_from(
    [
        [{"a": 1}],
        {"a": [1, 2], "b": {"c": 1}},
        {"a": math.nan},
        {"a": 1, "b": "\\0"},
        {"a": {1}},
        {1: 2},
        7,
        None,
        b'{"a": 1}',
        b"{",
    ]
)
ENVELOPES = st.fixed_dictionaries(
    {
        "stream": st.sampled_from(["C", "C", "C", "D", "P", "J", "nobody's", 5, []]),
        "id": st.sampled_from(["1", "2", "3", "4", "5", "é", 6]),
        "timestamp": st.sampled_from([1, 2, 3.5, 4, 10**10, "1970-01-01T00:00:06Z", "soon"]),
        "json": FLAT | FLAT | FLAT | OTHER,
    },
    optional={
        "start": st.sampled_from([None, 1]),
        "xml": st.sampled_from([None, "<d><a>1</a></d>"]),
    },
)
CONTROL = st.fixed_dictionaries({"advance": st.sampled_from([1, 3])})


def found(envelopes: list[Any], batch: int, lateness: float | None) -> Any:
    with xscl.Engine(lateness=lateness, on_skip=lambda error: None) as engine:
        engine.load(QUERIES)
        matches: list[Any] = []
        for at in range(0, len(envelopes), batch):
            matches += engine.publish_many(envelopes[at : at + batch])
        matches += engine.flush()
        skipped, stored = engine.skipped, {one["id"] for one in engine.held()}
        counts = skipped.malformed, skipped.duplicate, skipped.late, engine.documents
        return (
            Counter((one.query, repr(one.result), one.documents) for one in matches),
            counts,
            stored,
        )


@given(
    st.lists(ENVELOPES | ENVELOPES | ENVELOPES | CONTROL, max_size=12),
    st.sampled_from([0, 2, None]),
    st.integers(2, 12),
)
@example([{"stream": "C", "id": str(n), "timestamp": 1, "json": {"a": 1e308}} for n in "12"], 0, 2)
@drawn(80)
def test_documents_read_together_are_those_read_one_by_one(
    envelopes: list[Any], lateness: float | None, batch: int
) -> None:
    assert found(envelopes, batch, lateness) == found(envelopes, 1, lateness)


def test_documents_without_ids_and_times_are_of_their_arrival() -> None:
    with xscl.Engine() as engine:
        engine.subscribe("C NEXT C")
        engine.publish_many([{"stream": "C", "json": {"a": 1}}] * 3)
        assert len(engine.flush()) == 2
        assert len({one.id for one in engine._intake.retained.values()}) == 3


def test_nobody_publishes_to_the_stream_of_a_sub_query() -> None:
    with xscl.Engine(on_skip=lambda error: None) as engine:
        engine.subscribe("(S//a->x JOIN {x = y} T//a->y) NEXT U", name="q")
        (inner,) = [one for one in engine._queries.graph.read if one not in "STU"]
        engine.publish_many([{"stream": inner, "id": "1", "timestamp": 1, "json": {"a": 1}}])
        assert engine.skipped.malformed == 1


def test_what_a_publisher_changes_afterwards_was_read_before() -> None:
    value: dict[str, Any] = {"a": 1, "b": "old"}
    with xscl.Engine() as engine:
        engine.subscribe("C NEXT C")
        engine.publish("C", value, id="1", timestamp=1)
        value["b"] = "new"
        engine.publish("C", value, id="2", timestamp=2)
        (match,) = engine.flush()
        assert match.result["b_1"] == "old"


@pytest.mark.parametrize("beside", ["S/json", "C/json[n > 0]"])
def test_what_is_nested_and_changed_afterwards_was_read_before(beside: str) -> None:
    value: dict[str, Any] = {"n": 1, "place": {"room": "attic"}}
    with xscl.Engine() as engine:
        engine.subscribe(beside)
        engine.subscribe("SELECT place_1 AS before, place FROM C NEXT{$2.n > $1.n} C", name="q")
        engine.publish("C", value, id="1", timestamp=1)
        value["n"], value["place"]["room"] = 2, "cellar"
        found = [*engine.publish("C", value, id="2", timestamp=2), *engine.flush()]
        (match,) = (one for one in found if one.query == "q")
        assert match.result == {"before": {"room": "attic"}, "place": {"room": "cellar"}}


@pytest.mark.parametrize("lateness", [0, None])
def test_what_no_query_can_reach_is_not_retained(lateness: float | None) -> None:
    with xscl.Engine(lateness=lateness) as engine:
        engine.subscribe("SELECT a FROM C NEXT{$2.a > $1.a} C")
        engine.publish_many(
            {"stream": "C", "id": f"{n}", "timestamp": n, "json": {"a": n}} for n in range(9)
        )
        assert len(engine._intake.retained) == (1 if lateness == 0 else 9)


def test_a_batch_does_not_go_through_the_ids_of_all_before_it() -> None:
    class Ids(dict[str, int]):
        def __iter__(self) -> Any:
            raise AssertionError("gone through")

    with xscl.Engine() as engine:
        engine.subscribe("C NEXT{$2.a > $1.a} C")
        engine.publish_many([{"stream": "C", "id": "1", "timestamp": 1, "json": {"a": 1}}])
        engine._intake.ids["C"] = Ids(engine._intake.ids["C"])
        rows = [{"stream": "C", "id": id, "timestamp": 2, "json": {"a": 2}} for id in "12"]
        engine.publish_many(rows[1:])
        engine.publish_many(rows)
        assert engine.documents == 2
        assert engine.skipped.duplicate == 2
