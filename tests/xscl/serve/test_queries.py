"""Queries and documents over HTTP, for a user who knows nothing of the engine."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import xscl
from tests.xscl.serve.asking import PATIENCE, Asking, serving
from xscl.engine import held
from xscl.serve.service import Limits

PAIRS = "S//a->x[./t->v] JOIN {v = w, 1 day} S//b->y[./t->w]"
JSON = {"Content_Type": "application/json"}


LIMITS = Limits(max_body=10_000, max_document=1_000, max_queries=3)


@pytest.fixture
def server() -> Iterator[Asking]:
    with serving(limits=LIMITS) as server:
        yield server


@pytest.fixture(scope="module")
def empty() -> Iterator[Asking]:
    with serving(limits=LIMITS) as server:
        yield server


def send(
    server: Asking, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, Any]:
    answer, shown = server.raw(method, path, body, **headers)
    return answer.status, json.loads(shown) if shown else None


def names(server: Asking) -> list[str]:
    return [one["name"] for one in server.get("/queries")["queries"]]


def test_a_query_comes_and_goes(server: Asking) -> None:
    (made,) = server.post("/queries", 201, text=PAIRS, name="pairs")["queries"]
    assert made["name"] == "pairs"
    assert (made["streams"], made["publishes"], made["matches"]) == (["S"], None, 0)
    assert server.get("/queries/pairs") == made
    server.publish("1", "<a><t>x</t></a>", 0)
    server.publish("2", "<b><t>x</t></b>", 1)
    assert server.get("/queries/pairs")["matches"] == 1
    assert send(server, "DELETE", "/queries/pairs") == (204, None)
    assert names(server) == []
    for method in ("GET", "DELETE"):
        status, shown = send(server, method, "/queries/pairs")
        assert (status, "pairs" in shown["error"]["message"]) == (404, True)


def test_a_text_is_subscribed_whole_or_not_at_all(server: Asking) -> None:
    shown = server.post("/queries", 400, text="-- name: good\nS//a;\n-- name: bad\nS//a[;\nS//b[")
    assert [(one["query"], one["line"]) for one in shown["errors"]] == [("bad", 4), ("q3", 5)]
    assert all({"found", "expected", "column"} <= {*one} for one in shown["errors"])
    assert names(server) == []
    server.post("/queries", 201, text="-- name: good\nS//a;\n-- name: other\nS//b")
    shown = server.post("/queries", 400, text="-- name: new\nS//a;\n-- name: good\nS//c")
    assert shown["error"]["query"] == "good"
    assert names(server) == ["good", "other"]


@pytest.mark.parametrize("text", ["", " \n", "-- nothing", "DECLARE NAMESPACE p = 'u'"])
def test_a_text_without_a_query(server: Asking, text: str) -> None:
    assert "no query" in server.post("/queries", 400, text=text)["error"]["message"]


def test_a_name_and_params_are_of_one_query(server: Asking) -> None:
    for members in ({"name": "n"}, {"params": {"p": 1}}):
        shown = server.post("/queries", 400, text="S//a; S//b", **members)
        assert "2 queries" in shown["error"]["message"]
    assert names(server) == []


def test_what_is_wrong_with_a_query_does_not_end_the_server(tmp_path: Path) -> None:
    with serving(state=tmp_path / "s.duckdb") as server:
        for params in ({}, {"what": [1]}, {"what": {}}, {"what": None}):
            server.post("/queries", 400, text="S//a[./t = :what]", params=params)
            server.post("/queries", 400, text="S//a[./t = 'x'", name="n", params=params)
        server.post("/queries", 201, text="S//a[./t = :what]", params={"what": "x"})


def test_a_long_query_alongside_many(server: Asking) -> None:
    long = "S//a[" + " or ".join(f"./t{i} = 'x'" for i in range(300)) + "]"
    server.post("/queries", 201, text=f"S//a;\n{long};\nS//b")
    assert [one["text"] for one in server.get("/queries")["queries"]] == ["S//a", long, "S//b"]


def test_a_failure_of_the_engine_ends_the_server(server: Asking) -> None:
    server.engine.close()
    send(server, "POST", "/streams/S", b"<a/>", Content_Type="application/xml")
    deadline = time.monotonic() + PATIENCE
    with suppress(OSError):
        while server.raw("GET", "/"):
            assert time.monotonic() < deadline


def test_pending_requests_are_bounded() -> None:
    with serving("S//a", limits=Limits(waiting=2)) as server:
        answers: list[int] = []

        def publish() -> None:
            kind = {"Content_Type": "application/xml"}
            answers.append(send(server, "POST", "/streams/S", b"<a/>", **kind)[0])

        with server.engine.transaction():
            # The engine is busy with ours: two at most wait for it, two more for these, and the
            # others leave.
            asking = [threading.Thread(target=publish) for _ in range(8)]
            for thread in asking:
                thread.start()
            deadline = time.monotonic() + PATIENCE
            while len(answers) < 4:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            assert {*answers} == {503}
        for thread in asking:
            thread.join(PATIENCE)
        assert answers.count(200) == 8 - answers.count(503)
        assert 2 <= answers.count(200) <= 4


def test_no_more_queries_than_allowed(server: Asking) -> None:
    server.post("/queries", 201, text="S//a; S//b")
    server.post("/queries", 429, text="S//c; S//d")
    assert len(names(server)) == 2
    server.post("/queries", 201, text="S//c")


def test_putting_a_query_again_changes_nothing(server: Asking) -> None:
    def put(**members: object) -> int:
        body = json.dumps(members).encode()
        return send(server, "PUT", "/queries/p", body, **JSON)[0]

    assert put(text=PAIRS) == 201
    since = server.get("/queries/p")["since"]
    assert put(text=f"-- name: another\n{PAIRS};  -- as before") == 200
    assert server.get("/queries/p")["since"] == since
    assert put(text=PAIRS.replace("1 day", "2 days")) == 409
    assert put(text="S//a; S//b") in (400, 409)
    assert send(server, "DELETE", "/queries/p")[0] == 204
    assert put(text="S//a[./t = :what]", params={"what": "x"}) == 201
    assert put(text="S//a[./t = :what]", params={"what": "x"}) == 200
    assert put(text="S//a[./t = :what]", params={"what": "y"}) == 409


def test_history_finds_what_is_retained(server: Asking) -> None:
    server.post("/queries", 201, text="S//a")
    server.publish("1", "<a/>", 0)
    server.post("/queries", 201, text="S//a", name="again", history=True)
    server.post("/queries", 201, text="S//a", name="from-now-on")
    assert [one["query"] for one in server.get("/matches")["matches"]] == ["q1", "again"]


def outcome(taken: int = 0, matches: int = 0, duplicates: int = 0) -> dict[str, object]:
    counts = {
        "taken": taken,
        "matches": matches,
        "retracted": 0,
        "duplicates": duplicates,
        "late": 0,
    }
    return {**counts, "problems": []}


def test_documents_of_each_kind(server: Asking) -> None:
    server.post("/queries", 201, text="S//a->x[./t]")
    as_xml, as_json = b"<a><t>1</t></a>", b'{"a": {"t": 1}}'
    lines = b'{"id": "n1", "xml": "<a><t/></a>"}\n\n{"json": {"a": {"t": 2}}}\n{"stream": "R"}\n7\n'
    xml, ndjson = {"Content_Type": "application/xml"}, {"Content_Type": "application/x-ndjson"}
    assert send(server, "POST", "/streams/S?id=x", as_xml, **xml) == (200, outcome(1, 1))
    assert send(server, "PUT", "/streams/S/documents/x", as_xml, **xml) == (
        200,
        outcome(duplicates=1),
    )
    assert send(server, "PUT", "/streams/S/documents/j", as_json, **JSON) == (200, outcome(1, 1))
    for body, coding in ((lines, "identity"), (gzip.compress(lines), "gzip")):
        status, shown = send(server, "POST", "/streams/S", body, Content_Encoding=coding, **ndjson)
        assert status == 200
        assert (shown["taken"] + shown["duplicates"], len(shown["problems"])) == (2, 2)
    documents = [one["documents"] for one in server.get("/matches")["matches"]]
    assert documents[:3] == [["x"], ["j"], ["n1"]]
    assert len(documents) == 5


def test_a_time_is_seconds_or_text(server: Asking) -> None:
    server.post("/queries", 201, text="S//a")
    for id, at in (("1", "86400"), ("2", "1970-01-02T00:00:01Z"), ("3", "86401.5")):
        xml = {"Content_Type": "application/xml"}
        status, _ = send(server, "POST", f"/streams/S?id={id}&timestamp={at}", b"<a/>", **xml)
        assert status == 200
    times = [one["time"] for one in server.get("/matches")["matches"]]
    assert times == [86400, 86401, 86401.5]


BOMB = gzip.compress(bytes(1_000_000), mtime=0)


@pytest.mark.parametrize(
    ("status", "kind", "coding", "body"),
    [
        (400, "application/xml", "identity", b"<a>"),
        (400, "application/json", "identity", b"{"),
        (400, "application/xml", "identity", b""),
        (400, "application/json", "identity", b"[" * 1_000),
        (413, "application/xml", "identity", b"<a>" + b" " * 1_000 + b"</a>"),
        (413, "application/x-ndjson", "identity", b"\n" * 10_001),
        (413, "application/xml", "gzip", BOMB),
        (413, "application/x-ndjson", "gzip", BOMB),
        (400, "application/xml", "gzip", b"<a/>"),
        (400, "application/xml", "gzip", gzip.compress(b"<a/>", mtime=0)[:-3]),
        (400, "application/xml", "gzip", gzip.compress(b"<a/>", mtime=0) * 2),
        (415, "application/xml", "br", b"<a/>"),
        (415, "text/html", "identity", b"<a/>"),
        (415, "", "identity", b"<a/>"),
    ],
)
def test_bodies_that_are_refused(
    empty: Asking, status: int, kind: str, coding: str, body: bytes
) -> None:
    headers = {"Content_Type": kind, "Content_Encoding": coding}
    found, shown = send(empty, "POST", "/streams/S", body, **headers)
    assert found == status, shown
    assert shown["error"]["message"]
    assert empty.get("/stats")["documents"] == 0
    assert empty.get("/health") == {"status": "ok"}


def test_what_was_asked_is_there_after_a_new_start(tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    with serving(state=state) as server:
        server.post("/queries", 201, text=PAIRS, name="pairs")
        server.publish("1", "<a><t>x</t></a>", 0)
        server.publish("2", "<b><t>x</t></b>", 1)
        before = server.get("/matches")
    with serving(state=state) as server:
        assert names(server) == ["pairs"]
        assert server.get("/matches") == before
        assert server.publish("2", "<b><t>x</t></b>", 1)["duplicates"] == 1
        assert server.publish("3", "<b><t>x</t></b>", 2)["matches"] == 1
        (match,) = server.get("/matches", after=before["next"])["matches"]
        assert match["documents"] == ["1", "3"]


def test_a_published_stream_is_a_feed(server: Asking) -> None:
    server.post("/queries", 201, text="SELECT <r>{t}</r> FROM S//a->x[./t->t] PUBLISH out")
    for i in range(3):
        server.publish(str(i), f"<a><t>title {i}</t></a>", i)
    items = server.get("/streams/out/feed.json")["items"]
    assert [one["content_text"].split() for one in items] == [
        ["<r>", "<t>title", f"{i}</t>", "</r>"] for i in (2, 1, 0)
    ]
    answer, body = server.raw("GET", "/streams/out/feed.atom")
    assert answer.status == 200
    assert body.count(b"<entry>") == 3
    again, _ = server.raw("GET", "/streams/out/feed.atom", If_None_Match=answer.headers["ETag"])
    assert again.status == 304
    server.get("/streams/S/feed.json", 404)


def test_numbers(server: Asking) -> None:
    server.post("/queries", 201, text="-- name: q\nS//a")
    server.publish("1", "<a/>", 0)
    stats = server.get("/stats")
    assert (stats["taken"], stats["queries"], stats["server"]["matches"]) == (1, 1, 1)
    _, body = server.raw("GET", "/metrics")
    lines = body.decode().splitlines()
    assert "xscl_taken_total 1.0" in lines
    assert 'xscl_query_matches_total{query="q"} 1.0' in lines
    counted = 'xscl_request_seconds_count{method="POST",route="/streams/{name}",status="200"} 1.0'
    assert counted in lines
    assert server.get("/feeds") == {"feeds": []}


def test_methods_without_end_are_one_number(server: Asking) -> None:
    for i in range(20):
        server.raw(f"METHOD{i}", "/queries")
    _, body = server.raw("GET", "/metrics")
    assert b"METHOD" not in body
    assert b'xscl_request_seconds_count{method="other",route="/queries",status="405"} 20.0' in body


def test_counts_continue_after_a_restart(tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    with serving("-- name: file\nS/a", state=state) as server:
        server.post("/queries", 201, text="S//a", name="made")
        server.post("/queries", 201, text="S//a", name="gone")
        for number in range(3):
            server.publish(f"{number}", "<a/>", number)
        before = server.get("/queries")["queries"]
        assert [one["matches"] for one in before] == [3, 3, 3]
    with xscl.Engine(state) as engine:
        # Of a query that was cancelled meanwhile, one with its name has nothing.
        engine.cancel("gone")
        engine.subscribe("S//a", name="gone")
    with serving(state=state) as server:
        file, made, gone = server.get("/queries")["queries"]
        assert [(one["matches"], one["since"]) for one in (file, made)] == [
            (one["matches"], one["since"]) for one in before[:2]
        ]
        assert 0 < made["rate"] <= before[1]["rate"]
        assert (gone["matches"], gone["rate"]) == (0, 0)
        server.publish("3", "<a/>", 3)
        assert [one["matches"] for one in server.get("/queries")["queries"]] == [4, 4, 1]
        send(server, "DELETE", "/queries/made")
        (again,) = server.post("/queries", 201, text="S//a", name="made")["queries"]
        assert again["matches"] == 0
    with serving(state=state) as server:
        assert server.get("/queries/made")["matches"] == 0
        assert server.get("/queries/file")["matches"] == 4


def test_queries_are_looked_for_and_paged() -> None:
    texts = [f"-- name: q{number}\nS//a[./t = 'v{number}']" for number in range(25)]
    with serving(";\n".join(texts), "-- name: Other\nT//b[./t = 'Quito']") as server:

        def found(**asked: object) -> tuple[list[str], int]:
            answer = server.get("/queries", **asked)
            return [one["name"] for one in answer["queries"]], answer["total"]

        assert found(search="q1", limit=3) == (["q1", "q10", "q11"], 11)
        assert found(search="q1", limit=3, after=9) == (["q18", "q19"], 11)
        assert found(search="v24") == (["q24"], 1)
        assert found(search="OTHER quito") == (["Other"], 1)
        assert found(search="q1 T//b") == ([], 0)
        assert found(search="  ", limit=1, after=25) == (["Other"], 26)
        send(server, "DELETE", "/queries/Other")
        server.post("/queries", 201, text="T//c[./t = 'Lima']", name="Other")
        assert (found(search="quito"), found(search="lima")) == (([], 0), (["Other"], 1))


def test_why_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the documents of a funnel are read, others publish."""
    with xscl.Engine() as engine:
        engine.subscribe(PAIRS, name="pairs")
        engine.publish("S", "<a><t>x</t></a>", id="1", timestamp=0)
        looking, done = threading.Event(), threading.Event()

        def looks(*given: Any) -> Any:
            looking.set()
            assert done.wait(PATIENCE)
            return funnel(*given)

        funnel = held.funnel
        monkeypatch.setattr(held, "funnel", looks)
        asking = threading.Thread(target=engine.why, args=("pairs",))
        asking.start()
        try:
            assert looking.wait(PATIENCE)
            publishing = threading.Thread(target=engine.publish, args=("S", "<b/>"))
            publishing.start()
            publishing.join(PATIENCE / 10)
            assert not publishing.is_alive()
        finally:
            done.set()
            asking.join()
