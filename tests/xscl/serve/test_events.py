"""Matches as server-sent events: each once, in order, from where a reader was."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.xscl.serve.asking import PATIENCE, Asking, serving
from xscl.serve import event_stream
from xscl.serve.service import Limits

PUBLISHED = 12


class Reader:
    """Reads the events of a connection, one by one."""

    def __init__(self, connection: socket.socket) -> None:
        self._file = connection.makefile("rb")
        self.status = int(self._file.readline().split()[1])
        while self._file.readline().strip():
            pass
        self.blocks = self._blocks()

    def close(self) -> None:
        """Closes the connection."""
        self._file.close()

    def _blocks(self) -> Iterator[dict[str, str]]:
        """The fields of each event; a comment has none."""
        text = ""
        while size := int(self._file.readline() or b"0", 16):
            text += self._file.read(size).decode()
            self._file.readline()
            *blocks, text = text.split("\n\n")
            for block in blocks:
                lines = [line.partition(": ") for line in block.splitlines()]
                yield {name: value for name, _, value in lines if name}

    def matches(self, count: int) -> list[tuple[str, str]]:
        """The ids of the next events that are matches, and their documents."""
        found = []
        for block in self.blocks:
            if "data" in block and "event" not in block:
                found.append((block["id"], json.loads(block["data"])["documents"][0]))
                if len(found) == count:
                    break
        return found


@contextmanager
def reading(server: Asking, path: str = "/matches?live=1", **headers: str) -> Iterator[Reader]:
    address = ("127.0.0.1", server.port)
    with closing(socket.create_connection(address, timeout=PATIENCE)) as connection:
        named = "".join(f"{n.replace('_', '-')}: {v}\r\n" for n, v in headers.items())
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{named}\r\n".encode())
        reader = Reader(connection)
        try:
            yield reader
        finally:
            reader.close()


def publish(server: Asking, first: int, count: int = PUBLISHED) -> None:
    for i in range(first, first + count):
        server.publish(f"d{i}", "<a/>" if i % 3 else "<b/>", i)


QUERIES = "-- name: a\nS//a;\n-- name: b\nS//b"


def ids(first: int, count: int = PUBLISHED) -> list[str]:
    return [f"d{i}" for i in range(first, first + count)]


def test_each_reader_has_each_match_once() -> None:
    with serving(QUERIES) as server:
        with (
            reading(server) as one,
            reading(server, "/matches", Accept="text/event-stream") as two,
            reading(server, "/matches?live=1&query=b") as some,
            reading(server, "/matches?live=1&query=b&query=a") as both,
        ):
            wait_for_readers(server, 4)
            publish(server, 0)
            for reader in (one, two, both):
                assert [document for _, document in reader.matches(PUBLISHED)] == ids(0)
            assert [document for _, document in some.matches(4)] == ["d0", "d3", "d6", "d9"]
        wait_for_readers(server, 0)


def test_a_reader_continues_where_it_was() -> None:
    with serving(QUERIES) as server:
        with reading(server) as reader:
            wait_for_readers(server, 1)
            publish(server, 0)
            found = reader.matches(5)
        publish(server, PUBLISHED)
        last, _ = found[-1]
        for path, headers in (
            ("/matches?live=1", {"Last_Event_ID": last}),
            (f"/matches?live=1&after={last}", {}),
            ("/matches?live=1&after=x-1", {"Last_Event_ID": last}),
        ):
            with reading(server, path, **headers) as reader:
                rest = reader.matches(2 * PUBLISHED - 5)
                assert [document for _, document in found + rest] == ids(0, 2 * PUBLISHED)
        assert server.get("/matches", after=last, limit=1)["matches"][0]["documents"] == ["d5"]


def test_a_reader_continues_after_a_new_start(tmp_path: Path) -> None:
    state = tmp_path / "s.duckdb"
    with serving(QUERIES, state=state) as server:
        publish(server, 0)
        place = server.get("/matches", limit=4)["next"]
    with serving(state=state) as server, reading(server, Last_Event_ID=place) as reader:
        publish(server, PUBLISHED)
        rest = reader.matches(2 * PUBLISHED - 4)
        assert [document for _, document in rest] == ids(4, 2 * PUBLISHED - 4)


def test_what_is_lost_is_said() -> None:
    with serving(QUERIES, limits=Limits(keep_matches=5)) as server:
        publish(server, 0)
        place = server.get("/matches")["next"]
        life = place.partition("-")[0]
        for number, lost in ((f"{life}-4", 3), ("another-4", None), (f"{life}-99", None)):
            with reading(server, Last_Event_ID=number) as reader:
                # A comment may come first.
                first = next(block for block in reader.blocks if block)
                assert first == {"event": "lost", "data": json.dumps({"lost": lost})}
                found = reader.matches(5)
                assert [document for _, document in found] == ids(7, 5)
            assert server.get("/matches", after=number)["lost"] == lost
        assert server.get("/matches", 400, after="no-place-at-all")["error"]["message"]


def test_a_sign_of_life_says_how_far_others_have_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_HEARTBEAT", 0.05)
    with serving(QUERIES) as server, reading(server, "/matches?live=1&query=nobody") as reader:
        wait_for_readers(server, 1)
        publish(server, 0)
        newest = server.get("/matches")["next"]
        assert any(block == {"id": newest} for block in reader.blocks)


def test_readers_are_bounded_and_one_that_takes_nothing_harms_nobody() -> None:
    large = "<a>" + "x" * 200_000 + "</a>"
    with serving(QUERIES, limits=Limits(max_readers=2)) as server:
        with reading(server), reading(server) as other:
            wait_for_readers(server, 2)
            with reading(server) as third:
                assert third.status == 503
            # The first never reads; the other does, while much more is published than is buffered.
            found: list[tuple[str, str]] = []
            taking = threading.Thread(target=lambda: found.extend(other.matches(60)))
            taking.start()
            for i in range(60):
                server.publish(f"d{i}", large, i)
            taking.join(PATIENCE)
            assert [document for _, document in found] == ids(0, 60)
        wait_for_readers(server, 0)


def test_the_end_lets_readers_go() -> None:
    with serving(QUERIES) as server, reading(server) as reader:
        wait_for_readers(server, 1)
        ended = threading.Timer(0.05, server.stop)
        ended.start()
        assert [block for block in reader.blocks if block] == []
        ended.join()


def wait_for_readers(server: Asking, count: int) -> None:
    """Waits until so many read events."""
    deadline = time.monotonic() + PATIENCE
    while server.get("/stats")["server"]["readers"] != count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_newest_of_a_query_however_many_of_others_came() -> None:
    with serving("-- name: rare\nS/a", "-- name: common\nS/b") as server:
        server.publish("a1", "<a/>", 0)
        for number in range(5):
            server.publish(f"b{number}", "<b/>", 1)
        page = server.get("/matches", query="rare", newest=3)
        assert [one["documents"] for one in page["matches"]] == [["a1"]]
        with reading(server, "/matches?live=1&query=rare&newest=3") as reader:
            assert [document for _, document in reader.matches(1)] == ["a1"]
        some = server.get("/matches", query=["rare", "common"], newest=2)["matches"]
        assert [one["documents"] for one in some] == [["b3"], ["b4"]]
        assert server.get("/matches", query="rare", newest=0)["matches"] == []
        assert server.get("/matches", query="none", newest=9)["matches"] == []


def test_matches_are_searched_by_words_and_day(tmp_path: Path) -> None:
    """The newest of them: in memory, and in the file of an earlier run."""
    text = "-- name: all\nS//item;\n-- name: two\nSELECT title AS Zwei FROM FILTER{n = 2}(S/item)"
    state = tmp_path / "state.duckdb"
    with serving(text, state=state) as server:
        for number in range(5):
            item = f'<item><n>{number}</n><title>Große "Fähre" {number}</title></item>'
            server.publish(f"d{number}", item, number * 43_200)
        server.raw("POST", "/streams/S", b'{"advance": 1e6}', Content_Type="application/x-ndjson")
        _search(server)
    with serving(state=state) as server:
        _search(server)


def _search(server: Asking) -> None:
    def found(**asked: object) -> list[str]:
        some = server.get("/matches", **asked)["matches"]
        return ["".join([one["query"], *one["documents"]]) for one in some]

    every = [f"alld{number}" for number in range(5)]
    assert found(search='grosse "FÄHRE"', query="all") == every
    assert found(search="fähre", query="all", limit=2) == every[3:]
    assert found(search="fähre 3", query="all") == ["alld3"]
    assert found(search="zwei") == ["two"]
    # The names of members of a match are not what it says.
    assert found(search="bindings") == []
    assert found(day="1970-01-02", query="all") == every[2:4]
    assert sorted(found(day="1970-01-02", search="2", query=["two", "all"])) == ["alld2", "two"]
    page = server.get("/matches", search="zwei")
    assert server.get("/matches", search="zwei", after=page["next"])["matches"] == []
    server.get("/matches", 400, search="zwei", live=1)
