"""`xscl watch --state`: the state of polling, retained documents and pending matches, in one
file."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.commands import xscl
from tests.xscl.cli.test_watch import FIRST, SECOND, found
from tests.xscl.web.loopback import Reply, Request, Server, rss

QUERIES = """\
-- name: follow-up
S//item->a[./link->x] FOLLOWED BY {x = y, 7 days} R//item->b[./link->y];
-- name: all
S//item
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.xscl").write_text(QUERIES)
    return tmp_path


def watch(
    server: Server, folder: Path, *more: str, crash: str = ""
) -> subprocess.CompletedProcess[str]:
    return xscl(
        "watch", "q.xscl", "--feed", f"S={server.url('/s')}",
        "--feed", f"R={server.url('/r', 'localhost')}",
        "--once", "--allow-private", "--state", "s.duckdb", *more,
        at=folder, environment={**os.environ, "XSCL_CRASH_AT": crash},
    )  # fmt: skip


def test_a_pair_over_two_runs_and_validators_that_are_kept(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST, headers=(("ETag", b'"one"'),))
    server.site["/r"] = Reply(body=rss())
    done = watch(server, folder)
    assert (done.returncode, found(done.stdout)) == (0, ["all"]), done.stderr
    server.site["/r"] = Reply(body=SECOND)
    assert found(watch(server, folder).stdout) == ["follow-up"]
    assert server.asked("/s")[-1].headers["if-none-match"] == b'"one"'
    assert found(watch(server, folder).stdout) == []
    assert [one.name for one in folder.iterdir() if "feeds" in one.name] == []
    reported = xscl("feeds", "s.duckdb", at=folder)
    assert reported.returncode == 0
    assert server.url("/s") in reported.stdout


def test_a_kill_costs_no_match_and_the_file_has_each_once(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    server.site["/r"] = Reply(body=SECOND)
    for crash in ("within output", "after output", "within commit"):
        done = watch(server, folder, "-o", "out.jsonl", crash=crash)
        assert done.returncode == -signal.SIGKILL, done.stderr
    (folder / "q.xscl").write_text(QUERIES + "-- the same")
    assert watch(server, folder, "-o", "out.jsonl").returncode == 0
    assert watch(server, folder, "-o", "out.jsonl").returncode == 0
    assert found((folder / "out.jsonl").read_text()) == ["all", "follow-up"]


def test_what_is_pending_for_a_webhook_is_posted_by_the_next_run(
    server: Server, folder: Path
) -> None:
    server.site["/s"] = Reply(body=FIRST)
    server.site["/r"] = Reply(body=SECOND)
    posted: list[Request] = []

    def take(request: Request) -> Reply:
        posted.append(request)
        return Reply()

    server.site["/hook"] = take
    hook = ("--webhook", server.url("/hook"))
    for crash in ("before delivery:2", "after commit:4"):
        assert watch(server, folder, *hook, crash=crash).returncode in (-signal.SIGKILL, 0)
    done = watch(server, folder, *hook)
    assert done.returncode == 0, done.stderr
    ids = [request.headers["idempotency-key"] for request in posted]
    assert len(set(ids)) == 2
    reported = len(posted)
    assert watch(server, folder, *hook).returncode == 0
    assert len(posted) == reported


LATER = """\
;
-- name: later
R//item->a[./link->x] JOIN {x = y, 7 days} S//item->b[./link->y];
-- name: later-all
S//item
"""


def test_a_query_that_comes_later_finds_what_is_retained(server: Server, folder: Path) -> None:
    """Once, whatever kills the command meanwhile; one that has changed continues from now on."""
    server.site["/s"] = Reply(body=FIRST)
    server.site["/r"] = Reply(body=SECOND)
    (folder / "q.xscl").write_text("-- name: all\nS//nothing")
    done = watch(server, folder, "-o", "out.jsonl")
    assert (done.returncode, (folder / "out.jsonl").read_text()) == (0, ""), done.stderr
    (folder / "q.xscl").write_text("-- name: all\nS//item" + LATER)
    dry = xscl(
        "watch", "q.xscl", "--feed", f"S={server.url('/s')}", "--state", "s.duckdb", "--dry-run",
        at=folder,
    )  # fmt: skip
    assert "2 queries new, over what is retained, too: later, later-all" in dry.stdout
    for crash in ("within output", "after output", "within commit"):
        done = watch(server, folder, "-o", "out.jsonl", crash=crash)
        assert done.returncode == -signal.SIGKILL, done.stderr
    for _ in range(2):
        done = watch(server, folder, "-o", "out.jsonl")
        assert sorted(found((folder / "out.jsonl").read_text())) == ["later", "later-all"]


def test_what_is_found_looking_back_is_posted(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    server.site["/r"] = Reply(body=rss())
    posted: list[Request] = []

    def take(request: Request) -> Reply:
        posted.append(request)
        return Reply()

    server.site["/hook"] = take
    (folder / "q.xscl").write_text("-- name: none\nS//nothing")
    assert watch(server, folder).returncode == 0
    (folder / "q.xscl").write_text("-- name: none\nS//nothing" + LATER)
    for _ in range(2):
        watch(server, folder, "--webhook", server.url("/hook"))
        assert len(posted) == 1


def test_how_long_items_are_retained(server: Server, folder: Path) -> None:
    """Those that may still come late, a day here, are in any case."""
    days = "".join(
        f"<item><guid>{day}</guid><title>t</title><link>http://a.example/{day}</link>"
        f"<pubDate>{day} May 2026 10:00:00 GMT</pubDate></item>"
        for day in (10, 14, 18)
    )
    server.site["/s"] = Reply(body=rss(channel=days))
    server.site["/r"] = Reply(body=rss())
    for name, *options in (("none", "--retain", "0"), ("some", "--retain", "5 days")):
        (folder / name).mkdir()
        (folder / name / "q.xscl").write_text("-- name: none\nS//nothing")
        watch(server, folder / name, *options)
        (folder / name / "q.xscl").write_text("-- name: none\nS//nothing;\n-- name: x\nS//item")
        done = watch(server, folder / name, *options)
        assert found(done.stdout) == ["x"] * (1 if name == "none" else 2), done.stderr
    for option in ("--retain=1 day", "--retain-most=5"):
        done = xscl("watch", "q.xscl", "--feed", "S=http://localhost/", option, at=folder)
        assert done.returncode == 2
        assert "give --state" in done.stderr


def test_the_state_and_a_file_of_feeds_are_not_both_kept(server: Server, folder: Path) -> None:
    done = watch(server, folder, "--feeds-db", "f.duckdb")
    assert done.returncode == 2
    assert "leave out --feeds-db" in done.stderr
