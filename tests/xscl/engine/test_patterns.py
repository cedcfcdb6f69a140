"""Patterns in the engine: time that passes, what they publish and read, queries that come and go,
restarts, and what matches say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import xscl

UNPAID = "EVENT SEQ(O o, !P p) WHERE [id] WITHIN 10"


def document(stream: str, time: float, **members: Any) -> dict[str, Any]:
    return {"stream": stream, "id": f"{stream}{time:g}", "timestamp": time, "json": members}


def found(matches: Sequence[xscl.Match]) -> list[tuple[object, ...]]:
    return [(one.query, one.documents, one.start, one.time) for one in matches]


def test_an_absence_is_reported_when_time_has_passed() -> None:
    engine = xscl.Engine(lateness=2)
    engine.subscribe(UNPAID, name="q")
    orders = [document("O", 0, id=1), document("O", 1, id=2), document("P", 5, id=1)]
    assert engine.publish_many(orders) == []
    assert engine.publish("O", {"id": 3}, id="late", timestamp=12.5) == []
    assert found(engine.publish("X", {}, timestamp=12.9)) == []
    assert found(engine.advance(11)) == [("q", ("O1",), 1.0, 11.0)]
    assert engine.advance("1970-01-01T00:00:11Z") == engine.advance(3) == []
    assert engine.watermark == 11
    engine.publish("O", {}, id="too late", timestamp=10.9)
    assert engine.skipped.late == 1
    assert found(engine.flush()) == [("q", ("late",), 12.5, 22.5)]
    assert engine.flush() == engine.advance(100) == []


def test_a_line_says_that_time_has_passed() -> None:
    engine = xscl.Engine()
    engine.subscribe(UNPAID, name="q")
    lines = [document("O", 0, id=1), {"advance": 20}, document("P", 5, id=1)]
    assert found(engine.publish_many(lines)) == [("q", ("O0",), 0.0, 10.0)]
    assert (engine.skipped.late, engine.documents) == (1, 1)
    engine.publish_many([{"advance": "soon"}])
    assert engine.skipped.malformed == 1
    with pytest.raises(xscl.XSCLError, match=r"advance: .*'soon'"):
        engine.advance("soon")


def test_run_and_count_flush() -> None:
    documents = [document("O", time, id=time) for time in range(5)]
    for take, number in ((lambda e: len([*e.run(documents, batch=2)]), 5),) * 2:
        engine = xscl.Engine()
        engine.subscribe(UNPAID, name="q")
        assert take(engine) == number
    engine = xscl.Engine()
    engine.subscribe(UNPAID, name="q")
    assert engine.count(documents, batch=2, flush=False) == {"q": 0}
    assert engine.count([]) == {"q": 5}


CHAIN = [
    ("top", "EVENT SEQ(pairs x, !Z z, pairs y) WITHIN 100"),
    ("echo", "pairs//id JOIN {} Z"),
    ("pairs", "SELECT a, b FROM EVENT SEQ(unpaid a, unpaid b) WITHIN 30 PUBLISH pairs"),
    ("unpaid", "SELECT o.id FROM EVENT SEQ(O o, !P p) WHERE [id] WITHIN 10 PUBLISH unpaid"),
]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("one_by_one", [True, False])
def test_a_chain_finds_the_same_in_whatever_order_it_comes(order: int, one_by_one: bool) -> None:
    """In one step, each level sees all that the levels below it have published."""
    engine = xscl.Engine(lateness=0)
    for name, text in CHAIN[::order]:
        engine.subscribe(text, name=name)
    documents = [document("O", time, id=time % 3) for time in (0, 1, 2, 20, 21)]
    documents += [document("P", 22, id=2), document("Z", 40), {"advance": 60}]
    matches: list[xscl.Match] = []
    for some in [[one] for one in documents] if one_by_one else [documents]:
        matches += engine.publish_many(some)
    matches += engine.flush()
    times = {name: sorted(m.time for m in matches if m.query == name) for name, _ in CHAIN}
    assert times["unpaid"] == [10, 11, 12, 31]
    assert times["pairs"] == [11, 12, 12, 31, 31, 31]
    assert times["top"] == [12] * 2 + [31] * 9
    assert times["echo"] == [40] * 12


def test_a_sub_query_of_a_join_may_be_a_pattern() -> None:
    engine = xscl.Engine(lateness=0)
    engine.subscribe(
        "(SELECT b.id FROM EVENT SEQ(A a, !C c, B b) WHERE [id])//id->x JOIN {x = y} S//who->y",
        name="q",
    )
    engine.publish("S", "<s><who>7</who></s>", id="s", timestamp=0)
    engine.publish("A", {"id": 7}, id="a", timestamp=1)
    (match,) = engine.publish("B", {"id": 7}, id="b", timestamp=2)
    assert match.query == "q"
    assert match.documents[1] == "s"
    assert (match.variables, match.start) == ((), None)


def test_history_sees_what_is_retained() -> None:
    engine = xscl.Engine(lateness=0)
    engine.subscribe("A/json//item->x JOIN {x = y, 1 hour} A/json//other->y", name="holds")
    engine.subscribe("EVENT SEQ(A x, A y, A z) WITHIN 100", name="other")
    engine.publish_many([document("A", time, id=1) for time in (1, 2)])
    new = engine.subscribe("EVENT SEQ(A x, A y) WITHIN 10", name="q", history=True)
    plain = engine.subscribe("EVENT SEQ(A x, A y) WITHIN 10", name="r")
    assert found(new.found) == [("q", ("A1", "A2"), 1.0, 2.0)]
    assert plain.found == []
    assert sorted(found(engine.publish_many([document("A", 3, id=1)]))) == [
        ("other", ("A1", "A2", "A3"), 1.0, 3.0),
        ("q", ("A1", "A3"), 1.0, 3.0),
        ("q", ("A2", "A3"), 2.0, 3.0),
    ]
    new.cancel()
    (match,) = [m for m in engine.publish_many([document("A", 4, id=1)]) if m.query != "other"]
    assert found([match]) == [("r", ("A3", "A4"), 3.0, 4.0)]


@pytest.mark.parametrize("flushed", [False, True])
def test_a_restart_loses_nothing_and_repeats_nothing(flushed: bool, tmp_path: Path) -> None:
    texts = {
        "once": "PATTERN SEQ(A a, A b) WITHIN 10 OUTPUT NON OVERLAPPING",
        "part": "EVENT SEQ(A//item->i[k = 1] x, !B b, A//item[./k->key] y) WHERE y.key = 2",
        "unpaid": "SELECT o.id FROM EVENT SEQ(A o, !P p) WITHIN 5 PUBLISH unpaid",
        "two": "EVENT SEQ(unpaid x, !B b, unpaid y) WITHIN 20",
    }
    documents = [document("A", time, item=[{"k": 1}, {"k": time}]) for time in range(8)]
    documents.insert(5, document("B", 4.5))

    def run(*breaks: int, state: Path | None) -> list[tuple[object, ...]]:
        matches: list[xscl.Match] = []
        engine = xscl.Engine(state, lateness=1)
        for name, text in texts.items():
            engine.subscribe(text, name=name)
        for number, one in enumerate(documents):
            if number in breaks and state is not None:
                engine.close()
                engine = xscl.Engine(state, lateness=1)
            matches += engine.publish_many([one])
            if flushed and number == 3:
                matches += engine.flush()
        matches += engine.advance(9)
        if state is not None:
            engine.close()
            engine = xscl.Engine(state, lateness=1)
        matches += engine.flush()
        engine.close()
        assert len({match.id for match in matches}) == len(matches)
        return sorted([(one.id, *said) for one, said in zip(matches, found(matches), strict=True)])

    expected = run(state=None)
    assert {name for _, name, *_ in expected} == texts.keys()
    assert run(2, 4, 5, 7, state=tmp_path / "state") == expected


SELECTED = {
    "a[1].p, b.p AS last, avg(a[].p), a.LEN": {"p": 1, "last": 7, "avg": 2.5, "LEN": 2},
    "a[].p, a[a.LEN].timestamp": {"p": [1, 4], "timestamp": 2},
    '{"all": [a[].p], "first": a[1].p, "none": a[1].q, "more": b.p * 2 + 0.5}': {
        "all": [1, 4],
        "first": 1,
        "none": None,
        "more": 14.5,
    },
    "<r n='{count(a[])}'>{a[].p}<s>{string(b.p)}</s></r>": (
        '<r n="2"><p>1</p><p>4</p><s>7</s></r>'
    ),
    "*": [{"p": 1}, {"p": 4}, {"p": 7}],
}


@pytest.mark.parametrize("select", SELECTED)
def test_what_select_names(select: str) -> None:
    engine = xscl.Engine()
    engine.subscribe(f"SELECT {select} FROM PATTERN SEQ(A+ a[], B b)", name="q")
    engine.publish_many([document("A", 1, p=1), document("A", 2, p=4), document("B", 3, p=7)])
    (match,) = [one for one in engine.flush() if len(one.documents) == 3]
    assert match.result == SELECTED[select]
    assert match.to_dict()["variables"] == ["a", "a", "b"]
    if not select.startswith("{"):
        assert match.xml() is not None


def test_groups_may_be_read_after_their_documents_have_gone() -> None:
    engine = xscl.Engine(lateness=0)
    called: list[xscl.Match] = []
    text = "PATTERN SEQ(A//item+ a[], B b) WHERE skip_till_any_match { } WITHIN 10"
    engine.subscribe(text, name="q", on_match=called.append)
    engine.publish_many([document("A", time, item=[1, 2]) for time in (1, 2, 3)])
    groups = engine.publish_many([document("B", 4)], grouped=True)
    engine.publish("B", {}, id="later", timestamp=100)
    engine.stats(exact=True)
    (group,) = groups
    assert (group.documents, [*group.queries], group.count) == (("B4",), ["q"], 26)
    matches = [*group.matches()]
    assert len({one.id for one in matches}) == 26
    assert {*called} == {*matches}
    assert all(one.result for one in matches)


def test_a_bad_technique_is_refused() -> None:
    with pytest.raises(xscl.XSCLError, match="without: 'speed' is no technique; there are: "):
        xscl.Engine(without={"speed"})


CONSTANTS = "EVENT SEQ(A a, B b) WHERE a.k = :key AND b.p > :least"


@pytest.mark.parametrize("take", [xscl.Engine.publish_many, xscl.Engine.run])
def test_queries_that_are_the_same_up_to_constants(take: Callable[..., Any]) -> None:
    engine = xscl.Engine(lateness=0)
    rows = [
        {"name": f"{key}{least}", "key": key, "least": least} for key in "xy" for least in (1, 5)
    ]
    subscriptions = engine.subscribe_many(CONSTANTS, rows)
    subscriptions[0].cancel()
    documents = [document("A", 1, k="x"), document("A", 2, k="y"), document("B", 3, p=3)]
    assert [*map(str, (m.query for m in take(engine, documents)))] == ["y1"]


def test_a_document_may_have_a_span_of_time() -> None:
    engine = xscl.Engine()
    engine.subscribe("S/a", name="q")
    engine.subscribe("SELECT x.p FROM EVENT SEQ(A x, A y) PUBLISH S", name="p")
    engine.subscribe("S//p", name="r")
    envelope = {"id": "d", "timestamp": 9, "start": "1970-01-01T00:00:04Z", "xml": "<a/>"}
    (match,) = engine.publish_many([envelope])
    assert (match.start, match.variables) == (4, ())
    assert match.to_dict()["start"] == 4
    assert "variables" not in match.to_dict()
    found = engine.publish_many([document("A", time, p=1) for time in (1, 3)])
    assert [(one.query, one.start, one.time) for one in found] == [("p", 1, 3), ("r", 1, 3)]
    with pytest.raises(xscl.DocumentError, match=r"`start` is 5, after its timestamp"):
        xscl.Engine()._evaluation.read([{"xml": "<a/>", "start": 5, "timestamp": 4}], raising=True)


def test_a_cleared_engine_restarted() -> None:
    engine = xscl.Engine(lateness=0)
    engine.subscribe("PATTERN SEQ(A a, A b) OUTPUT NON OVERLAPPING", name="q")
    documents = [document("A", time) for time in (1, 2, 3)]
    for _ in range(2):
        assert found([*engine.run(documents)]) == [("q", ("A1", "A2"), 1.0, 2.0)]
        engine.clear()
        assert engine.flush() == []


@pytest.mark.parametrize("lateness", [0, 1, 2, 5, "INF", None])
def test_another_lateness_at_reopening_reports_each_match_once(
    lateness: float | str | None, tmp_path: Path
) -> None:
    """The watermark never falls, and what it passes by a lesser lateness is reported after all."""
    path, texts = tmp_path / "state", ["EVENT SEQ(O a, P b) WHERE [id] WITHIN 10", UNPAID]
    documents = [document("O", 0, id=1), document("P", 3, id=1), document("O", 4, id=2)]
    documents += [document("P", 13, id=2), document("X", 16)]
    with xscl.Engine(path, lateness=2) as engine:
        for number, text in enumerate(texts):
            engine.subscribe(text, name=f"q{number}")
        reported = found(engine.publish_many([*documents, document("O", 15, id=3)]))
        mark = engine.watermark
    with xscl.Engine(path, lateness=lateness) as engine:
        assert mark is not None
        assert engine.watermark == (16 if lateness == 0 else 15 if lateness == 1 else mark)
        reported += found(engine.publish_many([document("P", mark + 0.5, id=2)]))
        reported += found(engine.advance(100))
    assert len(reported) == len({*reported})
    assert sorted(one for one in reported if one[0] == "q1") == [("q1", ("O15",), 15.0, 25.0)]
    assert ("q0", ("O0", "P3"), 0.0, 3.0) in reported
    assert ("q0", ("O4", "P13"), 4.0, 13.0) in reported


def test_groups_that_are_kept_give_their_matches_when_documents_have_gone() -> None:
    """Where runs have merged, the buffer leads from a group to events that no match of it has."""
    rises = (
        "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match { [k] AND a[1].p = 0 AND b.q = 1 } "
        "WITHIN 20"
    )
    events = [
        {"stream": "S", "id": str(at), "timestamp": at, "json": {"k": 1, "p": at % 3, "q": at % 4}}
        for at in range(400)
    ]
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(rises)
        expected = Counter(match.documents for match in engine.run(events, batch=1))
    with xscl.Engine(lateness=0) as engine:
        engine.subscribe(rises)
        groups = [group for event in events for group in engine.publish_many([event], grouped=True)]
        groups += engine.run([], grouped=True)
        found = Counter(match.documents for group in groups for match in group.matches())
    assert found == expected
    assert found.total() > 500
