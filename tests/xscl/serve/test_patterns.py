"""Patterns behind HTTP: they wait for the clock, and are shown as joins are."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.xscl.serve.asking import PATIENCE, Asking, serving

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
    answer, told = asking.raw(
        "POST", f"/streams/{stream}", body, Content_Type="application/x-ndjson"
    )
    return answer.status, json.loads(told)


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


def test_an_absence_is_told_by_the_clock() -> None:
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
        status, told = lines(asking, *orders(0), {"advance": 20}, *orders(5))
        assert (status, told["taken"], told["matches"], told["late"]) == (200, 1, 1, 1)
        status, told = lines(asking, {"advance": "1970-01-01T00:01:00Z"})
        assert (status, told["taken"], told["problems"]) == (200, 0, [])
        status, told = lines(asking, {"advance": "soon"})
        assert (status, "'soon'" in told["error"]["message"]) == (400, True)


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
    """One or all of them, behind the clock, behind a document or what somebody said."""
    with serving(UNPAID, lateness=60, clock=Clock(1e9)) as asking:
        lines(asking, {"advance": 1e9 - 60})
        status, told = lines(asking, *orders(1, 2, 3), {"id": "x", "timestamp": 1e9, "json": {}})
        assert (status, told["taken"], told["late"]) == (200, 1, 3)
        (problem,) = told["problems"]
        said = problem["message"]
        assert "3 of 4 documents" in said
        assert "2001-09-09T01:45:40Z" in said
        assert all(word in said for word in ("1 minute", "clock", "--lateness INF", "advance"))
        status, told = lines(asking, *orders(1))
        assert (status, told["taken"], told["late"], len(told["problems"])) == (200, 0, 1, 1)
    with serving() as asking:
        asking.post("/queries", 201, text="S//a->p[./t->v] JOIN {v = w, 1 day} S//a->q[./t->w]")
        asking.publish("a", "<a/>", 172_800)
        told = asking.publish("b", "<a/>", 1)
        assert "clock" not in told["problems"][0]["message"]
        assert "1970-01-02T00:00:00Z" in told["problems"][0]["message"]


def test_pending_matches_are_counted() -> None:
    with serving(UNPAID, "-- name: all\nS//a") as asking:
        assert asking.get("/queries/unpaid")["pending"] == 0
        lines(asking, *orders(1, 2, 3))
        deadline = time.monotonic() + PATIENCE
        # They are counted again when that has become cheap.
        while not (told := asking.get("/queries")["queries"])[0]["pending"]:
            assert time.monotonic() < deadline
        assert [(one["pending"], one["matches"]) for one in told] == [(3, 0), (0, 0)]
        assert [one["watermark"] for one in told] == [None, None]
        until = told[0]["pending_until"]
        assert until is not None
        assert told[1]["pending_until"] is None
        lines(asking, {"advance": 12})
        while (one := asking.get("/queries/unpaid"))["watermark"] is None:
            assert time.monotonic() < deadline
        assert (one["pending"] + one["matches"], one["matches"] > 0) == (3, True)
        assert one["watermark"] == "1970-01-01T00:00:12Z"
