"""Where a server's parts meet: queries that take the name of others, restarts, what is taken back
beside what is counted, requests that are refused half-way."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

import xscl
from tests.xscl.serve.asking import PATIENCE, serving
from tests.xscl.serve.test_patterns import QUIET, Clock, lines, orders
from xscl.polling.watched_feeds import watched_feeds
from xscl.serve import protocol
from xscl.serve.feeds import Feeds, Full
from xscl.serve.safety import LOOPBACK, Gate
from xscl.serve.service import Service

JOIN = "S//a->x[./t->v] JOIN {v = w} S//b->y[./t->w]"
HOLD = "-- name: hold\nS//*->x JOIN {x = y} T//*->y"
JSON = {"Content_Type": "application/json"}


@pytest.mark.parametrize("text", ["S//a", "T//a->x[./t->v] JOIN {v = w} S//b->y[./t->w]"])
def test_a_match_of_an_earlier_query_of_the_name_is_shown_unmarked(text: str) -> None:
    with serving(HOLD, f"-- name: q\n{JOIN}") as server:
        server.publish("1", "<a><t>x</t></a>", 0)
        server.publish("2", "<b><t>x</t></b>", 1)
        (match,) = server.get("/matches", query="q")["matches"]
        assert server.get(f"/matches/{match['id']}")["joined"]
        server.raw("DELETE", "/queries/q")
        server.post("/queries", 201, text=text, name="q")
        shown = server.get(f"/matches/{match['id']}")
        assert [one["id"] for one in shown["documents"]] == ["1", "2"]
        assert shown["joined"] == []


def test_a_dry_run_of_an_event_query_shows_its_documents() -> None:
    with serving("-- name: hold\nVotes//*->x JOIN {x = y} T//b->y") as server:
        server.raw("POST", "/streams/Votes?id=v1&timestamp=0", b'{"votes": 10}', **JSON)
        tried = server.post("/dry-run", text="FILTER{votes > 5}(Votes)")
        assert [one["documents"] for one in tried["matches"]] == [["v1"]]
        assert [one["documents"][0]["id"] for one in tried["shown"]] == ["v1"]
        assert (tried["whole"], tried["ended"]) == (True, None)


def test_a_dry_run_has_what_stands_at_its_end() -> None:
    text = "EVENT SEQ(S/a x, !S/b y, S/c z) WITHIN 9 s CONSISTENCY middle"
    with serving(HOLD) as server:
        # Documents come to a dry run as they came, in batches that grow from one.
        for id, xml, at in [("a", "<a/>", 1), ("c", "<c/>", 3), ("b", "<b/>", 2), ("d", "<c/>", 4)]:
            server.publish(id, xml, at)
        assert server.post("/dry-run", text=text)["matches"] == []
        server.publish("e", "<a/>", 5)
        server.publish("f", "<c/>", 6)
        tried = server.post("/dry-run", text=text)
        assert [one["documents"] for one in tried["matches"]] == [["e", "f"]]
        assert [[d["id"] for d in one["documents"]] for one in tried["shown"]] == [["e", "f"]]


def test_a_text_that_is_refused_has_published_nothing() -> None:
    a = "-- name: a\nSELECT <r>{x}</r> FROM S//a->x PUBLISH P"
    with serving(HOLD, "-- name: b\nP//r") as server:
        server.publish("1", "<a>x</a>", 0)
        server.post("/queries", 400, text=f"{a};\n-- name: bad\nS//a[", history=True)
        assert server.get("/documents", stream="P")["documents"] == []
        server.post("/queries", 201, text=a, history=True)
        assert len(server.get("/matches", query="b")["matches"]) == 1


@pytest.mark.parametrize("other", ['prefs={"a":1}', "a=b c", "flag", "path=/x", "u@h=1", "a="])
def test_cookies_of_other_programs_are_nobodys_business(other: str) -> None:
    gate = Gate(LOOPBACK, token="0123456789abcdef")
    own = f"xscl-session={gate.session}"
    for cookies in (f"{other}; {own}", f"{own}; {other}"):
        headers = [(b"host", b"localhost"), (b"cookie", cookies.encode())]
        scope = {"type": "http", "method": "GET", "path": "/queries", "headers": headers}
        assert gate.refuses(scope) is None


def test_a_feed_has_what_was_published_to_its_stream() -> None:
    with serving("-- name: q\nS//a") as server:
        server.publish("1", "<a>private</a>", 0)
        server.raw("DELETE", "/queries/q")
        text = "SELECT <r>{t}</r> FROM S//b->x[./t->t] PUBLISH out"
        server.post("/queries", 201, name="q", text=text)
        assert server.get("/streams/out/feed.json")["items"] == []
        server.publish("2", "<b><t>public</t></b>", 1)
        (item,) = server.get("/streams/out/feed.json")["items"]
        assert "public" in json.dumps(item)


@pytest.mark.parametrize("days", [1, 2_000_000])
def test_time_passes_however_long_a_window_is(days: int, tmp_path: Path) -> None:
    engine = xscl.Engine(tmp_path / "s.duckdb")
    engine.load(
        "-- name: p\nEVENT SEQ(O o, !P p) WHERE [id] WITHIN 10;\n"
        f"-- name: j\nS//a->x JOIN {{x = y, {days} days}} S//b->y"
    )
    with engine:
        service = Service(engine, [], clock=time.time)
        service.follow_windows()
        with engine.transaction():
            assert [*service.advance()] == []
        assert engine.publish("O", {"id": 1}, timestamp=time.time()) == []


def test_counts_go_on_for_a_query_that_is_posted_again_after_a_restart(tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    with serving(state=state) as server:
        server.post("/queries", 201, text="S//a", name="q")
        server.publish("1", "<a/>", 0)
    with serving(state=state) as server:
        assert server.get("/queries/q")["matches"] == 1
        server.post("/queries", 201, text="S//a", name="q")
        assert server.get("/queries/q")["matches"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "EVENT SEQ(S/item a, S/item b) WHERE b.n > a.n",
        "SELECT * FROM (S/item X; S/item Y) WHERE Y.n > X.n AND (X, Y) OCCURS WITHIN 9 s",
    ],
)
def test_where_documents_are_lost_is_as_the_engine_says_it(text: str) -> None:
    with serving(f"-- name: rise\n{text}") as server:
        for n in (2, 1):
            server.publish(f"d{n}", f"<item><n>{n}</n></item>", 3 - n)
        by_engine = json.loads(json.dumps(server.engine.why("rise").to_dict()))
        assert server.get("/queries/rise/why") == by_engine


def test_the_newest_matches_are_those_that_stand() -> None:
    with serving(lateness=100, clock=Clock(5)) as server:
        server.post("/queries", 201, text=QUIET)
        lines(server, *orders(3))
        lines(server, {"id": "q1", "timestamp": 4, "json": {}}, stream="Q")
        lines(server, *orders(0))
        lines(server, {"id": "p1", "timestamp": 2, "json": {}}, stream="P")
        stands = server.get("/matches", limit=1_000)["matches"]
        assert stands
        assert server.get("/matches", newest=1)["matches"] == stands[-1:]
        lines(server, *orders(3.5))
        stands = server.get("/matches", query="quiet", limit=1_000)["matches"]
        for many in (1, 2, 3):
            newest = server.get("/matches", query="quiet", newest=many, limit=many)["matches"]
            assert newest == stands[-many:]


def test_a_parameter_may_have_any_name() -> None:
    with serving("-- name: hold\nS//a->x JOIN {x = y} T//b->y") as server:
        text = "-- name: q\nS//a[. = :name]"
        (checked,) = server.post("/check", text=text)["queries"]
        assert (checked["name"], checked["parameters"]) == ("q", ["name"])
        server.publish("1", "<a>q</a>", 0)
        server.post("/dry-run", 400, text=text)
        tried = server.post("/dry-run", text=text, params={"name": "q"})
        assert [one["query"] for one in tried["matches"]] == ["q"]


def test_a_text_with_an_error_is_wrong_also_under_a_name_that_is_taken() -> None:
    with serving("-- name: q\nS//a") as server:
        body = json.dumps({"text": "S//a["}).encode()
        answer, reported = server.raw("PUT", "/queries/q", body, **JSON)
        assert answer.status == 400, reported
        body = json.dumps({"text": "S//b"}).encode()
        assert server.raw("PUT", "/queries/q", body, **JSON)[0].status == 409


@pytest.mark.parametrize("history", [False, True])
def test_a_query_of_an_earlier_run_may_be_posted_with_others(history: bool, tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    kept = "-- name: kept\nS//a->x JOIN {x = y} S//b->y"
    with serving(state=state) as server:
        server.post("/queries", 201, text=kept)
        server.publish("1", "<a>x</a>", 0)
    with serving(state=state) as server:
        text = f"{kept};\n-- name: new\nS//a"
        found = server.post("/queries", 201, text=text, history=history)
        assert [one["name"] for one in found["queries"]] == ["kept", "new"]
        matches = server.get("/matches")["matches"]
        assert [one["query"] for one in matches] == ["new"] * history


def test_queries_without_a_name_come_after_those_of_an_earlier_run(tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    for run, text in enumerate(("S//a", "S//b", "S//a")):
        with serving("-- name: file\nS//f", state=state) as server:
            (query,) = server.post("/queries", 201, text=text)["queries"]
            assert query["name"] == f"q{run + 2}"
            names = [one["name"] for one in server.get("/queries")["queries"]]
            assert sorted(names) == ["file", *(f"q{number + 2}" for number in range(run + 1))]


def test_lists_go_on_past_what_was_taken_back(tmp_path: Path) -> None:
    """Whatever lies between, in memory and in a file; and each match comes once."""
    with serving(state=tmp_path / "s.duckdb", lateness=100, clock=Clock(5)) as server:
        server.post("/queries", 201, text=QUIET)
        lines(server, {"id": "q", "timestamp": 4, "json": {}}, stream="Q")
        lines(server, *orders(*(n / 1_000 for n in range(1, 1_000))))
        lines(server, {"id": "p", "timestamp": 2, "json": {}}, stream="P")
        lines(server, *orders(3, 3.5))
    with serving(state=tmp_path / "s.duckdb", lateness=100, clock=Clock(5)) as server:
        for limit in (1, 2, 1_000):
            found = server.get("/matches", limit=limit)["matches"]
            assert [one["documents"] for one in found] == [["o3", "q"], ["o3.5", "q"]][:limit]


@pytest.mark.parametrize("name", [None, "other"])
def test_declarations_hold_for_queries_that_look_back(name: str | None, tmp_path: Path) -> None:
    text = 'DECLARE NAMESPACE n = "urn:n";\nS//n:a->x'
    with serving(HOLD, state=tmp_path / "s.duckdb") as server:
        server.publish("1", '<a xmlns="urn:n">x</a>', 0)
        more = {} if name is None else {"name": name}
        found = server.post("/queries", 201, text=text, history=True, **more)
        (query,) = found["queries"]
        assert name in (None, query["name"])
        assert len(server.get("/matches", query=query["name"])["matches"]) == 1
        server.publish("2", '<a xmlns="urn:n">x</a>', 1)
        assert len(server.get("/matches", query=query["name"])["matches"]) == 2


def test_a_polled_feed_has_a_further_stream_as_soon_as_it_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The thread that polls has done nothing yet; nor may there be more feeds."""
    monkeypatch.setattr("xscl.serve.feeds._MOST", 1)
    address = "https://feeds.example/f"
    polled = watched_feeds([("S", address)], pytest.fail)
    poller = Mock(not_due=[], states={}, seen={})
    engine = Mock(submit=lambda work: Mock(result=work))
    feeds = Feeds(poller, polled, engine, late=Mock(), advance=Mock())
    before = polled[0].folders
    assert [feeds.add(stream, address)[1] for stream in ["S", "T", "T"]] == [False, True, False]
    assert [one.streams for one in feeds.health()] == [["S", "T"]]
    assert [*before] == ["S"]
    assert poller.add.call_count == 1
    with pytest.raises(Full):
        feeds.add("S", "https://feeds.example/another")


def test_what_has_stopped_a_query_was_done() -> None:
    """A request of one line that is taken, and one that changes an arc."""
    text = "-- name: q\nEVENT SEQ(S/a x, !S/b y) WITHIN 1 h"
    arcs = '{"from": "q0", "to": "q1", "event": "e"}'
    automaton = f'AUTOMATON {{"events": {{"e": "S/c"}}, "final": ["q1"], "arcs": [{arcs}]}}'
    with serving(text, f"-- name: up\n{automaton}", most_matches=3) as server:
        for at in range(5):
            server.publish(f"a{at}", "<a/>", at)
        line = b'{"advance": 10000}'
        answer, body = server.raw("POST", "/streams/S", line, Content_Type="application/x-ndjson")
        assert answer.status == 200, body
        assert "was stopped" in json.loads(body)["problems"][0]["message"]
        assert [one["name"] for one in server.get("/queries")["queries"]] == ["up"]


def test_queries_are_counted_from_the_start(tmp_path: Path) -> None:
    since = set()
    for _ in range(2):
        with serving("-- name: q\nS/a", state=tmp_path / "s.duckdb") as server:
            assert b'xscl_query_matches_total{query="q"} 0.0' in server.raw("GET", "/metrics")[1]
            since.add(server.get("/queries/q")["since"])
    assert len(since) == 1


def test_a_body_that_was_answered_before_it_was_whole_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.5)
    gate = Gate(LOOPBACK, token="0123456789abcdef")
    head = b"POST /queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
    with serving(gate=gate) as server:
        address = ("127.0.0.1", server.port)
        with socket.create_connection(address, timeout=PATIENCE) as connection:
            connection.sendall(head)
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 401")
            connection.sendall(b"x")
            while connection.recv(1 << 16):
                pass
