"""Each rule of politeness by real HTTP over the loopback interface, in virtual time."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import etree

from tests.xscl.web.loopback import (
    START,
    Reply,
    Request,
    Server,
    VirtualClock,
    rss,
)
from xscl import Engine
from xscl.cli.main import cli
from xscl.errors import StateError
from xscl.feeds import parse_feed
from xscl.polling.poller import Poller
from xscl.polling.state import DAY, FeedState, Policy
from xscl.polling.store import FeedStore, Store
from xscl.polling.watched_feeds import WatchedFeed, watched_feeds
from xscl.web.retrieval import HTTPRetrieval

HOUR = 3600.0


@dataclass
class Watch:
    """Runs over one store: what was polled, and which feeds failed."""

    server: Server
    path: Path
    now: float = START
    errors: list[FeedState] = field(default_factory=list)

    def run(self, *sources: str, seconds: float = 0.0, **options: object) -> list[list[str]]:
        """The titles of each poll in so many seconds from now on, of feeds for stream S."""
        named = [
            ("S", source if "://" in source else self.server.url(source)) for source in sources
        ]
        feeds = watched_feeds(named, pytest.fail)
        return [[_title(one) for one in poll] for poll in self.polls(feeds, seconds, **options)]

    def polls(
        self,
        feeds: list[WatchedFeed],
        seconds: float,
        *,
        updates: bool = False,
        revisable: str = "",
        **policy: object,
    ) -> list[list[dict[str, object]]]:
        clock = VirtualClock(self.now, self.now + seconds)
        with Store(self.path) as store:
            poller = self.poller(
                feeds, store, clock, updates=updates, revisable=revisable, **policy
            )
            found = list(poller.polls())
        self.now = clock.time
        return found

    def poller(
        self,
        feeds: list[WatchedFeed],
        store: FeedStore,
        clock: VirtualClock,
        *,
        updates: bool = False,
        revisable: str = "",
        watermark: float | None = None,
        **policy: object,
    ) -> Poller:
        self.server.clock = clock.now
        poller = Poller(
            feeds,
            store,
            HTTPRetrieval(b"test", allow_private=True, limit=1 << 20),
            parse_feed,
            clock,
            Policy(**policy),  # type: ignore[arg-type]
            seed=7,
            updates=updates,
            revisable={revisable},
            watermark=watermark,
            on_error=self.errors.append,
        )
        clock.stop = poller.stop
        return poller


def _title(envelope: dict[str, object]) -> str:
    return etree.fromstring(str(envelope["xml"])).findtext("title") or ""


@pytest.fixture
def watch(server: Server, tmp_path: Path) -> Watch:
    return Watch(server, tmp_path / "feeds.duckdb")


def test_what_is_new_comes_once_over_runs(server: Server, watch: Watch) -> None:
    server.site["/f"] = Reply(body=rss(("1", "one")))
    assert watch.run("/f") == [["one"]]
    server.site["/f"] = Reply(body=rss(("2", "two"), ("1", "one")))
    assert watch.run("/f", seconds=HOUR) == [["two"]]
    assert [round(request.at - START) for request in server.requests] == [0, *range(600, 3601, 600)]


def test_validators_are_sent_back_byte_by_byte_and_304_is_enough(
    server: Server, watch: Watch
) -> None:
    etag, modified = b'W/"\xe9 , x"', b"Mon, 1 Jun 2026 9:5:03 +0000"

    def conditional(request: Request) -> Reply:
        if request.headers.get("if-none-match") == etag:
            assert request.headers["if-modified-since"] == modified
            return Reply(304, (("ETag", etag),))
        return Reply(200, (("ETag", etag), ("Last-Modified", modified)), rss(("1", "one")))

    server.site["/f"] = conditional
    assert watch.run("/f") == [["one"]]
    assert watch.run("/f", seconds=HOUR) == []
    assert [len(request.headers.get("if-none-match", b"")) for request in server.requests] == [
        0, *[len(etag)] * 6,
    ]  # fmt: skip
    assert not watch.errors


def test_validators_of_what_could_not_be_read_are_not_kept(server: Server, watch: Watch) -> None:
    etag = (("ETag", b'"broken"'),)
    server.site["/f"] = Reply(200, etag, b"<html>in a moment</html>")
    assert watch.run("/f", seconds=HOUR) == []
    assert "is an HTML page, no RSS, Atom or JSON feed, and names none" in (
        watch.errors[0].error or ""
    )
    server.site["/f"] = Reply(200, etag, rss(("1", "one")))
    assert watch.run("/f", seconds=HOUR) == [["one"]]
    until_read = server.requests[: len(watch.errors) + 1]
    assert all("if-none-match" not in request.headers for request in until_read)


def test_a_feed_moves_for_good_once_its_new_place_is_a_feed(server: Server, watch: Watch) -> None:
    server.site |= {
        "/old": Reply(301, (("Location", b"/new"),)),
        "/new": Reply(body=b"sign in, please"),
    }
    watch.run("/old")
    watch.now += HOUR
    server.site["/new"] = Reply(body=rss(("1", "one")))
    feeds = watched_feeds([("S", server.url("/old"))], pytest.fail)
    ((item,),) = watch.polls(feeds, 0)
    assert item["id"] == server.url("/old#1"), "a feed is known by the address subscribed to"
    server.site["/new"] = Reply(body=rss(("2", "two"), ("1", "one")))
    assert watch.run("/old", seconds=HOUR) == [["two"]]
    assert len(server.asked("/old")) == 2
    assert watch_states(watch)[server.url("/old")].url == server.url("/new")


def watch_states(watch: Watch) -> dict[str, FeedState]:
    return Store(watch.path).feeds()


def test_a_temporary_redirect_moves_nothing(server: Server, watch: Watch) -> None:
    server.site |= {"/f": Reply(302, (("Location", b"/g"),)), "/g": Reply(body=rss(("1", "one")))}
    watch.run("/f", seconds=HOUR)
    assert len(server.asked("/f")) == len(server.asked("/g")) == 7


def test_a_feed_that_is_gone_is_left_alone_for_ever(server: Server, watch: Watch) -> None:
    server.site["/f"] = Reply(410)
    for _ in range(3):
        assert watch.run("/f", seconds=30 * DAY) == []
    assert len(server.requests) == 1
    assert watch_states(watch)[server.url("/f")].gone


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_holds_over_runs(server: Server, watch: Watch, status: int) -> None:
    server.site["/f"] = Reply(status, (("Retry-After", b"86400"),))
    watch.run("/f")
    server.site["/f"] = Reply(body=rss(("1", "one")))
    assert watch.run("/f", seconds=DAY - 1) == []
    assert watch.run("/f", seconds=1) == [["one"]]
    assert len(server.requests) == 2


def test_cache_control_and_ttl_are_heeded(server: Server, watch: Watch) -> None:
    server.site["/c"] = Reply(200, (("Cache-Control", b"max-age=7200"),), rss(("1", "one")))
    server.site["/t"] = Reply(body=rss(("1", "one"), channel="<ttl>180</ttl>"))
    skipped = "".join(f"<hour>{hour}</hour>" for hour in range(12, 24))
    server.site["/s"] = Reply(body=rss(("1", "one"), channel=f"<skipHours>{skipped}</skipHours>"))
    watch.run("/c", "/t", "/s", seconds=12 * HOUR)
    requests = {path: len(server.asked(path)) for path in ("/c", "/t", "/s")}
    assert requests == {"/c": 6, "/t": 4, "/s": 2}


def test_failures_back_off(server: Server, watch: Watch) -> None:
    server.site["/f"] = Reply(500)
    watch.run("/f", seconds=7 * DAY)
    gaps = [later.at - earlier.at for earlier, later in pairwise(server.requests)]
    assert 1200 <= gaps[0] <= 1500
    assert all(later > 1.5 * earlier for earlier, later in pairwise(gaps[:6]))
    assert all(DAY <= gap <= 1.25 * DAY for gap in gaps[7:])
    assert watch.errors[-1].failures == len(server.requests)


def test_one_host_is_asked_one_thing_at_a_time_and_not_in_parallel(
    server: Server, watch: Watch
) -> None:
    paths = [f"/{number}" for number in range(20)]
    for path in paths:
        server.site[path] = Reply(body=rss((path, path)))
    (first,) = watch.run(*paths, seconds=60, spacing=2.5)
    assert sorted(first) == sorted(paths), "the first poll is one, of all"
    times = [request.at for request in server.requests]
    assert [later - earlier for earlier, later in pairwise(times)] == [2.5] * 19


def test_an_edit_is_a_new_version_only_if_asked_for(
    server: Server, watch: Watch, tmp_path: Path
) -> None:
    other = Watch(server, tmp_path / "updates.duckdb")
    titles = count(1)
    server.site["/f"] = lambda request: Reply(body=rss(("1", f"version {next(titles)}")))
    feeds = watched_feeds([("S", server.url("/f"))], pytest.fail)
    assert watch.run("/f", seconds=1800) == [["version 1"]]
    polls = other.polls(feeds, 1800, updates=True)
    assert len(polls) == 4
    assert len({str(envelope["id"]) for (envelope,) in polls}) == 4


def test_an_edit_revises_in_a_revisable_stream(server: Server, watch: Watch) -> None:
    titles = count(1)
    server.site["/f"] = lambda request: Reply(body=rss(("1", f"version {next(titles)}")))
    feeds = watched_feeds([("S", server.url("/f"))], pytest.fail)
    polls = watch.polls(feeds, 1800, revisable="S")
    assert [[one.get("revise") for one in poll] for poll in polls] == [
        [None],
        [True],
        [True],
        [True],
    ]
    assert len({str(envelope["id"]) for (envelope,) in polls}) == 1
    with Engine(revisable={"S"}, consistency="middle") as engine:
        engine.subscribe("S/item", name="q")
        found = [
            (one.retracts, str(one.result)) for poll in polls for one in engine.publish_many(poll)
        ]
        assert [back for back, _ in found] == [False, *[True, False] * 3]
        assert ["version 3" in result for _, result in found] == [False] * 4 + [True, True, False]
        assert engine.skipped.total == 0


def test_a_feed_of_two_streams_is_fetched_once_and_filed_for_each(
    server: Server, watch: Watch, tmp_path: Path
) -> None:
    server.site["/f"] = Reply(body=rss(("1", "one")))
    url = server.url("/f")
    (tmp_path / "s.opml").write_text(
        f'<opml version="2.0"><body><outline text="News"><outline xmlUrl="{url}"/></outline>'
        f'<outline text="Sea" ><outline xmlUrl="{url}"/></outline></body></opml>'
    )
    feeds = watched_feeds([("S", str(tmp_path / "s.opml")), ("R", url)], pytest.fail)
    (poll,) = watch.polls(feeds, 0)
    folders = {
        envelope["stream"]: [e.text for e in etree.fromstring(str(envelope["xml"])).iter("folder")]
        for envelope in poll
    }
    assert folders == {"S": ["News", "Sea"], "R": []}
    assert len(server.requests) == 1


def test_a_stream_that_is_new_to_a_known_feed_gets_all_of_it(server: Server, watch: Watch) -> None:
    def conditional(request: Request) -> Reply:
        if "if-none-match" in request.headers:
            return Reply(304)
        return Reply(200, (("ETag", b'"1"'),), rss(("1", "one")))

    server.site["/f"] = conditional
    url = server.url("/f")
    watch.polls(watched_feeds([("S", url)], pytest.fail), 0)
    watch.now += HOUR
    (poll,) = watch.polls(watched_feeds([("S", url), ("R", url)], pytest.fail), 0)
    assert [envelope["stream"] for envelope in poll] == ["R"]


def test_passwords_are_in_no_document_and_in_no_file(server: Server, watch: Watch) -> None:
    server.site["/f"] = Reply(body=rss(("1", "one")))
    feeds = watched_feeds([("S", server.url("/f", "me:geheim@127.0.0.1"))], pytest.fail)
    (poll,) = watch.polls(feeds, 0)
    assert server.requests[0].headers["authorization"] == b"Basic bWU6Z2VoZWlt"
    assert "geheim" not in json.dumps(poll)
    assert b"geheim" not in watch.path.read_bytes()


def test_what_was_not_dealt_with_comes_again(server: Server, watch: Watch) -> None:
    server.site["/f"] = Reply(body=rss(("1", "one")))
    feeds = watched_feeds([("S", server.url("/f"))], pytest.fail)
    with Store(watch.path) as store:
        clock = VirtualClock()
        poller = Poller(
            feeds, store, HTTPRetrieval(b"", allow_private=True, limit=1 << 20), parse_feed, clock,
            Policy(), seed=1, on_error=pytest.fail,
        )  # fmt: skip
        polls = poller.polls()
        assert next(polls)
        del polls  # as if the process had ended here
    assert watch.run("/f") == [["one"]]


def test_what_was_published_is_there_for_the_next_run(server: Server, watch: Watch) -> None:
    server.site["/f"] = Reply(body=rss(("2", "two"), ("1", "one")))
    feeds = watched_feeds([("S", server.url("/f"))], pytest.fail)
    ((*published,),) = watch.polls(feeds, 0)
    with Store(watch.path) as store:
        keys = [(feed.address, stream) for feed in feeds for stream in feed.folders]
        assert list(store.documents(keys)) == published
        assert list(store.documents([])) == []


def test_one_run_fetches_what_is_due_and_ends(server: Server, watch: Watch) -> None:
    server.site["/f"] = Reply(body=rss(("1", "one")))
    server.site["/slow"] = Reply(200, (("Cache-Control", b"max-age=7200"),), rss(("2", "two")))
    once = {"once": True, "every": 0.0, "spacing": 1.0}
    assert watch.run("/f", "/slow", seconds=DAY, **once) == [["one", "two"]]
    watch.now = START + HOUR
    assert watch.run("/f", "/slow", seconds=DAY, **once) == []
    assert [len(server.asked(path)) for path in ("/f", "/slow")] == [2, 1]


def test_one_feeds_trouble_is_its_own(server: Server, watch: Watch) -> None:
    server.site["/f"] = Reply(body=rss(("1", "one")))
    assert watch.run("/f", "/missing", "http://127.0.0.1:1/", seconds=60) == [["one"]]
    assert len(watch.errors) == 2


def test_two_watches_of_one_file_are_refused(watch: Watch) -> None:
    with (
        Store(watch.path),
        pytest.raises(StateError, match="in use by another watch"),
        Store(watch.path),
    ):
        pass


def test_another_that_is_about_to_end_is_waited_for(watch: Watch) -> None:
    first = ExitStack()
    first.enter_context(Store(watch.path))
    ending = threading.Timer(0.2, first.close)
    ending.start()
    with Store(watch.path, patience=60) as store:
        assert store.feeds() == {}
    ending.join()


PAGE = b"<!doctype html><html><head>%b</head><body>x</body></html>"
LINK = b'<link rel="alternate" type="application/rss+xml" title="%b" href="/%b">'


def page(*feeds: bytes) -> Reply:
    links = b"".join(LINK % (feed, feed) for feed in feeds)
    return Reply(200, (("Content-Type", b"text/html"),), PAGE % links)


def test_a_page_is_read_as_the_one_feed_that_it_names(server: Server, tmp_path: Path) -> None:
    watch = Watch(server, tmp_path / "feeds")
    server.site |= {"/blog": page(b"f"), "/f": Reply(body=rss(("1", "one")))}
    assert watch.run("/blog") == [["one"]]
    server.site["/f"] = Reply(body=rss(("1", "one"), ("2", "two")))
    watch.now += HOUR
    assert watch.run("/blog") == [["two"]]
    assert len(server.asked("/blog")) == 1, "its feed is known by now"
    with Store(tmp_path / "feeds") as store:
        (state,) = store.feeds().values()
    assert (state.address, state.url) == (server.url("/blog"), server.url("/f"))
    shown = CliRunner().invoke(cli, ["feeds", str(tmp_path / "feeds")]).stdout
    assert f"{server.url('/blog')}" in shown
    assert f"read at {server.url('/f')}" in shown
    assert watch.errors == []


@pytest.mark.parametrize(
    ("site", "said"),
    [
        ({}, "no RSS, Atom or JSON feed, and names none"),
        ({"links": (b"a", b"b")}, "names several feeds; give one of them: http://127.0.0.1:"),
        ({"links": (b"blog",)}, "it names as its feed"),
        ({"links": (b"none",)}, "the server answered 404"),
        ({"links": (b"other",)}, "what it names as its feed"),
        ({"links": (b"x/../\xff",)}, "the server answered 404"),
    ],
)
def test_other_pages_are_failures(
    server: Server, tmp_path: Path, site: dict[str, tuple[bytes, ...]], said: str
) -> None:
    watch = Watch(server, tmp_path / "feeds")
    server.site |= {"/blog": page(*site.get("links", ())), "/other": page(b"f")}
    assert watch.run("/blog") == []
    (state,) = watch.errors
    assert said in str(state.error)
    assert not server.asked("/f"), "one page does not lead to another"


def test_a_feed_that_becomes_a_page_does_not_become_another(server: Server, tmp_path: Path) -> None:
    watch = Watch(server, tmp_path / "feeds")
    server.site |= {"/sea": Reply(body=rss(("1", "one"))), "/f": Reply(body=rss(("2", "two")))}
    assert watch.run("/sea") == [["one"]]
    server.site["/sea"] = page(b"f")
    watch.now += HOUR
    assert watch.run("/sea") == []
    assert f"no feed any more but a web page, whose feed is {server.url('/f')}" in str(
        watch.errors[0].error
    )


def test_one_run_does_not_wait_for_a_server_that_wants_to_be_left_alone(
    server: Server, watch: Watch
) -> None:
    """What others have is there at once, and the next run leaves it alone, too."""
    busy = Reply(429, (("Retry-After", b"3600"),))
    server.site |= {f"/{n}": busy for n in range(3)}
    server.site["/f"] = Reply(body=rss(("1", "a")))
    elsewhere = f"http://localhost:{server.port}/f"
    began = watch.now
    assert watch.run("/0", "/1", "/2", elsewhere, seconds=7200, once=True) == [["a"]]
    assert watch.now < began + 300
    assert [request.path for request in server.requests if request.path != "/f"] == ["/0"]
    assert watch.run("/0", "/1", "/2", seconds=7200, once=True) == []
    assert watch.now < began + 300
    assert [request.path for request in server.requests if request.path != "/f"] == ["/0"]


def test_a_server_is_left_alone_over_runs_by_feeds_that_were_not_due(
    server: Server, watch: Watch
) -> None:
    server.site["/a"] = Reply(body=rss(("1", "a")))
    fresh = (("Cache-Control", b"max-age=3600"),)
    server.site["/b"] = Reply(200, fresh, rss(("1", "b")))
    assert sorted(watch.run("/a", "/b", seconds=60, once=True)[0]) == ["a", "b"]
    server.site["/a"] = Reply(429, (("Retry-After", b"86400"),))
    watch.now += 600
    assert watch.run("/a", "/b", seconds=60, once=True) == []
    for _ in range(3):
        watch.now += 2 * HOUR
        assert watch.run("/a", "/b", seconds=60, once=True) == []
    assert [request.path for request in server.requests if request.path == "/b"] == ["/b"]
    watch.now += DAY
    server.site["/a"] = Reply(body=rss(("1", "a")))
    watch.run("/a", "/b", seconds=60, once=True)
    assert [request.path for request in server.requests if request.path == "/b"] == ["/b"] * 2


def test_a_clock_that_was_ahead_silences_no_feed(server: Server, watch: Watch) -> None:
    server.site["/f"] = Reply(body=rss(("1", "one")))
    watch.now += 30 * DAY
    assert watch.run("/f", seconds=60, once=True) == [["one"]]
    watch.now -= 30 * DAY
    server.site["/f"] = Reply(body=rss(("2", "two"), ("1", "one")))
    assert watch.run("/f", seconds=60, once=True) == [["two"]]
