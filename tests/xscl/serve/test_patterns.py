"""Patterns behind HTTP: they depend on the clock, and are shown as joins are."""

from __future__ import annotations

import json
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.xscl.serve.asking import PATIENCE, Asking, serving
from tests.xscl.serve.test_events import reading

UNPAID = "-- name: unpaid\nEVENT SEQ(O o, !P p) WHERE [id] WITHIN 10"
RISING = "-- name: rising\nPATTERN SEQ(O+ a[], Q q) WHERE skip_till_next_match WITHIN 1 day"


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def lines(asking: Asking, *some: dict[str, Any], stream: str = "O") -> Any:
    body = b"\n".join(json.dumps(one).encode() for one in some)
    answer, body = asking.raw(
        "POST", f"/streams/{stream}", body, Content_Type="application/x-ndjson"
    )
    return answer.status, json.loads(body)


def orders(*times: float) -> list[dict[str, Any]]:
    return [{"id": f"o{time:g}", "timestamp": time, "json": {"id": time}} for time in times]


def awaited(asking: Asking, number: int) -> list[dict[str, Any]]:
    """Matches that come by themselves."""
    for _ in range(20 * PATIENCE):
        matches: list[dict[str, Any]] = asking.get("/matches")["matches"]
        if len(matches) >= number:
            return matches
        time.sleep(0.05)
    raise AssertionError(f"{number} matches did not come")


def test_an_absence_is_reported_by_the_clock() -> None:
    """Of a query that came while documents did, too."""
    clock = Clock(1)
    with serving(lateness=5, clock=clock) as asking:
        asking.post("/queries", 201, text=UNPAID)
        assert lines(asking, *orders(0, 1))[1]["matches"] == 0
        clock.now = 15
        (match,) = awaited(asking, 1)
        assert (match["documents"], match["start"], match["time"]) == (["o0"], 0.0, 10.0)
        clock.now = 100
        assert [one["documents"] for one in awaited(asking, 2)] == [["o0"], ["o1"]]
        assert lines(asking, *orders(2))[1]["late"] == 1
        assert asking.engine.watermark == 95


@pytest.mark.parametrize(("query", "lateness"), [("S//a", 5), (UNPAID, None)])
def test_nobody_is_late_by_the_clock_who_need_not_be(query: str, lateness: float | None) -> None:
    clock = Clock(1e6)
    with serving(lateness=lateness, clock=clock) as asking:
        asking.engine.load(query)
        time.sleep(0.7)
        assert asking.engine.watermark is None


def test_a_line_lets_time_pass() -> None:
    with serving(UNPAID) as asking:
        status, body = lines(asking, *orders(0), {"advance": 20}, *orders(5))
        assert (status, body["taken"], body["matches"], body["late"]) == (200, 1, 1, 1)
        status, body = lines(asking, {"advance": "1970-01-01T00:01:00Z"})
        assert (status, body["taken"], body["problems"]) == (200, 0, [])
        status, body = lines(asking, {"advance": "soon"})
        assert (status, "'soon'" in body["error"]["message"]) == (400, True)


def test_a_match_of_many_documents_is_shown() -> None:
    with serving(RISING, UNPAID) as asking:
        lines(asking, *orders(*range(30)))
        lines(asking, {"id": "q", "timestamp": 40, "json": {}}, stream="Q")
        lines(asking, {"advance": 41})
        found = asking.get("/matches", query="rising")["matches"]
        longest = max(found, key=lambda one: len(one["documents"]))
        assert longest["variables"] == ["a"] * 30 + ["q"]
        shown = asking.get(f"/matches/{longest['id']}")
        assert [one["id"] for one in shown["documents"]] == longest["documents"]
        assert shown["match"] == longest
        assert shown["joined"] == []
        unpaid = asking.get("/matches", query="unpaid")["matches"]
        assert len(asking.get(f"/matches/{unpaid[-1]['id']}")["documents"]) == 1


def test_a_dry_run_ends() -> None:
    with serving("S//a", "O") as asking:
        lines(asking, *orders(0, 1))
        tried = asking.post("/dry-run", text=UNPAID)
        assert [one["documents"] for one in tried["matches"]] == [["o0"], ["o1"]]


def test_who_publishes_late_documents_learns_why() -> None:
    """One or all of them, before the clock, a document or an advance."""
    with serving(UNPAID, lateness=60, clock=Clock(1e9)) as asking:
        lines(asking, {"advance": 1e9 - 60})
        status, body = lines(asking, *orders(1, 2, 3), {"id": "x", "timestamp": 1e9, "json": {}})
        assert (status, body["taken"], body["late"]) == (200, 1, 3)
        (problem,) = body["problems"]
        said = problem["message"]
        assert "3 of 4 documents" in said
        assert "2001-09-09T01:45:40Z" in said
        assert all(word in said for word in ("1 minute", "clock", "--lateness INF", "advance"))
        status, body = lines(asking, *orders(1))
        assert (status, body["taken"], body["late"], len(body["problems"])) == (
            200,
            0,
            1,
            1,
        )
    with serving() as asking:
        asking.post("/queries", 201, text="S//a->p[./t->v] JOIN {v = w, 1 day} S//a->q[./t->w]")
        asking.publish("a", "<a/>", 172_800)
        body = asking.publish("b", "<a/>", 1)
        assert "clock" not in body["problems"][0]["message"]
        assert "1970-01-02T00:00:00Z" in body["problems"][0]["message"]


def test_pending_matches_are_counted() -> None:
    with serving(UNPAID, "-- name: all\nS//a") as asking:
        assert asking.get("/queries/unpaid")["pending"] == 0
        lines(asking, *orders(1, 2, 3))
        deadline = time.monotonic() + PATIENCE
        # They are counted again when that has become cheap.
        while not (body := asking.get("/queries")["queries"])[0]["pending"]:
            assert time.monotonic() < deadline
        assert [(one["pending"], one["matches"]) for one in body] == [(3, 0), (0, 0)]
        assert [one["watermark"] for one in body] == [None, None]
        until = body[0]["pending_until"]
        assert until is not None
        assert body[1]["pending_until"] is None
        lines(asking, {"advance": 12})
        while (one := asking.get("/queries/unpaid"))["watermark"] is None:
            assert time.monotonic() < deadline
        assert (one["pending"] + one["matches"], one["matches"] > 0) == (3, True)
        assert one["watermark"] == "1970-01-01T00:00:12Z"


def test_documents_are_taken_back_and_revised() -> None:
    """Where the stream is revisable; elsewhere that is an error, which stops nothing else."""
    with serving(
        "-- name: two\nEVENT SEQ(O a, O b) WHERE [id] WITHIN 100", revisable={"O"}
    ) as asking:

        def order(id: str, time: float, of: int) -> dict[str, Any]:
            return {"stream": "O", "id": id, "timestamp": time, "json": {"id": of}}

        some = [order("a", 1, 1), order("b", 2, 1), order("c", 3, 2)]
        assert lines(asking, *some)[1]["matches"] == 0
        taken_back = {"retract": "b", "stream": "O"}
        status, body = lines(asking, taken_back, taken_back)
        assert (status, [one["message"] for one in body["problems"]]) == (
            200,
            ["1 retraction of no document that is there"],
        )
        assert lines(asking, {**order("c", 4, 1), "revise": True}, {"advance": 200})[0] == 200
        assert [one["documents"] for one in asking.get("/matches")["matches"]] == [["a", "c"]]
        status, body = lines(asking, {"retract": "x", "stream": "P"}, stream="P")
        assert status == 400
        assert "revisable" in json.dumps(body)


QUIET = "-- name: quiet\nEVENT SEQ(O a, !P p, Q q) WITHIN 10 CONSISTENCY middle"


def test_matches_are_taken_back(tmp_path: Path) -> None:
    """Lists have neither the match nor what takes it back, events have both, counts are net; over
    a restart, too."""
    state = tmp_path / "state.xscl"
    with serving(state=state, lateness=100, clock=Clock(5)) as asking:
        asking.post("/queries", 201, text=QUIET)
        asking.post(
            "/queries",
            201,
            text="SELECT a.id AS id FROM EVENT SEQ(O a, !P p, Q q) "
            "WITHIN 10 CONSISTENCY middle PUBLISH quiet",
        )
        with reading(asking) as reader:
            lines(asking, *orders(0))
            assert lines(asking, {"id": "q1", "timestamp": 4, "json": {}}, stream="Q")[1] == {
                "taken": 1,
                "matches": 2,
                "retracted": 0,
                "duplicates": 0,
                "late": 0,
                "problems": [],
            }
            (match, other) = asking.get("/matches")["matches"]
            place = asking.get("/matches")["next"]
            late = lines(asking, {"id": "p1", "timestamp": 2, "json": {}}, stream="P")[1]
            assert (late["matches"], late["retracted"]) == (0, 2)
            lines(asking, {"id": "o3", "timestamp": 3, "json": {"id": 3}})
            blocks = [*islice((one for one in reader.blocks if "data" in one), 6)]
        kinds = [one.get("event") for one in blocks]
        assert kinds == [None, None, "retraction", "retraction", None, None]
        assert {json.loads(one["data"])["retract"] for one in blocks[2:4]} == {
            match["id"],
            other["id"],
        }
        check_taken_back(asking, match["id"])
        after = asking.get("/matches", after=place)["matches"]
        assert {one["retract"] for one in after if "retract" in one} == {match["id"], other["id"]}
    with serving(state=state, lateness=100, clock=Clock(5)) as asking:
        check_taken_back(asking, match["id"])


def check_taken_back(asking: Asking, gone: str) -> None:
    listed = asking.get("/matches")["matches"]
    assert [one["documents"] for one in listed] == [["o3", "q1"]] * 2
    assert asking.get("/matches", newest=5, query="quiet")["matches"] == listed[:1]
    assert asking.get("/matches", search="o3")["matches"] == listed
    assert asking.get("/matches", search="o0")["matches"] == []
    asking.get(f"/matches/{gone}", 404)
    assert [one["matches"] for one in asking.get("/queries")["queries"]] == [1, 1]
    answer, feed = asking.raw("GET", "/streams/quiet/feed.atom")
    assert answer.status == 200, feed
    assert feed.count(b"<entry>") == 1
    answer, numbers = asking.raw("GET", "/metrics")
    assert b'xscl_query_matches_total{query="quiet"} 1.0' in numbers
