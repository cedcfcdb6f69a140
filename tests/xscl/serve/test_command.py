"""`xscl serve` as a user starts it."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request as Asked
from urllib.request import urlopen

import pytest

from tests.commands import Started, started, xscl
from tests.xscl.serve.asking import PATIENCE
from tests.xscl.web.loopback import Reply, Server, rss

ITEM = "<item><guid>1</guid><title>first</title><link>http://x.example/</link></item>"


@contextmanager
def serving(at: Path, *arguments: str) -> Iterator[tuple[Started, str]]:
    """The command, and the address that it says."""
    with started("serve", "--port", "0", *arguments, at=at) as command:
        deadline = time.monotonic() + PATIENCE
        said = command.streams[2]
        while not (
            said.exists()
            and (found := re.search(r"(?<=serving at )http://\S+?:\d+", said.read_text()))
        ):
            assert time.monotonic() < deadline
            assert not command.ended(0.01), command.done().stderr
        yield command, found[0]


def ask(address: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    asked = Asked(address, data, {"Content-Type": "application/json"})
    with urlopen(asked, timeout=PATIENCE) as answer:
        return json.load(answer)


def until(address: str, member: str) -> Any:
    """What a resource has as a member, once that is anything."""
    deadline = time.monotonic() + PATIENCE
    while not (found := ask(address)[member]):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def ended(command: Started, number: int = signal.SIGTERM) -> int:
    command.send(number)
    return command.done().returncode


@pytest.mark.parametrize("state", [(), ("--state", "s.duckdb")])
def test_feeds_are_polled_in_parallel(
    server: Server, tmp_path: Path, state: tuple[str, ...]
) -> None:
    server.site["/feed"] = Reply(body=rss(channel=ITEM))
    feed = ("--feed", f"S={server.url('/feed')}", "--allow-private")
    with serving(tmp_path, "-q", "S//item", *feed, *state) as (command, address):
        (match,) = until(f"{address}/matches", "matches")
        (health,) = ask(f"{address}/feeds")["feeds"]
        assert (health["address"], health["streams"]) == (server.url("/feed"), ["S"])
        assert (health["items"], health["error"], health["failures"]) == (1, None, 0)
        assert ended(command) == 0
    assert match["documents"] == [f"{server.url('/feed')}#1"]


@pytest.mark.parametrize("retained", [True, False])
def test_items_polled_before_the_first_query(
    server: Server, tmp_path: Path, *, retained: bool
) -> None:
    """They are there for a query that comes later, also after a restart."""
    server.site["/feed"] = Reply(body=rss(channel=ITEM))
    feed = ("--feed", f"S={server.url('/feed')}", "--allow-private", "--state", "s.duckdb")
    feed = feed if retained else (*feed, "--retain", "0")
    for again in (False, True):
        with serving(tmp_path, *feed) as (command, address):
            if not again:
                until(f"{address}/stats", "taken")
            made = ask(
                f"{address}/queries", {"name": f"q{again}", "text": "S//item", "history": True}
            )
            assert made["queries"][0]["matches"] == retained
            # No query keeps the item for the next run.
            asked = Asked(f"{address}/queries/q{again}", method="DELETE")
            urlopen(asked, timeout=PATIENCE).close()
            assert ended(command) == 0


def test_an_edited_item_takes_back_what_it_was(server: Server, tmp_path: Path) -> None:
    """Of a stream that is revisable; and items without a date are said."""
    server.site["/feed"] = Reply(body=rss(channel=ITEM))
    feed = ("--feed", f"S={server.url('/feed')}", "--allow-private", "--revisable", "S")
    query = "EVENT SEQ(S/item a) WITHIN 1 day CONSISTENCY middle"
    with serving(tmp_path, "-q", query, *feed) as (command, address):
        (first,) = until(f"{address}/matches", "matches")
        server.site["/feed"] = Reply(body=rss(channel=ITEM.replace("first", "edited")))
        ask(f"{address}/feeds/ask", {"address": server.url("/feed")})
        deadline = time.monotonic() + PATIENCE
        while (found := ask(f"{address}/matches")["matches"]) in ([first], []):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        (second,) = found
        assert ended(command) == 0
        said = command.streams[2].read_text()
    assert second["documents"] == first["documents"]
    assert "<title>first</title>" in first["result"]
    assert "<title>edited</title>" in second["result"]
    assert "1 of 1 new item of a feed has no date, or one in the future" in said


def test_time_passes_after_what_feeds_have_brought(server: Server, tmp_path: Path) -> None:
    """However old it is: nothing of the first poll is late."""
    old = "<pubDate>Mon, 01 Jun 2020 {:02}:00:00 GMT</pubDate>"
    items = (f"<item><guid>{hour}</guid>{old.format(hour)}</item>" for hour in (1, 9, 5))
    server.site["/feed"] = Reply(body=rss(channel="".join(items)))
    feed = ("--feed", f"S={server.url('/feed')}", "--allow-private")
    query = "EVENT SEQ(S/item a, !R/item b) WITHIN 1 hour"
    with serving(tmp_path, "-q", query, *feed) as (command, address):
        matches = until(f"{address}/matches", "matches")
        assert ended(command) == 0
    guids = [match["documents"][0].partition("#")[2] for match in matches]
    assert guids == ["1", "5", "9"]


def test_queries_of_files_and_of_requests_are_there_again(tmp_path: Path) -> None:
    file = tmp_path / "q.xscl"
    file.write_text("-- name: kept\nS//a;\n-- name: changed\nS//b")
    with serving(tmp_path, "q.xscl", "--state", "s.duckdb") as (command, address):
        ask(f"{address}/queries", {"text": "S//c", "name": "asked"})
        ask(f"{address}/streams/S?id=1", {"b": 1})
        assert ended(command, signal.SIGKILL) == -signal.SIGKILL
    file.write_text("-- name: kept\nS//a;\n-- name: changed\nS//d;\n-- name: bad\nS//[")
    with serving(tmp_path, "q.xscl", "--state", "s.duckdb") as (command, address):
        queries = {one["name"]: one["text"] for one in ask(f"{address}/queries")["queries"]}
        assert queries == {"kept": "S//a", "changed": "S//d", "asked": "S//c"}
        assert [one["query"] for one in ask(f"{address}/matches")["matches"]] == ["changed"]
        # A bad query in a file does not keep the server from serving, but is said at the end.
        assert ended(command, signal.SIGINT) == 130
        assert "bad" in command.done().stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "give --token-file"),
        (["--host", "192.0.2.1"], "give --token-file"),
        (["--token-file", "short"], "at least 16"),
        (["--token-file", "missing"], "does not exist"),
        (["--token-file", "bytes"], "at least 16 ASCII characters"),
        (["--feed", "S=no-such-file"], "no-such-file"),
        (["--lateness", "long"], "long"),
        (["--state", "token", "--token-file", "token"], "token"),
    ],
)
def test_what_cannot_be_is_wrong_usage(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "short").write_text("short\n")
    (tmp_path / "bytes").write_bytes(bytes(range(128, 192)))
    (tmp_path / "token").write_text("a token of some length\n")
    done = xscl("serve", "--port", "0", *arguments, at=tmp_path)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_an_address_that_is_taken(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, address):
        done = xscl("serve", "--port", address.rpartition(":")[2], at=tmp_path)
    assert (done.returncode, "--port" in done.stderr) == (1, True), done.stderr
