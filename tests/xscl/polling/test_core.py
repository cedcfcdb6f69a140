"""The decision core: when feeds are fetched, by the rules, whatever comes back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.xscl.web.loopback import START
from xscl.polling.core import Answer, Failed, Parsed, Polling
from xscl.polling.skips import after_skips
from xscl.polling.state import DAY, FeedState, Policy
from xscl.web.exchange import Response, Validators
from xscl.web.headers import fresh_for, retry_after

URL = "http://a.example/feed"
HOUR = 3600.0


@dataclass(frozen=True)
class Notes:
    title: str | None = None
    ttl: float | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()


def parsed(notes: Notes | None = None, moved_to: str | None = None, **headers: bytes) -> Parsed:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Parsed(Response(200, URL, named, b"", moved_to), notes or Notes())


def after(*answers: Answer, every: float = 600.0) -> FeedState:
    """What is known of a feed after some answers, each to a fetch at START."""
    state = FeedState(URL, URL)
    for answer in answers:
        polling = Polling([replace(state, next_fetch=None)], Policy(every=every), seed=1)
        assert [fetch.address for fetch in polling.start(START)] == [URL]
        state = polling.answered(URL, answer, START)
    return state


def wait(*answers: Answer, every: float = 600.0) -> float:
    """For how long the feed is not fetched after these answers."""
    due = after(*answers, every=every).next_fetch
    assert due is not None
    return due - START


def test_a_feed_of_which_its_server_says_nothing_is_fetched_as_often_as_asked() -> None:
    assert wait(parsed()) == 600


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"cache_control": b"public, max-age=7200"}, 7200),
        ({"cache_control": b"max-age=7200", "age": b"1200"}, 6000),
        ({"cache_control": b"max-age=60"}, 600),
        ({"cache_control": b"no-cache, max-age=7200"}, 600),
        ({"cache_control": b"s-maxage=7200"}, 600),
        ({"cache_control": b"max-age=31536000"}, DAY),
        ({"cache_control": b'max-age="7200"'}, 7200),
        ({"cache_control": b"max-age=\xff"}, 600),
        ({"expires": b"Mon, 01 Jun 2026 14:00:00 GMT"}, 7200),
        (
            {
                "expires": b"Mon, 01 Jun 2026 15:00:00 GMT",
                "date": b"Mon, 01 Jun 2026 13:00:00 GMT",
            },
            7200,
        ),
        (
            {"expires": b"Mon, 01 Jun 2026 14:00:00 GMT", "cache_control": b"max-age=3600"},
            3600,
        ),
        ({"expires": b"0"}, 600),
        ({"expires": b"Mon, 01 Jun 99999 14:00:00 GMT"}, 600),
    ],
)
def test_a_response_that_is_fresh_is_not_asked_for_again(
    headers: dict[str, bytes], seconds: float
) -> None:
    assert wait(parsed(**headers)) == seconds


def test_ttl_and_skips_hold_and_are_remembered_over_304() -> None:
    validated = parsed(Notes(ttl=7200.0), etag=b'"1"')
    assert wait(validated) == 7200
    assert wait(validated, Response(304, URL)) == 7200
    assert wait(parsed(Notes(ttl=1e9))) == DAY
    afternoon = frozenset(range(12, 18))
    assert wait(parsed(Notes(skip_hours=afternoon))) == 6 * HOUR
    assert wait(parsed(Notes(skip_days=frozenset({0, 1})))) == 36 * HOUR
    assert wait(parsed(Notes(skip_hours=frozenset(range(24))))) == 600, "a feed that skips all"


@given(
    st.floats(0, 4e9),
    st.frozensets(st.integers(0, 23), max_size=23),
    st.frozensets(st.integers(0, 6), max_size=6),
)
def test_skips_are_left_at_the_first_moment(
    when: float, hours: frozenset[int], days: frozenset[int]
) -> None:
    def skipped(moment: float) -> bool:
        # 1970 began on a Thursday.
        return moment // HOUR % 24 in hours or (moment // DAY + 3) % 7 in days

    found = after_skips(when, hours, days)
    assert not skipped(found)
    assert found == when or (found % HOUR == 0 and skipped(found - HOUR / 2))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (b"120", 120),
        (b"Mon, 01 Jun 2026 13:00:00 GMT", HOUR),
        (b"-5", 0),
        (b"soon", 0),
        (b"\xb2", 0),
        (b"99999999999", 7 * DAY),
    ],
)
def test_retry_after_in_both_forms(value: bytes, seconds: float) -> None:
    assert retry_after({"retry-after": value}, START) == seconds


@given(
    st.dictionaries(
        st.sampled_from(["cache-control", "expires", "date", "age", "retry-after"]), st.binary()
    )
)
def test_no_header_breaks_anything(headers: dict[str, bytes]) -> None:
    assert 0 <= fresh_for(headers, START) <= DAY
    assert 0 <= retry_after(headers, START) <= 7 * DAY


def test_back_off_doubles_up_to_a_day_with_jitter() -> None:
    waits = [wait(*[Failed("no answer")] * failures) for failures in range(1, 1100, 50)]
    assert 1200 <= waits[0] <= 1500
    assert 2400 <= wait(Failed(""), Failed("")) <= 3000
    assert all(DAY <= seconds <= 1.25 * DAY for seconds in waits[1:])
    assert len(set(waits[1:])) == 1, "one seed, one decision"
    assert wait(Failed(""), parsed()) == 600, "a success ends it"


def test_many_feeds_that_failed_together_do_not_come_back_together() -> None:
    states = [FeedState(url, url) for url in (f"http://{n}.example/" for n in range(50))]
    polling = Polling(states, Policy(concurrency=50), seed=1)
    fetches = polling.start(START)
    due = {polling.answered(fetch.address, Failed(""), START).next_fetch for fetch in fetches}
    assert len(due) == 50


def test_retry_after_beats_back_off() -> None:
    answer = Response(503, URL, {"retry-after": b"86400"})
    assert wait(answer) == DAY
    assert after(answer).error == "the server answered 503"
    assert wait(Response(503, URL, {"retry-after": b"5"})) >= 1200


def test_a_host_that_is_overloaded_is_left_alone_with_all_its_feeds() -> None:
    states = [FeedState(url, url) for url in ("http://a.example/1", "http://a.example/2")]
    polling = Polling(states, Policy(), seed=1)
    (fetch,) = polling.start(START)
    polling.answered(fetch.address, Response(429, URL, {"retry-after": b"3600"}), START)
    assert polling.start(START + 3599) == []
    assert [fetch.address for fetch in polling.start(START + HOUR)] == ["http://a.example/2"]


def test_what_is_gone_is_never_fetched_again() -> None:
    polling = Polling([FeedState(URL, URL)], Policy(), seed=1)
    polling.start(START)
    state = polling.answered(URL, Response(410, URL), START)
    assert (state.gone, state.next_fetch) == (True, None)
    assert polling.next_start() is None
    assert Polling([state], Policy(), seed=1).next_start() is None


def test_validators_and_new_addresses_are_kept_only_of_what_was_read() -> None:
    moved = "http://b.example/feed"
    good = parsed(moved_to=moved, etag=b'W/"\xff"', last_modified=b"yesterday")
    state = after(good)
    assert (state.url, state.address) == (moved, URL)
    assert state.validators == Validators(b'W/"\xff"', b"yesterday")
    kept = after(good, Failed("what is there is no feed"))
    assert (kept.url, kept.validators) == (state.url, state.validators)
    assert after(Failed("what is there is no feed")).url == URL
    assert after(good, parsed()).validators == Validators(), "they are those of the last body"


def test_304_to_an_unconditional_request_is_an_error() -> None:
    assert after(Response(304, URL)).failures == 1
    assert after(parsed(etag=b'"1"'), Response(304, URL)).failures == 0


@dataclass
class _Host:
    starts: list[float] = field(default_factory=list)
    under_way: int = 0


ANSWERS = st.sampled_from(
    [
        parsed(),
        parsed(cache_control=b"max-age=1800"),
        parsed(Notes(ttl=900.0)),
        Failed("no answer"),
        Response(500, URL),
        Response(503, URL, {"retry-after": b"30"}),
        Response(410, URL),
    ]
)


@given(
    hosts=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    spacing=st.sampled_from([0.0, 1.0, 90.0]),
    concurrency=st.integers(1, 4),
    every=st.sampled_from([0.0, 5.0, 600.0]),
    steps=st.lists(st.tuples(st.integers(0, 3), ANSWERS, st.floats(0, 5)), max_size=80),
)
def test_limits_hold_and_every_feed_gets_its_turn(
    hosts: list[int],
    spacing: float,
    concurrency: int,
    every: float,
    steps: list[tuple[int, Answer, float]],
) -> None:
    urls = [f"http://h{host}.example/{number}" for number, host in enumerate(hosts)]
    policy = Policy(every=every, spacing=spacing, concurrency=concurrency)
    polling = Polling([FeedState(url, url) for url in urls], policy, seed=1)
    seen = defaultdict(_Host)
    under_way: list[str] = []
    now = START
    fetched = set()

    def start() -> None:
        for fetch in polling.start(now):
            host = seen[urlsplit(fetch.url).netloc]
            due = polling.states[fetch.address].next_fetch
            assert due is None or due <= now
            assert not host.under_way
            assert not host.starts or now - host.starts[-1] >= spacing
            host.starts.append(now)
            host.under_way += 1
            under_way.append(fetch.address)
            fetched.add(fetch.address)
        assert len(under_way) <= concurrency
        assert polling.under_way == len(under_way)

    def end(which: int, answer: Answer) -> None:
        address = under_way.pop(which % len(under_way))
        seen[urlsplit(address).netloc].under_way -= 1
        polling.answered(address, answer, now)

    for which, answer, passed in steps:
        start()
        if under_way:
            now += passed
            end(which, answer)
        elif (due := polling.next_start()) is not None:
            assert due > now
            now = due
    # With one more minute and a half for each, all were fetched.
    for _ in urls:
        start()
        while under_way:
            end(0, parsed(cache_control=b"max-age=86400"))
        now += 90
    start()
    assert fetched == set(urls)


def test_a_feed_is_asked_now_whatever_it_was_to_wait_for() -> None:
    """It failed, it was read, or it is gone: once, and as often as before from then on."""
    address = "http://a.example/f"
    for answer in (Failed("broken"), Response(410, address)):
        polling = Polling([FeedState(address, address)], Policy(every=600), seed=1)
        assert [one.address for one in polling.start(0)] == [address]
        polling.ask(address, 0)  # It is under way.
        polling.answered(address, answer, 1)
        assert polling.start(60) == []
        polling.ask(address, 60)
        polling.ask(address, 61)
        assert [one.address for one in polling.start(62)] == [address]
        assert polling.start(63) == []
        polling.answered(address, Failed("broken"), 64)
        assert polling.start(100) == []
        assert [one.address for one in polling.start(1e6)] == [address]
        assert polling.start(1e6) == []


def test_a_feed_that_is_added_is_fetched_at_once() -> None:
    polling = Polling([], Policy(), seed=1)
    polling.add(FeedState("http://a.example/f", "http://a.example/f"))
    assert [one.new for one in polling.start(0)] == [True]


def test_a_busy_server_is_left_alone_by_all_its_feeds() -> None:
    """Also by those that were due: their states say so, over runs, too."""
    others = ["http://a.example/2", "http://a.example:81/3"]
    elsewhere, later = "http://b.example/", "http://a.example/later"
    states = [FeedState(one, one) for one in (URL, *others, elsewhere)]
    states.append(FeedState(later, later, next_fetch=START + 7 * HOUR))
    polling = Polling(states, Policy(once=True), seed=1)
    fetched = {fetch.address for fetch in polling.start(START)}
    assert fetched == {URL, elsewhere}
    polling.answered(URL, Response(429, URL, {"retry-after": b"3600"}), START)
    assert [polling.states[one].next_fetch for one in others] == [START + HOUR] * 2
    assert polling.states[later].next_fetch == START + 7 * HOUR
    assert polling.states[elsewhere].next_fetch is None
    assert polling.due(START + 1) == [elsewhere]


def test_an_answer_to_an_earlier_condition_is_no_fault() -> None:
    """A feed is to come whole, as another stream reads it, while it is asked for news."""
    state = FeedState(URL, URL, validators=Validators(b'"1"'), last_success=0.0)
    polling = Polling([state], Policy(), seed=0)
    polling.start(START)
    polling.states[URL] = replace(polling.states[URL], validators=Validators())
    polling.ask(URL, START + 1)
    after = polling.answered(URL, Response(304, URL), START + 2)
    assert (after.error, after.failures, after.next_fetch) == (None, 0, START + 2)
    (fetch,) = polling.start(START + 60)
    assert fetch.validators == Validators()
