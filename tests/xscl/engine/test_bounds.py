"""No query takes the machine: one that needs more than the engine allows is stopped and reported,
and no other is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xscl
from tests.drawn import drawn
from xscl.errors import QueryStopped

MOST = 200
ANY = "WHERE skip_till_any_match {}"
EXPLODING = {
    "all matches are found": f"PATTERN SEQ(S+ a[], S b) {ANY}",
    "they are pending": f"PATTERN SEQ(S+ a[], S b, !T c) {ANY} WITHIN 1 h",
    "runs are distinct": "PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match { avg(a[].v) > 99 }",
    "without a last one": f"PATTERN SEQ(S+ a[], T b) {ANY[:-2]} {{ avg(a[].v) > 99 }}",
    "sequences": "EVENT SEQ(S a, S b, S c, S d, S e, S f, S g)",
    "iterations": "S FOLD{,} S FOLD{,} S",
    "sequences, pending": "EVENT SEQ(S a, S b, S c, S d, S e, S f, !T g) WITHIN 1 h",
}


def documents(many: int, first: int = 0) -> list[dict[str, object]]:
    return [
        {"stream": "S", "id": f"d{i}", "timestamp": 1000 + i, "json": {"k": 1, "v": i * i}}
        for i in range(first, first + many)
    ]


@pytest.mark.parametrize("lateness", [0, None])
@pytest.mark.parametrize("kind", EXPLODING)
def test_a_pattern_is_stopped(kind: str, lateness: float | None, tmp_path: Path) -> None:
    state, stops = tmp_path / "s.duckdb", list[QueryStopped]()
    text = EXPLODING[kind].replace("{ { ", "{ ")
    with xscl.Engine(state, lateness=lateness, most_matches=MOST, on_stop=stops.append) as engine:
        engine.subscribe(text, name="much")
        engine.subscribe("EVENT SEQ(S a, !S b) WITHIN 0.5", name="other")
        matches = engine.publish_many(documents(30)) + engine.flush()
        assert [one.query for one in stops] == ["much"]
        assert "more than 200" in str(stops[0])
        assert [one.name for one in engine.subscriptions] == ["other"]
        assert sum(one.query == "other" for one in matches) == 30
        assert sum(one.query == "much" for one in matches) <= MOST
    with xscl.Engine(state, lateness=lateness, most_matches=MOST, on_stop=stops.append) as engine:
        matches = engine.publish_many(documents(3, 30)) + engine.flush()
        assert [one.documents for one in matches] == [("d30",), ("d31",), ("d32",)]
    assert len(stops) == 1


SIMILAR = {
    "all matches are found": f"PATTERN SEQ(S+ a[], S b) {ANY[:-1]} a[1].v >= # }}",
    "they are pending": f"PATTERN SEQ(S+ a[], S b, !T c) {ANY[:-1]} a[1].v >= # }} WITHIN 1 h",
    "runs are distinct": f"PATTERN SEQ(S+ a[], S b) {ANY[:-1]} a[1].v >= # AND avg(a[].v) > 9 }}",
    "sequences": "EVENT SEQ(S a, S b, S c, S d) WHERE a.v >= #",
    "sequences, the first of which comes late": "EVENT SEQ(T a, S b, S c, S d, S e) WHERE b.v >= #",
    "sequences, pending": "EVENT SEQ(S a, S b, S c, S d, !T g) WHERE a.v >= # WITHIN 1 h",
    "sequences that rival": "EVENT SEQ(S a, S b, S c, S d) WHERE a.v >= # OUTPUT NON OVERLAPPING",
    "instances": "FILTER{v >= #}(S) NEXT{$2.k = 2} S",
    "iterations": "FILTER{v >= #}(S) FOLD{,} S",
    "iterations, simultaneous": "FILTER{v >= #}(S) FOLD{, , $.v + v AS v} S",
    "sequences of simultaneous events": "(FILTER{v >= #}(S) NEXT{} S) NEXT{} S",
}


@pytest.mark.parametrize("kind", SIMILAR)
@drawn(20)
@given(data=st.data())
def test_others_that_differ_in_a_constant_continue(kind: str, data: st.DataObject) -> None:
    """They share an automaton with what is stopped, and find what they find without a bound."""
    first = data.draw(st.sets(st.integers(5, 16), min_size=2, max_size=5), "from the events")
    some = documents(17)
    if "late" in kind:
        late = {"stream": "T", "id": "t", "timestamp": 999, "json": {"v": 0}}
        some.insert(data.draw(st.integers(0, 17), "late after"), late)
    if "simultaneous" in kind:
        for one, time in enumerate(
            data.draw(st.lists(st.integers(1, 9), min_size=17, max_size=17))
        ):
            some[one]["timestamp"] = 1000 + time
        some.sort(key=lambda one: one["timestamp"])  # type: ignore[arg-type, return-value]
    size = data.draw(st.integers(1, 18), "in steps of")
    steps = [some[at : at + size] for at in range(0, len(some), size)]
    lateness = data.draw(st.sampled_from([0, None]), "lateness")
    compare(kind, data.draw(st.integers(1, 60), "most"), first, steps, lateness)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("kind", SIMILAR)
def test_others_that_have_little_continue(kind: str, most: int) -> None:
    compare(kind, most, {12, 13, 14}, [[one] for one in documents(17)], 0)


def compare(
    kind: str,
    most: int,
    first: set[int],
    steps: list[list[dict[str, object]]],
    lateness: float | None,
) -> None:
    """Queries from some events on, with a bound and without."""
    stops = list[QueryStopped]()
    bounded = xscl.Engine(lateness=lateness, most_matches=most, on_stop=stops.append)
    free = xscl.Engine(lateness=lateness)
    for event in first:
        for engine in (bounded, free):
            engine.subscribe(SIMILAR[kind].replace("#", str(event * event)), name=str(event))
    found = [
        [engine.publish_many(step) for step in steps] + [engine.flush()]
        for engine in (bounded, free)
    ]
    stopped = {one.query for one in stops}
    assert len(stopped) == len(stops)
    total, in_a_step = Counter[str](), Counter[str]()
    for now, then in zip(*found, strict=True):
        assert Counter(one for one in now if one.query not in stopped) == Counter(
            one for one in then if one.query not in stopped
        )
        counts = Counter(one.query for one in then)
        total += counts
        in_a_step |= counts
    assert {query for query, many in in_a_step.items() if many > most} <= stopped
    if kind in ("sequences", "sequences, pending"):
        # Of others runs that are partial are counted, too, and matches that have a rival.
        assert stopped <= {query for query, many in total.items() if many > most}
    assert {one.name for one in bounded.subscriptions} == {str(one) for one in first} - stopped


@pytest.mark.parametrize("kind", SIMILAR)
def test_many_together_may_have_more(kind: str) -> None:
    stops = list[QueryStopped]()
    engine = xscl.Engine(most_matches=MOST, on_stop=stops.append)
    for value in range(100):
        engine.subscribe(SIMILAR[kind].replace("#", str(26 * 26 - value / 1000)))
    late = {"stream": "T", "id": "t", "timestamp": 999, "json": {"v": 0}}
    found = engine.publish_many([*documents(31), late]) + engine.flush()
    assert len(found) > MOST or "rival" in kind or "instances" in kind
    assert not stops


def test_counts_need_no_bound() -> None:
    """Where matches are not enumerated, there may be any number of them."""
    stops = list[QueryStopped]()
    engine = xscl.Engine(most_matches=MOST, on_stop=stops.append)
    engine.subscribe(EXPLODING["all matches are found"], name="much")
    assert engine.count(documents(30))["much"] == 2**30 - 30 - 1
    assert not stops


def test_one_that_looks_back_is_stopped() -> None:
    stops = list[QueryStopped]()
    engine = xscl.Engine(most_matches=MOST, on_stop=stops.append)
    engine.subscribe("S/*->x JOIN {x = y} Never/none->y")
    engine.publish_many(documents(30))
    engine.subscribe(EXPLODING["they are pending"], name="much", history=True)
    engine.flush()
    assert [one.query for one in stops] == ["much"]


def test_a_bound_is_a_number_of_matches() -> None:
    with pytest.raises(xscl.XSCLError, match="most_matches: 0 is too few"):
        xscl.Engine(most_matches=0)


AGAIN = {
    "sequences": "EVENT SEQ(S a, !U u, T b) WITHIN 1 h",
    "runs": "PATTERN SEQ(S+ a[], T b) WHERE skip_till_next_match { }",
    "event queries": "FILTER{v >= 0}(S) NEXT{$2.v >= $1.v} T",
    "iterations": "FILTER{v >= 0}(S) FOLD{$2.v > 0, , $.w + 1 AS w} T",
    "a composition": "SELECT * FROM (S A; T B) WHERE (A, B) OCCURS WITHIN 1 h",
    "an automaton": """AUTOMATON {"events": {"s": "S", "t": "T"}, "within": "1 h", "final": ["q2"],
        "arcs": [{"from": "q0", "to": "q1", "event": "s"}, {"from": "q1", "to": "q2", "event": "t"},
                 {"from": "q1", "to": "q1", "event": "*", "kind": "ignore"}]}""",
}


@pytest.mark.parametrize("kind", AGAIN)
def test_what_is_processed_again_counts_once(kind: str) -> None:
    """In none of 30 steps a query has as many matches as it may, but in all of them together: a
    late document is processed with these."""
    stops, free = list[QueryStopped](), xscl.Engine(lateness="1 h", consistency="middle")
    free.subscribe(AGAIN[kind], name="much")

    def step(engine: xscl.Engine, number: int) -> int:
        value, both = {"v": number, "w": 0}, (("S", 0.0), ("T", 0.5))
        some = [
            {"stream": stream, "id": f"{stream}{number}", "timestamp": number + more, "json": value}
            for stream, more in both
        ]
        return sum(1 - 2 * one.retracts for one in engine.publish_many(some))

    order = [*range(1_001, 1_031), 1_000]
    found = [step(free, number) for number in order]
    # Of an automaton runs that are partial are counted, too.
    most = max(100 if kind == "an automaton" else 0, *map(abs, found)) + 1
    assert sum(found) > most
    engine = xscl.Engine(
        lateness="1 h", consistency="middle", most_matches=most, on_stop=stops.append
    )
    engine.subscribe(AGAIN[kind], name="much")
    assert [step(engine, number) for number in order] == found
    assert not stops
