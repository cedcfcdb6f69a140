"""`xscl watch` and `xscl feeds` as a user types them, against a server of our own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import feedparser
import pytest

from tests.commands import Around, started, xscl
from tests.xscl.sinks.pace import quickly
from tests.xscl.web.loopback import Reply, Request, Server, rss
from xscl.polling import clock

QUERIES = """\
-- name: follow-up
SELECT <pair>{a/title}{b/title}</pair> FROM
S//item->a[./link->x] FOLLOWED BY {x = y, 7 days} R//item->b[./link->y];
-- name: all
S//item
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.xscl").write_text(QUERIES)
    return tmp_path


def item(guid: str, title: str, date: str) -> str:
    return (
        f"<item><guid>{guid}</guid><title>{title}</title><link>http://x.example/page</link>"
        f"<pubDate>Mon, 01 Jun 2026 {date} GMT</pubDate></item>"
    )


FIRST = rss(channel=item("1", "first", "10:00:00"))
SECOND = rss(channel=item("2", "second", "11:00:00"))


def once(
    server: Server, folder: Path, *more: str, around: Around = quickly
) -> subprocess.CompletedProcess[str]:
    return xscl(
        "watch", "q.xscl", "--feed", f"S={server.url('/s')}",
        "--feed", f"R={server.url('/r', 'localhost')}",
        "--once", "--allow-private", *more, at=folder, around=around,
    )  # fmt: skip


def found(output: str) -> list[str]:
    return [json.loads(line)["query"] for line in output.splitlines()]


def test_a_pair_is_found_over_two_runs_and_reported_once(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    server.site["/r"] = Reply(body=rss())
    done = once(server, folder)
    assert (done.returncode, found(done.stdout)) == (0, ["all"]), done.stderr
    server.site["/r"] = Reply(body=SECOND)
    done = once(server, folder)
    assert found(done.stdout) == ["follow-up"]
    assert json.loads(done.stdout)["result"] == (
        "<pair><title>first</title><title>second</title></pair>"
    )
    assert found(once(server, folder).stdout) == []
    assert (folder / "q.feeds.duckdb").is_file()


def test_items_of_the_first_poll_are_one_poll_in_order_of_time(
    server: Server, folder: Path
) -> None:
    """However old they are compared with those of another feed, none is late."""
    server.site["/r"] = Reply(body=SECOND)
    server.site["/s"] = Reply(body=FIRST.replace(b"01 Jun", b"28 May"))
    assert found(once(server, folder).stdout) == ["all", "follow-up"]


def test_a_period_may_be_in_minutes_as_usual(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    assert once(server, folder, "--every", "10m").returncode == 0
    once(server, folder, "--every", "10m")
    assert len(server.asked("/s")) == 1, "ten minutes have not passed"


def test_the_contact_is_sent_to_servers(server: Server, folder: Path) -> None:
    once(server, folder, "--contact", "me@example.org")
    assert server.requests[0].headers["user-agent"].endswith(b" (+me@example.org)")


def test_opml_is_read_and_its_folders_are_queried(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    (folder / "all.opml").write_text(
        f'<opml version="2.0"><body><outline text="Sea"><outline xmlUrl="{server.url("/s")}"/>'
        '<outline xmlUrl="feed:x"/></outline></body></opml>'
    )
    (folder / "q.xscl").write_text("S/item[folder = 'Sea']")
    done = xscl("watch", "q.xscl", "--feed", "S=all.opml", "--once", "--allow-private", at=folder)
    assert len(done.stdout.splitlines()) == 1
    assert "feed:x" in done.stderr


def test_a_command_gets_each_match(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    server.site["/r"] = Reply(body=SECOND)
    (folder / "take.py").write_text(
        "import json, sys\n"
        "match = json.load(sys.stdin)\n"
        "open(match['query'], 'a').write(match['id'])\n"
        "print('said')\n"
        "sys.exit('not that one' if match['query'] == 'all' else 0)\n"
    )
    done = once(server, folder, "--exec", f"{sys.executable} take.py")
    assert done.returncode == 4, done.stderr
    assert done.stdout == ""
    assert (folder / "follow-up").stat().st_size == 32
    assert (folder / "all").stat().st_size == 8 * 32
    assert "not delivered by --exec yet: " in done.stderr
    assert "not that one" in done.stderr
    assert "not delivered by --exec: 1 match, lost; --state keeps" in done.stderr


def test_a_webhook_gets_each_match_and_another_try(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    server.site["/r"] = Reply(body=SECOND)
    tries: list[Request] = []

    def hook(request: Request) -> Reply:
        tries.append(request)
        return Reply(503 if len(tries) == 1 else 204)

    server.site["/hook"] = hook
    done = once(server, folder, "--webhook", server.url("/hook"), "-o", "m.jsonl")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (folder / "m.jsonl").read_text().splitlines()]
    assert len(tries) == 3
    assert {request.headers["idempotency-key"].decode() for request in tries} == {
        line["id"] for line in lines
    }
    for request in tries:
        assert request.method == "POST"
        assert request.headers["content-type"] == b"application/json"
        assert json.loads(request.body) in lines
    assert "not delivered by --webhook:" not in done.stderr


def test_a_webhook_that_refuses_is_not_asked_twice(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    server.site["/hook"] = Reply(400)
    done = once(server, folder, "--webhook", server.url("/hook"))
    assert (done.returncode, len(server.asked("/hook"))) == (4, 1)
    assert "the webhook answered 400" in done.stderr


def test_matches_become_a_feed(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    server.site["/r"] = Reply(body=rss())
    once(server, folder, "--format", "atom", "-o", "m.atom")
    server.site["/r"] = Reply(body=SECOND)
    once(server, folder, "--format", "atom", "-o", "m.atom")
    feed = feedparser.parse((folder / "m.atom").read_bytes())
    assert len(feed.entries) == 2


def _until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(server: Server, folder: Path, number: signal.Signals) -> None:
    server.site["/s"] = Reply(200, (("ETag", b'"1"'),), FIRST)
    arguments = ["watch", "q.xscl", "--feed", f"S={server.url('/s')}", "--allow-private", "-o", "m"]
    with started(*arguments, at=folder) as one:
        _until((folder / "m").exists)
        shown = xscl("feeds", "q.feeds.duckdb", at=folder)
        assert shown.returncode == 0, "while the watch is running"
        one.send(number)
        done = one.done()
    # A service has no other end than a termination.
    assert done.returncode == (130 if number == signal.SIGINT else 0), done.stderr
    (state,) = json.loads(xscl("feeds", "q.feeds.duckdb", "--format", "json", at=folder).stdout)
    assert (state["items"], state["error"], state["failures"]) == (1, None, 0)


def test_it_keeps_polling(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=rss())
    arguments = ["watch", "q.xscl", "--feed", f"S={server.url('/s')}", "--every", "1s"]
    with started(*arguments, "--allow-private", "-o", "m", at=folder) as one:
        _until(lambda: len(server.requests) > 1)
        server.site["/s"] = Reply(body=FIRST)
        _until((folder / "m").exists)
        one.send(signal.SIGTERM)
        assert one.done().returncode == 0
    assert found((folder / "m").read_text()) == ["all"]


def test_feeds_shows_what_is_known(server: Server, folder: Path) -> None:
    server.site["/s"] = Reply(body=FIRST)
    once(server, folder)
    text = xscl("feeds", "q.feeds.duckdb", at=folder).stdout
    assert server.url("/s") in text
    assert "the server answered 404" in text
    by_feed = {
        state["feed"]: state
        for state in json.loads(
            xscl("feeds", "q.feeds.duckdb", "--format", "json", at=folder).stdout
        )
    }
    good, bad = by_feed[server.url("/s")], by_feed[server.url("/r", "localhost")]
    assert (good["title"], good["items"], good["error"]) == ("News", 1, None)
    assert (bad["items"], bad["failures"]) == (0, 1)
    assert bad["next_fetch"] > good["last_fetch"]


def test_feeds_reports_a_file_that_is_none_of_its_own(folder: Path) -> None:
    done = xscl("feeds", "q.xscl", at=folder)
    assert done.returncode == 1
    assert done.stderr.startswith("xscl: q.xscl cannot be opened")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["q.xscl"], "--feed"),
        (["q.xscl", "--feed", "S=q.xscl"], "expected an http(s) address or an OPML file"),
        (["q.xscl", "--feed", "S=missing.opml"], "no such file or folder"),
        (["q.xscl", "--feed", "S=http://"], "names no server"),
        (["q.xscl", "--feed", "S=http://a.example/", "--every", "0.1s"], "less than a second"),
        (["q.xscl", "--feed", "S=http://a.example/", "--every", "INF"], "without end"),
        (["q.xscl", "--feed", "S=http://a.example/", "--every", "10x"], "no duration"),
        (
            ["q.xscl", "--feed", "S=http://a.example/", "--exec", "no-such-program"],
            "no such program",
        ),
        (["q.xscl", "--feed", "S=http://a.example/", "--webhook", "ftp://x/"], "http(s)"),
        (["q.xscl", "--feed", "S=http://a.example/", "--contact", "a\nb"], "--contact"),
        (["q.xscl", "--feed", "S=http://a.example/", "--format", "atom"], "-o"),
        (["bad.xscl", "--feed", "S=http://a.example/"], "line 1"),
    ],
)
def test_wrong_usage_is_reported_before_anything_is_asked(
    folder: Path, arguments: list[str], said: str
) -> None:
    (folder / "bad.xscl").write_text("S//[")
    done = xscl("watch", *arguments, at=folder, stdin="S//a")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@contextmanager
def at_hour(hour: float) -> Iterator[None]:
    """Around a command, so many hours after the beginning of June 2026."""
    ahead = datetime(2026, 6, 1, tzinfo=UTC).timestamp() + 3600 * hour - time.time()
    set_so = SimpleNamespace(time=lambda: time.time() + ahead)
    with quickly(), mock.patch.object(clock, "time", set_so):
        yield


@pytest.mark.parametrize("options", [(), ("--state", "state.duckdb")], ids=["store", "state"])
def test_a_quiet_watch_reports_an_absence_once_by_the_clock(
    server: Server, folder: Path, options: tuple[str, ...]
) -> None:
    """When the window and, where patterns are alone, as much lateness have passed."""
    (folder / "q.xscl").write_text("EVENT SEQ(S/item a, !R/item b) WITHIN 3 hours")
    server.site["/s"] = Reply(body=FIRST)
    server.site["/r"] = Reply(body=rss())
    reported: dict[float, list[tuple[float, float]]] = {}
    for hour in (15.5, 16.5, 30):
        done = once(server, folder, *options, around=partial(at_hour, hour))
        assert done.returncode == 0, done.stderr
        for line in done.stdout.splitlines():
            match = json.loads(line)
            reported.setdefault(hour, []).append((match["start"], match["time"] - match["start"]))
    start = datetime(2026, 6, 1, 10, tzinfo=UTC).timestamp()
    assert reported == {16.5: [(start, 3 * 3600)]}


@pytest.mark.parametrize("options", [(), ("--state", "state.duckdb")], ids=["store", "state"])
def test_a_later_run_reports_what_an_earlier_one_left_pending(
    server: Server, folder: Path, options: tuple[str, ...]
) -> None:
    """Also where nothing new has come, and each match once."""
    (folder / "q.xscl").write_text(
        "-- name: next\nSELECT title FROM S/item NEXT{$2.link = $1.link AND DUR <= 2 h} S/item;\n"
        "-- name: many\nSELECT link, COUNT(*) AS n FROM WINDOW{2 h}(S/item) GROUP BY link"
    )
    posts = item("1", "first", "10:00:00") + item("2", "second", "11:00:00")
    server.site["/s"], server.site["/r"] = Reply(body=rss(channel=posts)), Reply(body=rss())
    first, second = (
        once(server, folder, *options, around=partial(at_hour, hour)) for hour in (12.5, 30)
    )
    assert found(first.stdout) == ["many"]
    assert sorted(found(second.stdout)) == ["many", "next"]
    assert first.stderr.splitlines()[-1] == (
        "2 matches wait for items that come up to 2 hours late (--lateness): a later run reports "
        "what becomes of them"
    )
    assert "late" not in second.stderr


def test_a_stream_that_no_feed_is_of_is_said_before_anything_is_asked(
    server: Server, folder: Path
) -> None:
    server.site["/f"] = Reply(body=FIRST)
    (folder / "q.xscl").write_text("S/item")
    done = xscl(
        "watch", "q.xscl", "--feed", f"Feed={server.url('/f')}", "--once", "--allow-private",
        at=folder,
    )  # fmt: skip
    assert done.stderr.splitlines()[0] == (
        "note: no source feeds stream 'S', which query 'q1' reads; did you mean 'Feed'?"
    )


def test_queries_that_are_in_no_file_are_watched_and_nothing_is_kept(
    server: Server, tmp_path: Path
) -> None:
    server.site["/s"] = Reply(body=FIRST)
    for _ in range(2):
        done = xscl(
            "watch", "-q", "S/item", "--feed", f"S={server.url('/s')}", "--once",
            "--allow-private", "-o", "new.jsonl", at=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "--feeds-db FILE keeps it for the next run" in done.stderr
        assert "docs/s" not in done.stderr
        fates = ("new.jsonl: written", "new.jsonl: added to")
        first = len((tmp_path / "new.jsonl").read_text().splitlines()) == 1
        assert done.stderr.splitlines()[-1] == fates[not first]
    assert [path.name for path in tmp_path.iterdir()] == ["new.jsonl"]
    assert len((tmp_path / "new.jsonl").read_text().splitlines()) == 2


def test_an_edited_item_takes_back_what_it_was(server: Server, folder: Path) -> None:
    (folder / "q.xscl").write_text("-- name: sea\nS/item[contains(title, 'sea')]")
    options = ("--state", "s.duckdb", "--revisable", "S", "-o", "m.jsonl")
    server.site["/r"] = Reply(body=rss())
    for hour, title in enumerate(("the sea", "the sea again", "the lake"), 12):
        server.site["/s"] = Reply(body=rss(channel=item("1", title, "10:00:00")))
        more = ("--consistency", "middle", "--every", "1 s")
        done = once(server, folder, *options, *more, around=partial(at_hour, hour))
        assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (folder / "m.jsonl").read_text().splitlines()]
    first, back, second, gone = lines
    assert back == {"retract": first["id"], "query": "sea", "stream": None}
    assert "again" in second["result"]
    assert gone["retract"] == second["id"]


@pytest.mark.parametrize("form", [None, '{"new": "$id", "back": "$retract", "of": "$query"}'])
def test_a_webhook_tells_a_match_that_is_taken_back_from_the_match(
    server: Server, folder: Path, form: str | None
) -> None:
    """A receiver that takes each key once gets both, whatever the form."""
    (folder / "q.xscl").write_text("-- name: sea\nS/item[contains(title, 'sea')]")
    taken: dict[bytes, dict[str, object]] = {}

    def hook(request: Request) -> Reply:
        taken.setdefault(request.headers["idempotency-key"], json.loads(request.body))
        return Reply(204)

    server.site["/hook"] = hook
    server.site["/r"] = Reply(body=rss())
    options = ["--revisable", "S", "--consistency", "middle", "--every", "1 s", "--state", "s.db"]
    options += ["--webhook", server.url("/hook"), "-o", "m.jsonl"]
    if form is not None:
        (folder / "form.json").write_text(form)
        options += ["--webhook-body", "form.json"]
    for hour, title in enumerate(("the sea", "the lake"), 12):
        server.site["/s"] = Reply(body=rss(channel=item("1", title, "10:00:00")))
        done = once(server, folder, *options, around=partial(at_hour, hour))
        assert done.returncode == 0, done.stderr
    match, back = [json.loads(line) for line in (folder / "m.jsonl").read_text().splitlines()]
    assert back["retract"] == match["id"]
    expected = {match["id"]: match, f"{match['id']}-retract": back}
    if form is not None:
        expected = {
            key: {"new": one.get("id"), "back": one.get("retract"), "of": "sea"}
            for key, one in expected.items()
        }
    assert {key.decode(): body for key, body in taken.items()} == expected


def test_an_item_that_has_left_its_feed_takes_back_its_match(server: Server, folder: Path) -> None:
    (folder / "q.xscl").write_text("-- name: all\nS/item")
    items = [item(guid, f"post {guid}", f"1{guid}:00:00") for guid in "321"]
    server.site["/r"] = Reply(body=rss())
    more = ("--state", "s.duckdb", "--revisable", "S", "--consistency", "middle", "--every", "1 s")
    for hour, shown in enumerate((items, items[:2], [items[0]], items[:1] + items[2:]), 12):
        server.site["/s"] = Reply(body=rss(channel="".join(shown)))
        around = partial(at_hour, hour)
        done = once(server, folder, *more, "-o", "m.jsonl", "--verbose", around=around)
        assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (folder / "m.jsonl").read_text().splitlines()]
    assert [line.get("retract") for line in lines] == [None] * 3
    server.site["/s"] = Reply(body=rss(channel=items[2]))
    done = once(server, folder, *more, "-o", "m.jsonl", "--verbose", around=partial(at_hour, 16))
    assert "poll: 0 new items, 1 withdrawn, 1 match" in done.stderr
    lines = [json.loads(line) for line in (folder / "m.jsonl").read_text().splitlines()]
    (newest,) = (line for line in lines if "post 3" in line.get("result", ""))
    assert lines[3:] == [{"retract": newest["id"], "query": "all", "stream": None}]


def test_items_without_a_date_are_counted(server: Server, folder: Path) -> None:
    undated = "<item><guid>u</guid><title>no date</title></item>"
    server.site["/s"] = Reply(body=rss(channel=item("1", "first", "10:00:00") + undated))
    server.site["/r"] = Reply(body=rss())
    note = (
        "note: 1 of 2 items of feeds has no date, or one in the future; its time is that of its "
        "file or fetch\n"
    )
    assert note in once(server, folder).stderr
    assert "no date" not in once(server, folder, "--every", "1 s").stderr, "nothing is new"
