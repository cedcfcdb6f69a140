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


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("level", ["weak", "middle(5 s)", "strong", "middle"])
def test_a_join_in_a_strong_query_waits_over_a_restart(
    level: str, restart: bool, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"consistency": level, "revisable": {"S"}, "lateness": "1 h"}
    engine = Engine(tmp_path / "s", **options)
    engine.subscribe(AND_A_SUB_QUERY, name="q")
    found = engine.publish("S", "<i><k>1</k></i>", id="s", timestamp=1)
    found += engine.publish("T", "<i><k>1</k><v>2</v></i>", id="t", timestamp=2)
    assert found == []
    if restart:
        engine.close()
        engine = Engine(tmp_path / "s")
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
