"""A week of many feeds, each on a host of its own, in virtual time, over real HTTP, with every
request counted: four feeds of each kind, more than are fetched in parallel."""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from tests.drawn import times
from tests.xscl.web.loopback import (
    START,
    Reply,
    Request,
    VirtualClock,
    rss,
    serving,
)
from xscl.feeds import parse_feed
from xscl.polling.poller import Poller
from xscl.polling.state import DAY, FeedState, Policy
from xscl.polling.store import Store
from xscl.polling.watched_feeds import watched_feeds
from xscl.web.retrieval import HTTPRetrieval

HOUR = 3600.0
WEEK = 7 * DAY
FEEDS = times(40)
KINDS = (
    "plain",
    "conditional",
    "fresh",
    "ttl",
    "moved",
    "gone",
    "overloaded",
    "broken",
    "gzip",
    "skips",
)


def _kind(path: str) -> str:
    return KINDS[int(path.rpartition("/")[2]) % len(KINDS)]


@pytest.mark.drawn
def test_a_week_of_many_feeds(tmp_path: Path) -> None:
    clock = VirtualClock(START, START + WEEK)

    def answer(request: Request) -> Reply:
        """One item a day for each feed, and the speciality of its kind."""
        age = clock.now() - START
        path = request.path.removesuffix("/moved")
        days = int(age // DAY)
        items = [(f"{path}-{day}", f"day {day}") for day in range(days, -1, -1)]
        body, headers = rss(*items), {}
        match _kind(path):
            case "conditional":
                etag = b'"%d"' % days
                if request.headers.get("if-none-match") == etag:
                    return Reply(304, (("ETag", etag),))
                headers["ETag"] = etag
            case "fresh":
                headers["Cache-Control"] = b"max-age=14400"
            case "ttl":
                body = rss(*items, channel="<ttl>360</ttl>")
            case "moved" if request.path == path and age >= 2 * DAY:
                return Reply(301, (("Location", path.encode() + b"/moved"),))
            case "gone" if age >= 3 * DAY:
                return Reply(410)
            case "overloaded" if DAY <= age < 1.5 * DAY:
                return Reply(503, (("Retry-After", b"43200"),))
            case "broken":
                return Reply(body=b"<html><body>not to-day</body></html>")
            case "gzip":
                body, headers["Content-Encoding"] = gzip.compress(body), b"gzip"
            case "skips":
                body = rss(
                    *items, channel="<skipDays><day>Saturday</day><day>Sunday</day></skipDays>"
                )
        return Reply(200, tuple(headers.items()), body)

    errors: list[FeedState] = []
    with serving() as server, Store(tmp_path / "feeds.duckdb") as store:
        server.clock = clock.now
        named = [f"http://host{n}.example:{server.port}/{n}" for n in range(FEEDS)]
        server.site = {path: answer for n in range(FEEDS) for path in (f"/{n}", f"/{n}/moved")}
        poller = Poller(
            watched_feeds([("S", url) for url in named], errors.append),
            store,
            HTTPRetrieval(
                b"test",
                allow_private=True,
                limit=1 << 20,
                resolve=lambda host, port: ["127.0.0.1"],
            ),
            parse_feed,
            clock,
            Policy(every=2 * HOUR),
            seed=1,
            save_every=6 * HOUR,
            on_error=errors.append,
        )
        clock.stop = poller.stop
        published = [envelope["id"] for poll in poller.polls() for envelope in poll]
        remembered = store.counts()

    requests: dict[str, list[float]] = defaultdict(list)
    for request in server.requests:
        requests[request.path].append(request.at - START)
    counted = {
        kind: {len(requests[f"/{n}"]) for n in range(FEEDS) if _kind(f"/{n}") == kind}
        for kind in KINDS
    }
    all_the_time = 7 * 12 + 1  # with the one at the start, and that at the end
    assert {kind: counts for kind, counts in counted.items() if kind != "broken"} == {
        "plain": {all_the_time},
        "conditional": {all_the_time},
        "fresh": {7 * 6 + 1},
        "ttl": {7 * 4 + 1},
        "moved": {2 * 12 + 1},
        "gone": {3 * 12 + 1},
        "overloaded": {all_the_time - 5},
        "gzip": {all_the_time},
        # Monday noon to Friday's end, and from Monday's beginning to noon.
        "skips": {4 * 12 + 6 + 7},
    }
    assert all(7 <= count <= 12 for count in counted["broken"]), "backed off to once a day"
    assert {len(requests[f"/{n}/moved"]) for n in range(FEEDS) if _kind(f"/{n}") == "moved"} == {
        all_the_time - 2 * 12
    }
    for moments in requests.values():
        assert all(later - earlier >= 2 * HOUR for earlier, later in pairwise(moments))
    per_feed = Counter(str(id).partition("#")[0] for id in published)
    assert len(published) == len(set(published)), "nothing is published twice"
    assert per_feed == {
        url: {"gone": 3}.get(_kind(url), 8) for url in named if _kind(url) != "broken"
    }
    assert remembered == per_feed, "and all of it is remembered"
