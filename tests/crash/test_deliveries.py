"""A watch that is killed anywhere, over and over: its command and its webhook get each match, with
its id, at least once, and none of the matches that were taken long before."""

from __future__ import annotations

import itertools
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from tests.commands import started, xscl
from tests.crash.harness import crashing
from tests.drawn import turn
from tests.xscl.web.loopback import Reply, Request, Server, rss
from xscl.polling import clock

QUERIES = """\
-- name: answer
S//item[./link->x] FOLLOWED BY {x = y, 7 days} R//item[./link->y];
-- name: all
S//item
"""
ITEMS = 12

COMMAND = """sh -c 'read -r match; printf "%s\\n" "$match" >> taken.jsonl'"""

KILLS = [
    "opened", "evaluated", "within commit:2", "before delivery:2", "after delivery:3",
    "after delivery:16", "after commit:2", "before close",
]  # fmt: skip


def feed(name: str, minute: int, shown: int = ITEMS, guid: str | None = None) -> bytes:
    items = (
        f"<item><guid>{guid or name}{number}</guid><title>{name} {number}</title>"
        f"<link>http://x.example/{number}</link>"
        f"<pubDate>Mon, 01 Jun 2026 10:{minute:02}:{number:02} GMT</pubDate></item>"
        for number in range(shown)
    )
    return rss(channel="".join(items))


@pytest.fixture
def server(server: Server) -> Server:
    server.site["/s"] = Reply(body=feed("s", 1))
    server.site["/r"] = Reply(body=feed("r", 2))
    return server


@pytest.mark.drawn
@pytest.mark.parametrize("sink", turn(["exec", "webhook"]))
def test_killed_watches_hand_each_match_over(server: Server, tmp_path: Path, sink: str) -> None:
    (tmp_path / "q.xscl").write_text(QUERIES)
    taken = tmp_path / "taken.jsonl"
    taken.touch()
    posted: list[str] = []

    def take(request: Request) -> Reply:
        posted.append(request.body.decode())
        return Reply()

    server.site["/hook"] = take
    hand = {
        "exec": ("--exec", COMMAND),
        "webhook": ("--webhook", server.url("/hook")),
    }
    arguments = (
        "watch", "q.xscl", "--feed", f"S={server.url('/s')}",
        "--feed", f"R={server.url('/r', 'localhost')}",
        "--once", "--allow-private", "--state", "s.duckdb", *hand[sink],
    )  # fmt: skip

    def reported() -> list[dict[str, object]]:
        return [json.loads(line) for line in [*posted, *taken.read_text().splitlines()] if line]

    killed = 0
    for kill in KILLS:
        done = xscl(*arguments, at=tmp_path, environment=crashing(kill))
        # Late points are met by the runs that get so far.
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        killed += done.returncode != 0
    assert killed >= 3
    done = xscl(*arguments, at=tmp_path)
    assert done.returncode == 0, done.stderr
    found = reported()
    expected = {("all", f"s{n}") for n in range(ITEMS)} | {
        ("answer", f"r{n}") for n in range(ITEMS)
    }
    by_id = {str(match["id"]): match for match in found}
    assert len(by_id) == len(expected)
    assert {_of(match) for match in found} == expected
    # An id belongs to one match, which is reported again as it was.
    assert all(match == by_id[str(match["id"])] for match in found)
    assert xscl(*arguments, at=tmp_path).returncode == 0
    assert len(reported()) == len(found)


EDITS = [
    ["before delivery", "after delivery:2"],
    ["after commit", "before delivery:2", "after delivery:3"],
    ["within commit", "after delivery", "before close"],
]
"""The kills of each poll: the matches of the one before are taken back in it."""


@pytest.mark.drawn
@pytest.mark.parametrize("sink", turn(["webhook", "exec"]))
def test_killed_watches_hand_over_what_is_taken_back(
    server: Server, tmp_path: Path, sink: str
) -> None:
    (tmp_path / "q.xscl").write_text("-- name: all\nS/item")
    taken = tmp_path / "taken.jsonl"
    taken.touch()
    got: list[str] = []

    def take(request: Request) -> Reply:
        got.append(request.body.decode())
        return Reply()

    server.site["/hook"] = take
    hand = {
        "exec": ("--exec", COMMAND),
        "webhook": ("--webhook", server.url("/hook")),
    }
    arguments = (
        "watch", "q.xscl", "--feed", f"S={server.url('/s')}", "--once", "--every", "1 s",
        "--revisable", "S", "--consistency", "middle", "--allow-private", "--state", "s.duckdb",
        *hand[sink],
    )  # fmt: skip
    for hour, kills in enumerate(EDITS):
        server.site["/s"] = Reply(body=feed(f"edit {hour} of ", 1, shown=3, guid="s"))
        for kill in [*kills, ""]:
            around = partial(_at_hour, 12 + hour)
            done = xscl(*arguments, at=tmp_path, environment=crashing(kill), around=around)
            assert done.returncode in (0, -signal.SIGKILL), done.stderr
        assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in [*got, *taken.read_text().splitlines()] if line]
    # An edited item keeps its id, and so does its match.
    of_match: dict[str, list[str]] = {}
    for one in found:
        said = "" if "retract" in one else one["result"].partition("<title>")[2][:6]
        of_match.setdefault(one.get("retract") or one["id"], []).append(said)
    assert len(of_match) == 3
    for said in of_match.values():
        assert {*said} == {"edit 0", "", "edit 1", "edit 2"}
        assert said.count("") >= 2
        assert (said[0], said[-1]) == ("edit 0", "edit 2")
        assert "" in said[said.index("edit 1") : said.index("edit 2")]
    # Though a match may still be taken back, that it was handed over is known.
    assert xscl(*arguments, at=tmp_path, around=around).returncode == 0
    assert len(got) + len(taken.read_text().splitlines()) == len(found)


@contextmanager
def _at_hour(hour: int) -> Iterator[None]:
    """Around a command, in its process: so many hours after the beginning of June 2026."""
    ahead = datetime(2026, 6, 1, hour, tzinfo=UTC).timestamp() - time.time()
    with mock.patch.object(clock, "time", SimpleNamespace(time=lambda: time.time() + ahead)):
        yield


SLOW = """sh -c 'read -r match; printf x >> begun; [ -e go ] || exec sleep 300;
printf "%s\\n" "$match" >> taken.jsonl'"""


@pytest.mark.parametrize("sink", ["exec", "webhook"])
def test_a_delivery_under_way_when_a_poll_is_written_is_made_again(
    server: Server, tmp_path: Path, sink: str
) -> None:
    """Killed while the receiver of the first poll's matches has not answered, and the second poll
    is in the state: every receiver gets them again."""
    (tmp_path / "q.xscl").write_text("-- name: all\nS//item")
    taken, begun, go = (tmp_path / name for name in ("taken.jsonl", "begun", "go"))
    polls, written = itertools.count(), threading.Event()

    def poll(request: Request) -> Reply:
        number = next(polls)
        if number:
            wait_for(begun.exists)
        if number == 2:
            # The poll before is dealt with: only then is a feed asked again.
            written.set()
        return Reply(body=feed("s", 1, shown=number + 1))

    def take(request: Request) -> Reply:
        begun.touch()
        if not go.exists():
            wait_for(go.exists)
            return Reply(503)
        with taken.open("ab") as file:
            file.write(request.body + b"\n")
        return Reply()

    server.site["/s"], server.site["/hook"] = poll, take
    hand = {"exec": ("--exec", SLOW), "webhook": ("--webhook", server.url("/hook"))}
    arguments = (
        "watch", "q.xscl", "--feed", f"S={server.url('/s')}", "--every", "1s",
        "--allow-private", "--state", "s.duckdb", *hand[sink],
    )  # fmt: skip
    with started(*arguments, at=tmp_path) as one:
        assert written.wait(300)
        one.send(signal.SIGKILL)
        assert one.done().returncode == -signal.SIGKILL
    assert not taken.exists()
    go.touch()
    done = xscl(*arguments, "--once", at=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {_of(json.loads(line)) for line in taken.read_text().splitlines()}
    assert {("all", "s0"), ("all", "s1")} <= found


def wait_for(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 300
    while not true() and time.monotonic() < until:
        time.sleep(0.01)


def _of(match: dict[str, object]) -> tuple[str, str]:
    documents = match["documents"]
    assert isinstance(documents, list)
    return str(match["query"]), str(documents[-1]).split()[-1].rpartition("#")[2]
