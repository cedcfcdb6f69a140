"""Fetching by itself, by real HTTP over the loopback interface, in virtual time."""

from __future__ import annotations

import threading

from tests.xscl.web.loopback import START, Reply, Server, VirtualClock, rss
from xscl.feeds import parse_feed
from xscl.polling.fetching import Fetching
from xscl.polling.state import FeedState, Policy
from xscl.web.retrieval import HTTPRetrieval


def fetching(server: Server, *paths: str, **policy: object) -> Fetching:
    return Fetching(
        [FeedState(server.url(path), server.url(path)) for path in paths],
        {},
        HTTPRetrieval(b"test", allow_private=True, limit=1 << 20),
        parse_feed,
        VirtualClock(),
        Policy(**policy),  # type: ignore[arg-type]
        seed=7,
    )


def test_an_answer_has_all_that_came(server: Server) -> None:
    server.site["/f"] = Reply(200, (("ETag", b'"1"'),), rss(("1", "one")))
    answered = fetching(server, "/f").next()
    assert answered is not None
    assert answered.response is not None
    assert answered.feed is not None
    assert answered.at == answered.state.last_fetch == START
    assert answered.state.validators.etag == answered.response.headers["etag"] == b'"1"'
    assert [item.title for item in answered.feed.items] == ["one"]


def test_a_body_that_is_no_feed_is_there_though_the_feed_failed(server: Server) -> None:
    server.site["/f"] = Reply(200, (("ETag", b'"1"'),), b"<html>in a moment</html>")
    answered = fetching(server, "/f").next()
    assert answered is not None
    assert answered.response is not None
    assert answered.response.body == b"<html>in a moment</html>"
    assert (answered.feed, answered.state.failures) == (None, 1)
    assert answered.state.validators.etag is None


def test_an_error_is_an_answer_and_no_answer_is_none(server: Server) -> None:
    refused = fetching(server, "/missing").next()
    assert refused is not None
    assert refused.response is not None
    assert (refused.response.status, refused.state.error) == (404, "the server answered 404")
    server.site["/f"] = Reply(raw=b"")
    nothing = fetching(server, "/f").next()
    assert nothing is not None
    assert nothing.response is None
    assert "no answer" in (nothing.state.error or "")


def test_waiting_ends_at_the_moment_given(server: Server) -> None:
    server.site["/f"] = Reply(body=rss(("1", "one")))
    feeds = fetching(server, "/f")
    assert feeds.due(START) == [server.url("/f")]
    assert feeds.next() is not None
    assert feeds.next(START + 599) is None
    assert not feeds.over
    again = feeds.next(START + 601)
    assert again is not None
    assert again.at == START + 600


def test_it_is_over_when_nothing_is_left_or_it_is_stopped_and_its_threads_end(
    server: Server,
) -> None:
    def threads() -> list[threading.Thread]:
        return [one for one in threading.enumerate() if one.name.startswith("xscl-feeds-")]

    others = threads()
    server.site["/gone"] = Reply(410)
    gone = fetching(server, "/gone")
    assert gone.next() is not None
    assert gone.next() is None
    assert gone.over
    stopped = fetching(server, "/gone", "/missing")
    assert stopped.next() is not None
    stopped.stop()
    while stopped.next() is not None:
        pass
    assert stopped.over
    for thread in set(threads()) - set(others):
        thread.join(300)
    assert not set(threads()) - set(others)
