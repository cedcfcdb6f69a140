"""What `xscl watch` says of its feeds: forbidden, not due, failing, too late; and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from tests.commands import started, xscl
from tests.terminal import on_terminal, screen
from tests.xscl.web.loopback import Reply, Server, rss
from xscl import Engine
from xscl.polling.state import DAY

MEMORIES = pytest.mark.parametrize("memory", [(), ("--state", "s.duckdb")], ids=["file", "state"])
FEEDS = ("/s", "/t", "/r", "/u")
LATEST = datetime(2026, 6, 1, 10, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.xscl").write_text("-- name: all\nS//item")
    return tmp_path


def aged(guid: str, days: float) -> str:
    """An item of a feed, so many days older than the latest."""
    date = format_datetime(LATEST - timedelta(days=days))
    return (
        f"<item><guid>{guid}</guid><title>{guid}</title><link>http://x.example/page</link>"
        f"<pubDate>{date}</pubDate></item>"
    )


def watch(
    server: Server, folder: Path, *more: str, feeds: str = "/s"
) -> subprocess.CompletedProcess[str]:
    # On different hosts, so that there is no pause between two of them.
    urls = {path: server.url(path, "localhost" if path == "/t" else "127.0.0.1") for path in FEEDS}
    named = [
        word for path in feeds.split() for word in ("--feed", f"{path[1].upper()}={urls[path]}")
    ]
    return xscl("watch", "q.xscl", *named, "--once", *more, at=folder)


def guids(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [
        document.partition("#")[2]
        for line in done.stdout.splitlines()
        for document in json.loads(line)["documents"]
    ]


@MEMORIES
def test_what_is_forbidden_is_read_as_soon_as_it_is_allowed(
    server: Server, folder: Path, memory: tuple[str, ...]
) -> None:
    server.site["/s"] = Reply(body=rss(channel=aged("1", 0)))
    done = watch(server, folder, *memory, "--every", "1h")
    assert done.returncode == 1
    assert "127.0.0.1, which is not of the public Internet; --allow-private" in done.stderr
    assert done.stderr.endswith("no feed could be read\n")
    assert not server.requests
    done = watch(server, folder, *memory, "--every", "1h", "--allow-private")
    assert (done.returncode, guids(done)) == (0, ["1"]), done.stderr


def test_feeds_that_are_not_due_are_named_with_the_time(server: Server, folder: Path) -> None:
    fresh = (("Cache-Control", b"max-age=3600"),)
    server.site |= {f"/{name}": Reply(200, fresh, rss()) for name in "st"}
    server.site |= {"/r": Reply(500), "/u": Reply(410)}
    assert watch(server, folder, "--allow-private", feeds="/s /t /r /u").returncode == 0
    said = watch(server, folder, "--allow-private", feeds="/s /t /r /u")
    assert said.returncode == 0, "two of the four are well"
    assert "2 feeds not due, next at 20" in said.stderr
    assert f"feed {server.url('/r')}: not read: next at 20" in said.stderr
    assert "the server answered 500" in said.stderr
    assert f"feed {server.url('/u')}: not read: never again; gone for good (410)" in said.stderr
    said = watch(server, folder, "--allow-private")
    assert f"feed {server.url('/s')}: not due, next at 20" in said.stderr
    assert said.returncode == 0
    assert len(server.requests) == 4


@pytest.mark.parametrize("reply", [Reply(410), Reply(body=b"no feed")], ids=["gone", "no feed"])
def test_without_a_feed_that_can_be_read_it_is_no_success(
    server: Server, folder: Path, reply: Reply
) -> None:
    server.site["/s"] = reply
    for _ in range(2):
        done = watch(server, folder, "--allow-private")
        assert done.returncode == 1, "whether it is asked now or was earlier"
        assert done.stderr.endswith("no feed could be read\n")
    server.site["/t"] = Reply(body=rss())
    assert watch(server, folder, "--allow-private", feeds="/s /t").returncode == 0


JOINED = "S//item->a[./link->x] JOIN {{x = y, {}}} T//item->b[./link->y];"


@MEMORIES
def test_a_feed_that_joins_late_is_within_the_windows(
    server: Server,
    folder: Path,
    memory: tuple[str, ...],
) -> None:
    (folder / "q.xscl").write_text(JOINED.format("7 days"))
    server.site["/s"] = Reply(body=rss(channel=aged("1", 0)))
    assert watch(server, folder, *memory, "--allow-private").returncode == 0
    items = aged("taken", 6) + aged("late", 8) + aged("later", 1000.5)
    whole = Reply(200, (("ETag", b'"1"'),), rss(channel=items))
    server.site["/t"] = lambda asked: Reply(304) if "if-none-match" in asked.headers else whole
    done = watch(server, folder, *memory, "--allow-private", feeds="/s /t")
    assert done.returncode == 0
    assert guids(done) == ["1", "taken"]
    (line,) = (line for line in done.stderr.splitlines() if "too late" in line)
    assert line.startswith(f"feed {server.url('/t', 'localhost')}: 2 items too late, from 2023-")
    option = "--lateness '1001 days' to have them"
    assert line.endswith(option)
    again = watch(server, folder, *memory, "--allow-private", feeds="/s /t")
    assert "too late" not in again.stderr, "said once"
    done = watch(
        server, folder, *memory, "--allow-private", "--lateness", "1001 days", feeds="/s /t"
    )
    assert "2 documents, 0 skipped" in done.stderr, "as the line promised"


def test_when_all_documents_are_late_it_is_no_success(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=rss(channel=aged("1", 0)))
    assert watch(server, folder, "--allow-private").returncode == 0
    server.site["/s"] = Reply(body=rss(channel=aged("2", 3)))
    done = watch(server, folder, "--allow-private")
    assert done.returncode == 1
    assert "0 documents, 1 skipped (1 late)" in done.stderr


@pytest.mark.parametrize(
    ("windows", "lateness"),
    [
        ([], 1.0),
        (["1 hour"], 1.0),
        (["7 days"], 7.0),
        (["1 hour", "7 days", "2 days"], 7.0),
        (["7 days", "INF"], 7.0),
        (["INF"], None),
    ],
)
def test_lateness_follows_the_widest_window_that_ends(
    windows: list[str], lateness: float | None
) -> None:
    engine = Engine()
    engine.subscribe("S//item")
    for window in windows:
        engine.subscribe(JOINED.format(window))
    found = engine.follow_windows()
    assert found == (None if lateness is None else lateness * DAY)
    engine.publish("S", "<item/>", timestamp=10 * DAY)
    assert engine.watermark == (None if lateness is None else (10 - lateness) * DAY)
    for subscription in engine.subscriptions[1:]:
        engine.cancel(subscription.name)
    assert engine.follow_windows("2 days") == 2 * DAY


PATTERN = "EVENT SEQ(S s, !T t) {}"


@pytest.mark.parametrize(
    ("queries", "wait", "lateness"),
    [
        (["WITHIN 10 minutes"], 0, DAY / 144),
        (["WITHIN 10 minutes"], "1 hour", DAY / 24),
        (["WITHIN 10 minutes", "WITHIN 2 hours"], "1 hour", DAY / 12),
        (["WITHIN 7 days"], "1 hour", DAY),
        (["WITHIN 10 minutes", "S//item"], 0, DAY),
        (["WITHIN 10 minutes", "7 days"], 0, 7 * DAY),
        (["WITHIN 10 minutes", "INF"], 0, DAY),
        (["S NEXT{DUR <= 10 min} T"], 0, DAY / 144),
        (["SELECT COUNT(*) AS n FROM WINDOW{2 h}(S)", "WITHIN 10 minutes"], "1 hour", DAY / 12),
        (["FILTER{20 min > DUR}(S FOLD{, , } T)", "S NEXT T"], 0, DAY / 72),
        (["S NEXT T"], 0, DAY),
        (["SELECT COUNT(*) AS n FROM S"], 0, DAY),
    ],
)
def test_patterns_wait_no_longer_than_they_must(
    queries: list[str], wait: float | str, lateness: float
) -> None:
    """Their windows count only where nothing else needs more, and a day at most."""
    engine = Engine()
    for text in queries:
        whole = PATTERN if "WITHIN" in text else JOINED if text[0] in "I17" else "{}"
        engine.subscribe(whole.format(text))
    assert engine.follow_windows(wait=wait) == pytest.approx(lateness)


def test_the_lengths_of_each_subscription_count() -> None:
    """Of parameters, and of constants that a state file stores separately from their text."""
    engine = Engine()
    engine.subscribe("SELECT COUNT(*) AS n FROM WINDOW{10 min}(S)")
    rows = [{"most": 60}, {"most": 7200}]
    _, longer = engine.subscribe_many("S NEXT{DUR <= :most} T", rows)
    assert engine.follow_windows() == 7200
    longer.cancel()
    assert engine.follow_windows() == 600


def test_a_pattern_without_a_window_waits_a_day() -> None:
    engine = Engine()
    engine.subscribe("EVENT SEQ(S a, T b)")
    assert engine.follow_windows() == DAY


def test_the_watermark_of_patterns_does_not_fall_when_windows_grow() -> None:
    engine = Engine()
    engine.subscribe(PATTERN.format("WITHIN 10 minutes"))
    engine.follow_windows()
    engine.publish("S", {}, timestamp=10 * DAY)
    before = engine.watermark
    engine.subscribe(JOINED.format("7 days"))
    assert engine.follow_windows() == 7 * DAY
    assert engine.watermark == before
    engine.publish("S", {}, timestamp=18 * DAY)
    assert engine.watermark == 11 * DAY


def test_a_terminal_shows_how_far_polling_is_until_it_is_interrupted(
    server: Server, folder: Path
) -> None:
    server.site |= {"/s": Reply(body=rss(channel=aged("1", 0))), "/t": Reply(500)}
    feeds = ("--feed", f"S={server.url('/s')}", "--feed", f"S={server.url('/t', 'localhost')}")
    shown = on_terminal(
        folder,
        *("watch", "q.xscl", *feeds, "--allow-private", "--format", "jsonl"),
        errors=True,
        until=r"2 feeds \(1 failing\), next poll at \S+Z, 1 match",
        TERM="xterm",
    )
    lines = screen(shown)
    (match,) = (line for line in lines if line.startswith("{"))
    assert json.loads(match)["query"] == "all", "whole, on a line of its own"
    assert shown.count("the server answered 500") == 1


def test_the_first_interrupt_says_that_the_batch_is_finished(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=rss(channel=aged("1", 0)))
    source = ("--feed", f"S={server.url('/s')}", "--allow-private", "-o", "out")
    with started("watch", "q.xscl", *source, at=folder) as running:
        while not (folder / "out").exists():
            assert not running.ended(0.05)
        running.send(signal.SIGINT)
        done = running.done()
    assert done.returncode == 130
    assert "ending once the batch under way is finished; interrupt again" in done.stderr
