"""A watch that is killed anywhere, over and over: its command and its webhook get each match, with
its id, at least once, and none of the matches that were taken long before."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import xscl
from tests.crash.harness import crashing
from tests.xscl.web.loopback import Reply, Request, Server, rss, serving

QUERIES = """\
-- name: answer
S//item[./link->x] FOLLOWED BY {x = y, 7 days} R//item[./link->y];
-- name: all
S//item
"""
ITEMS = 30

COMMAND = """sh -c 'read -r match; printf "%s\\n" "$match" >> taken.jsonl'"""

KILLS = [
    "opened", "evaluated", "within commit:2", "before delivery:2", "after delivery:3",
    "after delivery:40", "after commit:2", "before close",
]  # fmt: skip


def feed(name: str, minute: int) -> bytes:
    items = (
        f"<item><guid>{name}{number}</guid><title>{name} {number}</title>"
        f"<link>http://x.example/{number}</link>"
        f"<pubDate>Mon, 01 Jun 2026 10:{minute:02}:{number:02} GMT</pubDate></item>"
        for number in range(ITEMS)
    )
    return rss(channel="".join(items))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        server.site["/s"] = Reply(body=feed("s", 1))
        server.site["/r"] = Reply(body=feed("r", 2))
        yield server


@pytest.mark.parametrize("sink", ["exec", "webhook"])
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
        "watch", "q.xscl", "--feed", f"S={server.url('/s')}", "--feed", f"R={server.url('/r')}",
        "--once", "--allow-private", "--state", "s.duckdb", *hand[sink],
    )  # fmt: skip

    def told() -> list[dict[str, object]]:
        return [json.loads(line) for line in [*posted, *taken.read_text().splitlines()] if line]

    for kill in KILLS:
        done = xscl(*arguments, at=tmp_path, environment=crashing(kill))
        # Late points are met by the runs that get so far.
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
    done = xscl(*arguments, at=tmp_path)
    assert done.returncode == 0, done.stderr
    found = told()
    expected = {("all", f"s{n}") for n in range(ITEMS)} | {
        ("answer", f"r{n}") for n in range(ITEMS)
    }
    by_id = {str(match["id"]): match for match in found}
    assert len(by_id) == len(expected)
    assert {_of(match) for match in found} == expected
    # An id is of one match, and what is told again is told as it was.
    assert all(match == by_id[str(match["id"])] for match in found)
    assert xscl(*arguments, at=tmp_path).returncode == 0
    assert len(told()) == len(found)


def _of(match: dict[str, object]) -> tuple[str, str]:
    documents = match["documents"]
    assert isinstance(documents, list)
    return str(match["query"]), str(documents[-1]).split()[-1].rpartition("#")[2]
