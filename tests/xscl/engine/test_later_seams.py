"""Where parts of an engine meet late: what is weak beside what is not, what waits over a restart,
callbacks that wait for others, retractions of what had been flushed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import xscl
from xscl import Engine

AND_A_SUB_QUERY = (
    "SELECT k FROM FILTER{v > 0}(SELECT k, v FROM S/i[./k->k] JOIN {k = l} T/i[./k->l][./v->v]) "
    "CONSISTENCY strong"
)


def ids(matches: Any) -> list[list[str]]:
    return [[*one.documents] for one in matches if not one.retracts]


def test_weak_matches_compete_with_what_was_retracted_from_others() -> None:
    with Engine(lateness=100, revisable=True) as engine:
        engine.subscribe("EVENT SEQ(A x, B y) WITHIN 9 OUTPUT NON OVERLAPPING CONSISTENCY weak")
        engine.publish("A", {}, id="a1", timestamp=1)
        engine.publish("A", {}, id="a2", timestamp=1)
        engine.retract("A", "a1")
        found = [*engine.publish("B", {}, id="b", timestamp=3), *engine.flush()]
        assert len(ids(found)) == 1


@pytest.mark.parametrize("later", ["strong", "middle", "weak", None])
@pytest.mark.parametrize("first", ["strong", "middle", "weak"])
def test_pending_joins_are_reported_whatever_the_consistency_is_then(
    first: str, later: str | None, tmp_path: Path
) -> None:
    state = tmp_path / "s"
    with Engine(state, revisable={"S"}, consistency=first) as engine:
        engine.subscribe("S/i JOIN {1 day} T/i")
        found = engine.publish("S", "<i/>", id="a", timestamp=1)
        found += engine.publish("T", "<i/>", id="b", timestamp=2)
    with Engine(state, consistency=later) as engine:
        found += engine.publish("U", "<i/>", timestamp=3)
        found += engine.flush()
    assert ids(found) == [["a", "b"]]


@pytest.mark.parametrize(
    ("restart", "later"), [(False, None), (True, None), (True, "strong"), (True, "weak")]
)
@pytest.mark.parametrize("level", ["weak", "middle(5 s)", "strong", "middle"])
def test_a_join_in_a_strong_query_waits_over_a_restart(
    level: str, restart: bool, later: str | None, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"consistency": level, "revisable": {"S"}, "lateness": "1 h"}
    engine = Engine(tmp_path / "s", **options)
    engine.subscribe(AND_A_SUB_QUERY, name="q")
    found = engine.publish("S", "<i><k>1</k></i>", id="s", timestamp=1)
    found += engine.publish("T", "<i><k>1</k><v>2</v></i>", id="t", timestamp=2)
    assert found == []
    if restart:
        engine.close()
        engine = Engine(tmp_path / "s", consistency=later)
    assert len(engine.flush()) == 1
    engine.close()


@pytest.mark.parametrize(
    "query", ["EVENT SEQ(A a, B b) WITHIN 9", "SELECT * FROM A NEXT B", "A/json JOIN {9 s} B/json"]
)
def test_what_was_flushed_is_taken_back_without_a_watermark(query: str) -> None:
    with Engine(revisable=True, consistency="middle(5 s)") as engine:
        engine.subscribe(query)
        found = engine.publish("A", {"x": 1}, id="a", timestamp=1)
        found += engine.publish("B", {"x": 1}, id="b", timestamp=2)
        found += engine.flush()
        assert [one.retracts for one in found] == [False]
        assert [one.retracts for one in engine.retract("A", "a")] == [True]
        assert engine.advance(0.5) == []
        assert engine.flush() == []


@pytest.mark.parametrize("way", ["cancel", "exact"])
def test_what_waits_to_be_written_is_handed_over_outside_the_lock(way: str, tmp_path: Path) -> None:
    handed: list[float | None] = []
    with Engine(tmp_path / "s", commit_every="1 h") as engine:

        def hand(match: xscl.Match) -> None:
            other = threading.Thread(target=lambda: handed.append(engine.watermark), daemon=True)
            other.start()
            other.join(20)
            assert not other.is_alive()

        engine.subscribe("S/a", name="a", on_match=hand)
        engine.subscribe("S/b", name="b")
        engine.publish("S", "<a/>")
        if way == "cancel":
            engine.cancel("b")
        else:
            engine.stats(exact=True)
            engine.commit()
    assert handed == [None]


def test_a_refused_clearing_leaves_an_engine_as_it_was(tmp_path: Path) -> None:
    with Engine(tmp_path / "s") as engine:
        engine.subscribe("S/a")
        with pytest.raises(xscl.StateError, match="cannot clear"):
            engine.clear()
        assert len(engine.publish("S", "<a/>")) == 1


AUTOMATON: dict[str, Any] = {
    "events": {"e": "E", "f": "F"},
    "final": ["c"],
    "arcs": [
        {"from": "a", "to": "b", "event": "e"},
        {"from": "b", "to": "b", "kind": "ignore", "event": "*"},
        {"from": "b", "to": "c", "event": "f"},
    ],
}


@pytest.mark.parametrize("consistency", ["strong", "weak", "middle", "middle(1 h)"])
def test_an_automaton_of_too_many_runs_is_stopped_and_reported(consistency: str) -> None:
    stopped: list[xscl.QueryStopped] = []
    with Engine(
        consistency=consistency, most_matches=10, on_stop=stopped.append, lateness=0
    ) as engine:
        engine.subscribe(xscl.Automaton.from_dict(AUTOMATON | {"name": "q"}))
        for time in range(1, 13):
            engine.publish("E", {}, timestamp=time)
        engine.publish("F", {}, timestamp=13)
        engine.flush()
        assert [one.query for one in stopped] == ["q"]
        assert engine.subscriptions == []


@pytest.mark.parametrize("consistency", ["strong", "middle"])
@pytest.mark.parametrize("times", [[1], [1, 2], [1, 1, 3]])
def test_an_arc_of_a_numbered_automaton_reads_what_is_behind(
    consistency: str, times: list[float]
) -> None:
    arc = xscl.Arc("s", "f", "e", when="e.k = 1")
    automaton = xscl.Automaton("u", {"e": "E"}, ["f"], [arc], sequence="n", consistency=consistency)
    with Engine() as engine:
        engine.subscribe(automaton)
        for number, time in enumerate(times):
            engine.publish("E", {"n": number, "k": 0}, timestamp=time)
        engine.advance(5)
        engine.arcs("u").insert(xscl.Arc("s", "f", "e", when="e.x = 1"))
        found = engine.publish("E", {"n": len(times), "k": 0, "x": 1}, timestamp=6)
        found += engine.publish("E", {"n": len(times) + 1, "k": 0}, timestamp=7)
        found += engine.flush()
        assert [one.time for one in found] == [6]


@pytest.mark.parametrize("whole", [False, True])
def test_an_attribute_of_a_tree_that_is_not_kept(whole: bool) -> None:
    """Its parts, or the tree, are larger than what an engine keeps."""
    text = "." * 5_000_000 if whole else ""
    body = f"<list><k>1</k><p>{text}</p>{'' if whole else '<item/>' * 170_000}<item/></list>"
    with Engine(memory="64MiB") as engine:
        engine.subscribe("SELECT a.k AS k FROM EVENT SEQ(S/list[./k->k]/p a, T b) WITHIN 1 h")
        engine.publish("S", body, timestamp=0)
        (match,) = engine.publish("T", "<b/>", timestamp=1)
        assert "<k>1</k>" in match.markup


CHAIN = "-- name: q\nA NEXT{$2.k = $1.k} B NEXT{$2.k = $1.k} C"


@pytest.mark.parametrize(
    "beside",
    ["A NEXT{$2.k = $1.k} B", "SELECT COUNT(*) AS n FROM WINDOW{1 h}(A NEXT{$2.k = $1.k} B)"],
)
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("state", [True, False])
def test_what_queries_share_is_remembered_where_one_goes_a_level_up(
    beside: str, first: bool, state: bool, tmp_path: Path
) -> None:
    engine = Engine(tmp_path / "s" if state else None, lateness=0)
    for text in (beside, CHAIN) if first else (CHAIN, beside):
        engine.subscribe(text, name=None if text == CHAIN else "beside")
    for number in (1, 2):
        engine.publish("A", {"k": number}, id=f"a{number}", timestamp=number)
    engine.subscribe("SELECT k FROM D PUBLISH C", name="d")
    if state:
        engine.close()
        engine = Engine(tmp_path / "s")
    found = engine.publish("B", {"k": 1}, id="b", timestamp=3)
    found += engine.publish("C", {"k": 1}, id="c", timestamp=4)
    found += engine.flush()
    assert sorted(one.query for one in found) == ["beside", "q"]
    engine.close()


@pytest.mark.parametrize("block", ["S//i", "S//i[x->t]"])
@pytest.mark.parametrize("level", ["strong", "middle"])
@pytest.mark.parametrize(
    "pattern", [None, "EVENT SEQ(S//j a, S//i b)", "EVENT SEQ(S//i a, S//j b)"]
)
def test_a_pending_node_of_a_document_is_the_same_after_a_restart(
    block: str, level: str, pattern: str | None, tmp_path: Path
) -> None:
    def run(*, restart: bool) -> tuple[list[str], list[str]]:
        state = tmp_path / f"{restart}"
        engine = Engine(state, revisable="S", lateness=0, consistency=level)
        engine.subscribe(f"FILTER{{x > 1}}({block})", name="q")
        if pattern is not None:
            engine.subscribe(pattern, name="p")
        body = "<r><j/><i><x>1</x></i><i><x>5</x></i></r>"
        found = engine.publish("S", body, id="a", timestamp=1)
        if restart:
            engine.close()
            engine = Engine(state)
        found += engine.publish("S", "<r><i><x>7</x></i></r>", id="b", timestamp=2)
        found += engine.retract("S", "b")
        found += engine.publish("S", "<r/>", id="c", timestamp=3)
        found += engine.flush()
        engine.close()
        taken = [f"{one.query} {one.id}" for one in found if one.retracts]
        return [f"{one.query} {one.id}" for one in found if not one.retracts], taken

    found = run(restart=False)
    assert found[0]
    assert run(restart=True) == found


def test_a_union_of_very_many_streams() -> None:
    with Engine(lateness=0) as engine:
        union = " UNION ".join(f"S{number}" for number in range(256))
        engine.subscribe(f"SELECT x FROM FILTER{{x > 1}}({union})", name="q")
        found = [engine.publish(f"S{n}", {"x": n}, timestamp=n) for n in (0, 2, 128, 255)]
        assert [len(one) for one in found] == [0, 1, 1, 1]
        (match,) = found[2]
        assert match.result == {"x": 128}


@pytest.mark.parametrize("many", [2, 100, 220, 256])
def test_a_composition_of_very_many_events(many: int) -> None:
    pattern = "; ".join(f"t A{number}" for number in range(many))
    where = ", ".join(f"FILTER(A0.x < A{number}.x)" for number in range(1, many))
    with Engine(lateness=0) as engine:
        engine.subscribe(f"SELECT * FROM ({pattern}) WHERE {where}", name="q")
        found = [one for n in range(many) for one in engine.publish("t", {"x": n}, timestamp=n)]
        assert len([*found, *engine.flush()]) == 1


def test_instances_go_when_an_equation_bounds_them() -> None:
    with Engine(lateness=0) as engine:
        engine.subscribe("A NEXT{$2.k = $1.k AND DUR = 5 s} B", name="q")
        for time in range(200):
            engine.publish("A", {"k": time}, timestamp=time)
        found = engine.publish("B", {"k": 195}, timestamp=200)
        found += engine.publish("B", {"k": 199}, timestamp=202)
        assert len(found) == 1
        events: Any = engine.stats(exact=True)["event_queries"]
        assert events["instances"] < 20


def test_groups_by_arrays_are_the_same_after_a_restart(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "s", lateness=0)
    engine.subscribe("SELECT k, COUNT(*) AS n FROM WINDOW{INF}(S) GROUP BY k", name="q")
    results = []
    for time in range(3):
        found = engine.publish("S", {"k": [[1.0, [2]]]}, id=f"{time}", timestamp=time)
        found += engine.publish("S", {"k": 0}, id=f"o{time}", timestamp=time + 0.5)
        results += [one.result for one in found]
        engine.close()
        engine = Engine(tmp_path / "s")
    results += [one.result for one in engine.flush()]
    engine.close()
    some = [one for one in results if one["k"] != 0]
    assert some == [{"k": some[0]["k"], "n": n} for n in (1, 2, 3)]
    assert all(isinstance(one["k"], list) for one in some)


def test_rivals_are_chosen_where_others_have_gone() -> None:
    with Engine(lateness=0) as engine:
        engine.subscribe("PATTERN SEQ(A a, B b, C c) WITHIN 10 OUTPUT NON OVERLAPPING", name="q")
        coming = [("A", "a1", 0), ("A", "a2", 0), ("B", "b1", 5), ("A", "a3", 8)]
        coming += [("B", "b2", 9), ("A", "a4", 11), ("C", "c1", 12)]
        found = [
            one for s, id, time in coming for one in engine.publish(s, {}, id=id, timestamp=time)
        ]
        assert ids([*found, *engine.flush()]) == [["a3", "b2", "c1"]]


def test_partitions_of_long_ago_are_forgotten() -> None:
    with Engine(lateness=0) as engine:
        engine.subscribe("EVENT SEQ(A a, B b) WHERE [u] WITHIN 3 OUTPUT NON OVERLAPPING", name="q")
        many = 0
        for time in range(0, 3_000, 2):
            many += len(engine.publish("A", {"u": time}, timestamp=time))
            many += len(engine.publish("B", {"u": time}, timestamp=time + 1))
        many += len(engine.flush())
        assert many == 1_500
        memories = engine._queries.levels.memories
        assert sum(len(one.reported) for one in memories.values()) < 50


def test_repeated_unions_that_overlap_have_each_composite_once() -> None:
    with Engine(lateness=0) as engine:
        engine.subscribe("SELECT R FROM (S/i[c = 'a'] R | S/i[p > 5] R)+", name="q")
        found = []
        for time in range(30):
            found += engine.publish("S", "<i><c>a</c><p>9</p></i>", timestamp=time)
        found += engine.flush()
        assert len(found) == len({one.id for one in found}) == 30 * 31 // 2


@pytest.mark.parametrize("query", ["EVENT S a", "EVENT S a WITHIN 9 h", "SELECT * FROM S A | T A"])
@pytest.mark.parametrize("revisable", [False, True])
def test_documents_of_single_events_go_with_the_watermark(query: str, revisable: bool) -> None:
    with Engine(lateness=0, revisable=revisable) as engine:
        engine.subscribe(query, name="q")
        found = []
        for time, id in enumerate("xyxyx"):
            found += engine.publish("S", {"v": time}, id=id, timestamp=time)
        assert ids([*found, *engine.flush()]) == [[id] for id in "xyxyx"]
        assert engine.skipped.duplicate == 0


@pytest.mark.parametrize(
    "where", ["A.author/'@type' = 'P'", "A.author/'@type'/x = 1", "A.''/y = 1"]
)
def test_members_whose_names_look_like_attributes(where: str) -> None:
    body: dict[str, Any] = {"author": {"@type": "P", "name": "Ada"}, "": {"y": 1}}
    if "/x" in where:
        body["author"]["@type"] = {"x": 1}
    with Engine(lateness=0) as engine:
        engine.subscribe(f"SELECT A.author/name AS n FROM t A WHERE {where}", name="q")
        (match,) = [*engine.publish("t", body, timestamp=0), *engine.flush()]
        assert match.result == {"n": "Ada"}


@pytest.mark.parametrize("consistency", ["strong", "middle", "middle(1 h)"])
@pytest.mark.parametrize(
    "reader", ["P/result", "P/result->x JOIN {1 day} P/result->y", "FILTER{k = 'x'}(P)"]
)
def test_what_is_taken_back_in_a_step_is_not_final_in_it(reader: str, consistency: str) -> None:
    reported = (
        "SELECT a.k AS k FROM EVENT SEQ(S a, !T b, S c) WHERE [k] WITHIN 9 s "
        "CONSISTENCY middle PUBLISH P"
    )
    with Engine(lateness=3, consistency=consistency) as engine:
        engine.subscribe(reported, name="reported")
        engine.subscribe(reader, name="j")
        found = engine.publish("S", "<i><k>x</k></i>", id="a", timestamp=1)
        found += engine.publish("S", "<i><k>x</k></i>", id="c", timestamp=3)
        last = [("T", "b", 2, "x"), ("S", "d", 10, "y")]
        found += engine.publish_many(
            {"stream": stream, "id": id, "timestamp": time, "xml": f"<i><k>{k}</k></i>"}
            for stream, id, time, k in last
        )
        found += engine.flush()
        standing = sum(-1 if one.retracts else 1 for one in found if one.query == "j")
        assert standing == 0


@pytest.mark.parametrize("change", [{"lateness": 0}, {"consistency": "middle"}, {}])
@pytest.mark.parametrize(
    "query",
    ["S/i JOIN {1 h} T/i", "SELECT * FROM (S A; T B) WHERE (A, B) OCCURS WITHIN 1 h",
     "S NEXT{DUR < 1 h} T", "EVENT SEQ(S a, T b) WITHIN 1 h"],
)  # fmt: skip
def test_settings_without_a_step_change_nothing_that_is_pending(
    query: str, change: dict[str, Any], tmp_path: Path
) -> None:
    state = tmp_path / "s"
    with Engine(state, lateness="1 day", revisable={"S"}) as engine:
        engine.subscribe(query, name="q")
        found = []
        for stream, id, time in (("S", "a", 0), ("T", "b", 600), ("S", "c", 10_000)):
            found += engine.publish(stream, "<i/>", id=id, timestamp=time)
    assert found == []
    for _ in range(2):
        Engine(state, **change).close()
    with Engine(state) as engine:
        found += engine.publish("S", "<i/>", id="d", timestamp=200_000)
        found += engine.flush()
    assert [(one.time, one.retracts) for one in found] == [(600, False)]


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN S+ a[] WHERE skip_till_any_match {} WITHIN 9 h",
        "PATTERN S+ a[] WHERE skip_till_any_match {}",
    ],
)
def test_chains_of_a_single_component_keep_what_they_may_take(query: str) -> None:
    with Engine(lateness=0) as engine:
        engine.subscribe(query)
        found = [engine.publish("S", {}, id=f"{time}", timestamp=time) for time in range(4)]
        assert [len(one) for one in found] == [1, 2, 4, 8]


def test_a_node_whose_document_has_gone_is_remembered(tmp_path: Path) -> None:
    body = "<r><i><k>1</k></i></r>"
    with Engine(tmp_path / "s", lateness=0) as engine:
        engine.subscribe("SELECT * FROM S//i NEXT{$2.k = $1.k} T//i", name="q")
        engine.publish("S", body, id="s", timestamp=1)
        engine.advance(5)
        engine.stats(exact=True)
    with Engine(tmp_path / "s") as engine:
        found = [*engine.publish("T", body, id="t", timestamp=6), *engine.flush()]
    assert len(found) == 1


def test_looking_back_is_a_step_of_the_settings_of_now(tmp_path: Path) -> None:
    state = tmp_path / "s"
    with Engine(state, lateness="1 day", revisable={"S"}) as engine:
        engine.subscribe("S/i JOIN {1 h} T/i", name="q")
        for stream, id, time in (("S", "a", 0), ("T", "b", 600), ("S", "c", 10_000)):
            engine.publish(stream, "<i/>", id=id, timestamp=time)
    with Engine(state, lateness=0) as engine:
        found = [*engine.subscribe("S/i", name="n", history=True).found]
    with Engine(state) as engine:
        found += engine.publish("S", "<i/>", id="d", timestamp=200_000)
        found += engine.flush()
    assert ids(one for one in found if one.query == "q") == [["a", "b"]]


@pytest.mark.parametrize("asked", [False, True])
def test_what_is_pending_can_be_asked_without_a_trace(asked: bool) -> None:
    with Engine(lateness=5) as engine:
        engine.subscribe("PATTERN SEQ(A a, B b, C c) WITHIN 10 OUTPUT NON OVERLAPPING", name="q")
        coming = [("A", "z", 0), ("A", "a", 0), ("B", "b1", 5), ("A", "a3", 8)]
        coming += [("B", "b2", 9), ("A", "a4", 11), ("C", "c", 12)]
        for stream, id, time in coming:
            engine.publish(stream, {}, id=id, timestamp=time)
        if asked:
            engine.pending()
        found = [*engine.publish("C", {}, id="c1", timestamp=8.5), *engine.flush()]
        assert ids(found)[0] == ["a", "b1", "c1"]


@pytest.mark.parametrize("later", ["middle", "middle(1 h)", "strong"])
@pytest.mark.parametrize("first", [True, False])
def test_what_queries_share_is_remembered_where_a_restart_parts_them(
    first: bool, later: str, tmp_path: Path
) -> None:
    texts = ["-- name: beside\nA NEXT{$2.k = $1.k} B CONSISTENCY strong", CHAIN]
    with Engine(tmp_path / "s", lateness=0) as engine:
        for text in texts if first else texts[::-1]:
            engine.subscribe(text)
        for number in (1, 2):
            engine.publish("A", {"k": number}, id=f"a{number}", timestamp=number)
    with Engine(tmp_path / "s", consistency=later) as engine:
        found = engine.publish("B", {"k": 1}, id="b", timestamp=3)
        found += engine.publish("C", {"k": 1}, id="c", timestamp=4)
        found += engine.flush()
    assert sorted(one.query for one in found) == ["beside", "q"]


def test_a_cleared_engine_has_no_watermark_of_before() -> None:
    with Engine(lateness=3) as engine:
        engine.subscribe(
            "SELECT a.k AS k FROM EVENT SEQ(S a, !T b, S c) WITHIN 9 CONSISTENCY middle PUBLISH P"
        )
        engine.subscribe("P/result", name="j")
        engine.publish("S", {}, timestamp=1000)
        engine.clear()
        assert engine.publish("P", "<result/>", timestamp=1) == []
        assert len(engine.flush()) == 1
