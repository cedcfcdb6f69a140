"""A state file that is reopened with another lateness, another consistency or other revisable
streams: what was pending is reported once, what was reported is not again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.drawn import DRAW, some_of

S = {"revisable": {"S"}}
MIDDLE = {"consistency": "middle"}
STRONG = {"consistency": "strong"}


def shown(found: list[xscl.Match]) -> list[tuple[bool, tuple[str, ...]]]:
    return [(isinstance(one, xscl.Retraction), one.documents) for one in found]


QUERIES = ["S/i JOIN {1 day} T/i", "SELECT x FROM S/i->x JOIN {1 day} T/i", "S/i PUBLISH P"]
CHANGES: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    (S, S, False),
    (S, MIDDLE, False),
    (S, S | {"consistency": "middle(5 s)"}, False),
    (S, {"revisable": False}, False),
    (S, {"revisable": {"X"}}, False),
    ({}, S, True),
    ({}, S | MIDDLE, True),
    (S | MIDDLE, STRONG, True),
    (S | MIDDLE, MIDDLE, True),
]
REOPENED = [
    (*change, retracts, query)
    for number, (change, retracts) in enumerate(product(CHANGES, [False, True]))
    for query in (QUERIES if DRAW >= 1 else [QUERIES[number % len(QUERIES)]])
]
"""Each change with one query, by `make fuzz` with all."""


@pytest.mark.drawn
@pytest.mark.parametrize(("first", "then", "reported", "retracts", "query"), REOPENED)
def test_a_match_of_a_join_is_reported_once(
    first: dict[str, Any],
    then: dict[str, Any],
    reported: bool,
    retracts: bool,
    query: str,
    tmp_path: Path,
) -> None:
    state = tmp_path / "s.duckdb"
    expected = ("a",) if "PUBLISH" in query else ("a", "b")
    with xscl.Engine(state, **first) as engine:
        engine.subscribe(query)
        found = engine.publish("S", "<i/>", id="a", timestamp=1)
        found += engine.publish("T", "<i/>", id="b", timestamp=2)
    assert shown(found) == [(False, expected)] * reported
    with xscl.Engine(state, **then) as engine:
        if retracts and then.get("revisable", {"S"}) == {"S"}:
            # Before any other step: what was reported only provisionally is taken back.
            found = engine.retract("S", "a") + engine.flush()
            again = [(True, expected)] * (then.get("consistency") == "middle" and reported)
        else:
            found = engine.publish("U", "<i/>", id="u", timestamp=3) + engine.flush()
            again = [(False, expected)] * (not reported)
        assert shown(found) == again


@pytest.mark.parametrize(
    "query",
    [
        "S/i FOLLOWED BY {1 h} T/i",
        "EVENT SEQ(S a, !U u, T b) WITHIN 1 h",
        "S/i FOLLOWED BY {1 h} T/i JOIN {1 h} T/i",
    ],
)
@pytest.mark.parametrize("asks", ["subscribe", "stats", "history", "windows"])
def test_what_another_lateness_lets_be_reported_is_there_still(
    query: str, asks: str, tmp_path: Path
) -> None:
    """Nothing lets go of its documents before the step that reports it."""
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state, lateness="1 day", revisable={"S"}) as engine:
        engine.subscribe(query, name="q")
        engine.publish("S", "<i/>", id="a", timestamp=0)
        for number, time in enumerate((600, 700)):
            engine.publish("T", "<i/>", id=f"b{number}", timestamp=time)
        engine.publish("S", "<i/>", id="c", timestamp=10_000)
    with xscl.Engine(state, lateness=None if asks == "windows" else 0) as engine:
        found: list[xscl.Match] = []
        if asks == "windows":
            engine.follow_windows(0)
        elif asks == "stats":
            engine.stats(exact=True)
        else:
            # To look back is a step.
            found += engine.subscribe("S/j", name="new", history=asks == "history").found
        found += engine.publish("S", "<i/>", id="d", timestamp=50_000)
        assert {match.documents[:2] for match in found} >= {("a", "b0")}
        # Then they go.
        assert engine.stats(exact=True)["documents"] == 1


def test_a_document_without_rows_that_a_pattern_holds_is_in_no_match(tmp_path: Path) -> None:
    """No query reaches its leaves any more, though the widest window and the widest order together
    would."""
    state = tmp_path / "s.duckdb"
    with xscl.Engine(state, lateness=0) as engine:
        engine.load(
            "S/i->a JOIN {1 h} T/i->b; S/i->c FOLLOWED BY {10 days} T/i->d; "
            "EVENT SEQ(T x, U y) WITHIN 30 days"
        )
        engine.publish("T", "<i/>", id="old", timestamp=0)
    with xscl.Engine(state) as engine:
        engine.publish("T", "<i/>", id="new", timestamp=7_200)
        engine.stats(exact=True)
        found = engine.publish("S", "<i/>", id="n", timestamp=7_201)
        assert [(one.query, one.documents) for one in found] == [("q1", ("n", "new"))]
        found = engine.publish("U", "<i/>", id="u", timestamp=7_202)
        assert sorted(one.documents for one in found) == [("new", "u"), ("old", "u")]


WAITING = {
    "pattern": "EVENT SEQ(A a, !C c, B b) WITHIN 1 h",
    "another": "EVENT SEQ(A a, !C c, B b) WHERE [k] WITHIN 1 h",
    "rivals": "EVENT SEQ(A a, !C c, B b) WITHIN 1 h OUTPUT NON OVERLAPPING",
    "event query": "SELECT v FROM A NEXT{$1.k = $2.k} B",
    "total": "SELECT SUM(v) AS n FROM A GROUP BY k",
    "EQL": "SELECT * FROM (A x; B y) WHERE (x, y) OCCURS WITHIN 1 h",
    "automaton": "AUTOMATON "
    '{"events": {"a": "A", "b": "B"}, "within": "1 h", "final": ["end"], "arcs": ['
    '{"from": "begin", "to": "on", "event": "a"}, {"from": "on", "to": "end", "event": "b"}]}',
}
LEVELS = ["strong", "middle(5 s)", "middle(30 s)", "middle"]
WIDENED = [
    (name, before, then)
    for name in WAITING
    for at, before in enumerate(LEVELS)
    for then in LEVELS[at + 1 :]
]


@pytest.mark.drawn
@pytest.mark.parametrize("steps", [True, False])
@pytest.mark.parametrize(("name", "before", "then"), some_of(WIDENED, 16, "widened"))
def test_what_waited_is_reported_once_where_matches_are_reported_earlier(
    name: str, before: str, then: str, steps: bool, tmp_path: Path
) -> None:
    """By the next step; of the same engine, with queries that ask for what is the default then."""
    state = tmp_path / "s.duckdb"
    feed = [("A", 1, "a"), ("A", 2, "x"), ("B", 20, "b"), ("B", 50, "c"), ("A", 51, "d")]
    options: dict[str, Any] = {"lateness": 40, "revisable": {"A", "B"}}
    said: dict[str, str] = {}
    by_default, asking = Counter[str](), Counter[str]()

    def take(matches: Sequence[xscl.Match]) -> None:
        for one in matches:
            if not one.retracts:
                said[one.id] = f"{one.time} {one.documents} {one.result}"
            of = by_default if one.query == "default" else asking
            of[said[one.id]] += -1 if one.retracts else 1

    with xscl.Engine(state, consistency=before, **options) as engine:
        engine.subscribe(WAITING[name], name="default")
        text = WAITING[name]
        if name == "automaton":
            text = text.replace('"within"', f'"consistency": "{then}", "within"')
        else:
            text = f"{text} CONSISTENCY {then}"
        engine.subscribe(text, name="asking")
        for stream, time, id in feed:
            take(engine.publish(stream, {"k": 1, "v": time}, id=id, timestamp=time))
    if steps:
        # Twice without a step between.
        xscl.Engine(state, consistency=then).close()
    with xscl.Engine(state, consistency=then) as engine:
        take(engine.publish("U", {}, id="u", timestamp=51))
        assert by_default == asking
        take(engine.publish("B", {"k": 1, "v": 52}, id="e", timestamp=52))
        assert by_default == asking
        take(engine.flush())
        assert by_default == asking
        take(engine.advance(10_000))
        assert by_default == asking
        assert min(asking.values()) >= 0


AT_ONCE = {
    "pattern": "EVENT SEQ(A a, B b) WITHIN 1 h",
    "selection": "SELECT v FROM A",
    "EQL": "SELECT * FROM (A x; B y) WHERE (x, y) OCCURS WITHIN 1 h",
    "join": "A/json JOIN {1 h} B/json",
}


@pytest.mark.parametrize("was", [False, True])
@pytest.mark.parametrize("then", [False, True])
@pytest.mark.parametrize("name", AT_ONCE)
def test_what_is_reported_at_once_or_waits_is_reported_once_under_middle(
    name: str, was: bool, then: bool, tmp_path: Path
) -> None:
    """Where streams become revisable, or cease to be, in the same restart."""
    state = tmp_path / "s.duckdb"
    found: list[xscl.Match] = []
    with xscl.Engine(state, lateness=10, revisable=was) as engine:
        engine.subscribe(AT_ONCE[name])
        found += engine.publish("A", {"v": 1}, id="a", timestamp=1)
        found += engine.publish("B", {"v": 2}, id="b", timestamp=2)
        assert bool(found) is (not was and name != "EQL") or name == "EQL"
    with xscl.Engine(state, revisable=then, consistency="middle") as engine:
        found += engine.publish("U", {}, id="u", timestamp=3)
        assert len(found) == 1
        found += [*engine.flush(), *engine.advance(100)]
    assert len(found) == 1


def test_a_join_over_what_becomes_revisable_reports_nothing_again(tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    text = "SELECT a.x AS x FROM EVENT SEQ(A a, !C c, B b) WITHIN 9 PUBLISH P"
    found: list[xscl.Match] = []
    with xscl.Engine(state, lateness=15) as engine:
        engine.subscribe(text, name="p")
        engine.subscribe("P//x->x JOIN {1 h} T//t->t", name="q")
        for stream, id, time in (("A", "a", 1), ("B", "b", 2), ("T", "t", 20)):
            found += engine.publish(stream, {"x": 1, "t": 1}, id=id, timestamp=time)
        assert [one.query for one in found] == ["p", "q"]
    with xscl.Engine(state, consistency="middle") as engine:
        found += [*engine.publish("U", {}, id="u", timestamp=20), *engine.flush()]
    assert [one.query for one in found] == ["p", "q"]


@pytest.mark.parametrize("then", [{"S"}, {"X"}, False])
def test_what_is_retracted_is_none_to_others_than_weak(then: Any, tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    options: dict[str, Any] = {"lateness": 100, "consistency": "weak"}
    with xscl.Engine(state, revisable={"S"}, **options) as engine:
        engine.subscribe("SELECT x FROM S/i->x JOIN {1 h} T/i", name="weak")
        text = "SELECT k FROM FILTER{k = k}(SELECT k FROM S/i[./k->k] JOIN {1 h} T/i)"
        engine.subscribe(f"{text} CONSISTENCY strong", name="strong")
        engine.publish("S", "<i><k>1</k></i>", id="a", timestamp=1)
        engine.retract("S", "a")
    with xscl.Engine(state, revisable=then) as engine:
        found = [*engine.publish("T", "<i/>", id="b", timestamp=2), *engine.flush()]
    assert [one.query for one in found] == ["weak"]


CEASING = "SELECT a.x AS x FROM EVENT SEQ(A a, !C c, B b) WITHIN 9 CONSISTENCY middle PUBLISH P"
OPTIONS = ["strong", "middle(5 s)", "middle(30 s)", "middle"]
CEASED = [
    (text, asks, before, then)
    for text in ("EVENT SEQ(P p, D d) WITHIN 1 h", "SELECT v FROM P", "SELECT * FROM (P x | D y)")
    for asks in (False, True)
    for before in OPTIONS
    for then in (OPTIONS[OPTIONS.index(before) :] if not asks else [before])
]


@pytest.mark.drawn
@pytest.mark.parametrize("how", ["a run", "a restart", "another"])
@pytest.mark.parametrize(("text", "asks", "before", "then"), some_of(CEASED, 14, "ceased"))
def test_what_waited_is_reported_once_where_a_stream_ceases_to_be_revisable(
    text: str, asks: bool, before: str, then: str, how: str, tmp_path: Path
) -> None:
    """As the query that is to publish no more to it has gone, or as the engine is opened otherwise;
    with restarts behind that, after steps or not, and with another consistency at last."""
    state = tmp_path / "s.duckdb"
    options: dict[str, Any] = {"lateness": 40}
    if how == "another":
        options["revisable"] = {"P"}
    if not asks:
        options["consistency"] = before
    found: list[xscl.Match] = []
    with xscl.Engine(state, **options) as engine:
        engine.subscribe(f"{text} CONSISTENCY {before}" if asks else text, name="q")
        engine.subscribe(CEASING if how != "another" else "A//x", name="m")
        found += engine.publish("P", {"v": 1}, id="p", timestamp=1)
        found += engine.publish("D", {}, id="d", timestamp=20)
        if how == "a run":
            engine.cancel("m")
            found += engine.publish("U", {}, timestamp=21)
    with xscl.Engine(state, revisable=False) as engine:
        if how == "a restart":
            engine.cancel("m")
    for _ in range(2):
        with xscl.Engine(state) as engine:
            found += engine.publish("U", {}, timestamp=21)
    with xscl.Engine(state, consistency=then) as engine:
        found += engine.publish("U", {}, timestamp=22)
    with xscl.Engine(state) as engine:
        found += [*engine.flush(), *engine.advance(1_000)]
        engine.cancel("q")
        assert engine.publish("P", {"v": 1}, timestamp=1_001) == []
    expected = {"EVENT": 1, "SELECT v": 1, "SELECT *": 2}
    matches = [one for one in found if one.query == "q"]
    assert not any(one.retracts for one in matches)
    assert len({one.id for one in matches}) == len(matches)
    assert len(matches) == next(n for words, n in expected.items() if text.startswith(words))


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("then", ["middle", "middle(30 s)", "strong"])
@pytest.mark.parametrize("text", ["EVENT SEQ(P p, D d) WITHIN 1 h", "SELECT * FROM (P x | D y)"])
def test_what_was_reported_early_is_not_again(
    text: str, then: str, steps: bool, tmp_path: Path
) -> None:
    """Before its stream became revisable, by a query that goes by another consistency now."""
    state = tmp_path / "s.duckdb"
    found: list[xscl.Match] = []
    with xscl.Engine(state, lateness=40) as engine:
        engine.subscribe(text, name="q")
        found += engine.publish("P", {"v": 1}, id="p", timestamp=1)
        found += engine.publish("D", {}, id="d", timestamp=2)
        assert found
        engine.subscribe(CEASING, name="m")
        found += engine.publish("U", {}, timestamp=3)
    if steps:
        xscl.Engine(state, consistency="middle").close()
    with xscl.Engine(state, consistency=then) as engine:
        found += engine.publish("U", {}, timestamp=4)
    with xscl.Engine(state) as engine:
        found += [*engine.publish("U", {}, timestamp=5), *engine.flush(), *engine.advance(1_000)]
    assert len({one.id for one in found}) == len(found)
