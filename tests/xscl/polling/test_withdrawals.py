"""Items that a feed has withdrawn: the rule over two answers, and polling over drawn histories."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import DRAW, seeded, times
from tests.xscl.polling.test_poller import Watch
from tests.xscl.web.loopback import Reply, Server, VirtualClock, rss
from xscl import Engine
from xscl.durable.polled import PolledFeeds
from xscl.feeds import parse_feed
from xscl.polling.store import FeedStore, Store
from xscl.polling.watched_feeds import watched_feeds
from xscl.polling.withdrawals import Shown, withdrawn

ANSWERS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.none() | st.integers(0, 4)),
    unique_by=lambda one: one[0],
    max_size=8,
).map(lambda some: [Shown(name, date, name) for name, date in some])


def brute_force(last: Sequence[Shown], now: Sequence[Shown], new: set[str]) -> set[str]:
    """The rule of docs/feeds.md as it is written."""
    was = {one.identity: place for place, one in enumerate(last)}
    gone = set()
    for item in last:
        if item.identity in {one.identity for one in now}:
            continue
        for place, older in enumerate(now):
            below = now[place + 1 :]
            if (
                was.get(older.identity, -1) > was[item.identity]
                and not any(one.identity in new for one in [older, *below])
                and not any(was.get(one.identity, len(last)) < was[older.identity] for one in below)
                and (None in (item.date, older.date) or older.date < item.date)  # type: ignore[operator]
            ):
                gone.add(item.identity)
    return gone


@given(ANSWERS, ANSWERS, st.data())
def test_the_rule_by_brute_force(last: list[Shown], now: list[Shown], data: st.DataObject) -> None:
    known = {one.identity for one in last}
    unknown = [one.identity for one in now if one.identity not in known]
    new = {one for one in unknown if data.draw(st.booleans())}
    found = {one.identity for one in withdrawn(last, now, new)}
    assert found == brute_force(last, now, new)


# By polling.

ITEM = "<item><guid>{0}</guid><title>{1}</title><link>http://x.example/{1}</link>{2}</item>"


def answer(*guids: str, more: str = "", dated: bool = False) -> Reply:
    """A feed of items, each with a title of its own; `dated` by their numbers."""
    items = []
    for guid in guids:
        date = f"Mon, 01 Jun 2026 00:{int(float(guid)):02}:00 GMT" if dated else ""
        items.append(ITEM.format(guid, guid.strip("~"), f"<pubDate>{date}</pubDate>"))
    return Reply(body=rss(channel=more + "".join(items)))


def polled(watch: Watch, *answers: Reply, **options: bool) -> list[list[str]]:
    """What polls of these answers give: ids of new items, of retracted ones with a minus."""
    left = iter(answers)
    server = watch.server
    server.site["/f"] = lambda request: next(left)
    feeds = watched_feeds([("S", server.url("/f"))], pytest.fail)
    watch.now += 90_000.0
    found = watch.polls(feeds, 600.0 * (len(answers) - 1), revisable="S", **options)
    return [[_shown(one) for one in poll] for poll in found]


def _shown(envelope: dict[str, object]) -> str:
    sign = "-" if "retract" in envelope else "~" if "revise" in envelope else ""
    return sign + str(envelope.get("retract") or envelope["id"]).partition("#")[2]


@pytest.fixture
def watch(server: Server, tmp_path: Path) -> Watch:
    return Watch(server, tmp_path / "feeds.duckdb")


def test_an_item_that_has_gone_is_retracted_once_and_new_when_it_returns(watch: Watch) -> None:
    polls = polled(watch, answer(*"cba"), answer(*"ca"), answer(*"ca"), answer(*"cba"))
    assert polls == [["c", "b", "a"], ["-b"], ["b"]]


def test_it_is_retracted_by_the_next_run_and_not_again(watch: Watch) -> None:
    polled(watch, answer(*"cba"))
    assert polled(watch, answer(*"ca")) == [["-b"]]
    assert polled(watch, answer(*"ca")) == []
    assert polled(watch, answer(*"cba")) == [["b"]]


@pytest.mark.parametrize(
    "second",
    [
        answer(*"dcb"),
        answer(*"fe"),
        answer(),
        answer(*"acb"),
        answer(*"bad"),
        Reply(304),
        Reply(500),
        Reply(body=answer(*"ca").body[:-15]),
        Reply(body=b"<html></html>"),
        answer(*"ca", more='<link rel="next" href="?page=2"/>'),
        answer(*"ca", more='<a:archive xmlns:a="http://purl.org/syndication/history/1.0"/>'),
    ],
    ids=["scrolled", "all-new", "empty", "moved-up", "oldest-first", "304", "500", "truncated",
         "page", "paged", "archive"],
)  # fmt: skip
def test_what_shows_nothing_of_an_item_withdraws_none(watch: Watch, second: Reply) -> None:
    polls = polled(watch, answer(*"cba"), second, second)
    assert not [one for poll in polls for one in poll if one.startswith("-")]


def test_what_was_partial_or_empty_is_passed_over(watch: Watch) -> None:
    partial = Reply(body=answer(*"ca").body[:-15])
    assert polled(watch, answer(*"cba"), partial, answer(), answer(*"ca"))[1:] == [["-b"]]


def test_an_item_under_a_new_guid_stands_for_the_earlier_one(watch: Watch) -> None:
    """Also where it is edited, and withdrawn at last: its document has the id of the first."""
    renamed = answer("c", "b~", "a")
    edited = Reply(body=renamed.body.replace(b"<title>b<", b"<title>bb<"))
    assert polled(watch, answer(*"cba"), renamed, edited)[1:] == [["~b"]]
    assert polled(watch, renamed, answer(*"ca")) == [["~b"], ["-b"]]
    assert polled(watch, answer(*"ca"), answer(*"cba")) == [["b"]]


def test_updates_and_streams_that_are_not_revisable_retract_nothing(
    watch: Watch, server: Server
) -> None:
    assert polled(watch, answer(*"cba"), answer(*"ca"), updates=True)[1:] == []
    feeds = watched_feeds([("T", server.url("/f"))], pytest.fail)
    left = iter([answer(*"cba"), answer(*"ca")])
    server.site["/f"] = lambda request: next(left)
    assert len(watch.polls(feeds, 600, revisable="S")) == 1


def test_a_memory_of_an_earlier_version_is_opened(watch: Watch) -> None:
    polled(watch, answer(*"cba"))
    with duckdb.connect(str(watch.path)) as connection:
        connection.execute("DROP TABLE shown")
    assert polled(watch, answer(*"ca"), answer(*"c"), answer("c", "a")) == []
    assert polled(watch, answer(*"a")) == [["-c"]]


def test_what_engines_make_of_it(watch: Watch, server: Server) -> None:
    left = iter([answer(*"cba"), answer(*"ca"), answer(*"cba")])
    server.site["/f"] = lambda request: next(left)
    feeds = watched_feeds([("S", server.url("/f"))], pytest.fail)
    with Engine(revisable={"S"}, consistency="middle") as engine:
        engine.subscribe("S/item", name="q")
        polls = watch.polls(feeds, 1200, revisable="S")
        found = [one for poll in polls for one in engine.publish_many(poll)]
        assert [one.retracts for one in found] == [False] * 3 + [True, False]
        assert engine.skipped.total == 0


def test_items_that_came_too_late_are_not_retracted(watch: Watch, server: Server) -> None:
    left = iter([answer(*"cba"), answer(*"ca"), answer("a")])
    server.site["/f"] = lambda request: next(left)
    feeds = watched_feeds([("S", server.url("/f"))], pytest.fail)
    with Store(watch.path) as store:
        clock = VirtualClock(watch.now, watch.now + 1800)
        poller = watch.poller(feeds, store, clock, revisable="S")
        polls = poller.polls(empty=True)
        first = next(polls)
        poller.pass_over([one for one in first if str(one["id"]).endswith("#b")])
        assert next(polls) == []
        assert [*map(_shown, next(polls))] == ["-c"]
        poller.stop()


LATE = [{0}, {1}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}]
VERSIONS = [
    (late, runs, durable)
    for number, late in enumerate(LATE)
    for place, (runs, durable) in enumerate(itertools.product([1, 2, 4], [False, True]))
    if DRAW >= 1 or place % 3 == number % 3
]
"""Each set of late versions with two ways, by `make fuzz` with all."""


@pytest.mark.drawn
@pytest.mark.parametrize(("late", "runs", "durable"), VERSIONS)
def test_an_item_of_which_a_version_came_in_time_is_retracted(
    watch: Watch, tmp_path: Path, late: set[int], runs: int, durable: bool
) -> None:
    """Of its first version and two edits some are late, over one run, two, or one for each."""
    whole = answer(*"cba").body
    answers = [
        *(
            Reply(body=whole.replace(b"<title>b<", b"<title>%s<" % one))
            for one in (b"b", b"v", b"w")
        ),
        answer(*"ca"),
    ]
    given = [*answers]
    watch.server.site["/f"] = lambda request: given.pop(0)
    feeds = watched_feeds([("S", watch.server.url("/f"))], pytest.fail)
    found, place, never = list[list[str]](), 0, float("inf")
    for _ in range(runs):
        with contextlib.ExitStack() as stack:
            store: FeedStore
            if durable:
                engine = stack.enter_context(Engine(state=tmp_path / "s", revisable={"S"}))
                assert engine.keeper is not None
                store = PolledFeeds(engine.keeper, engine.transaction)
            else:
                store = stack.enter_context(Store(watch.path))
            watch.now += 90_000.0
            clock = VirtualClock(watch.now, watch.now + 90_000.0)
            poller = watch.poller(feeds, store, clock, revisable="S", watermark=never)
            polls = poller.polls(empty=True)
            for poll in itertools.islice(polls, len(answers) // runs):
                found.append([_shown(one) for one in poll])
                poller.pass_over([one for one in poll if place in late and _shown(one)[-1] == "b"])
                place += 1
            poller.stop()
            assert [*polls] == []
    gone = [] if late == {0, 1, 2} else ["-b"]
    assert found == [["c", "b", "a"], ["~b"], ["~b"], gone]


def test_what_was_in_time_stays_published_where_an_edit_came_too_late(watch: Watch) -> None:
    whole = answer(*"ba").body
    answers = iter([Reply(body=whole), Reply(body=whole.replace(b"<title>b<", b"<title>v<"))])
    watch.server.site["/f"] = lambda request: next(answers)
    address = watch.server.url("/f")
    with Store(watch.path) as store:
        clock = VirtualClock(watch.now, watch.now + 700)
        feeds = watched_feeds([("S", address)], pytest.fail)
        poller = watch.poller(feeds, store, clock, revisable="S")
        for poll in poller.polls():
            poller.pass_over([one for one in poll if "revise" in one])
        documents = [str(one["xml"]) for one in store.documents([(address, "S")])]
    assert sorted("<title>b<" in one for one in documents) == [False, True]
    assert not any("<title>v<" in one for one in documents)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", range(times(24)))
def test_over_drawn_histories_only_what_was_deleted_is_retracted(server: Server, seed: int) -> None:
    """A feed shows the newest posts, and now and then a part of its answer or nothing at all."""
    random, posts, deleted = seeded("withdrawals", seed), [*map(str, range(4, 0, -1))], set[str]()
    size, dated = random.randint(2, 5), random.random() < 0.5
    answers, expected = list[Reply](), list[set[str]]()
    last: list[Shown] = []
    known: set[str] = set()
    for number in range(5, 25):
        for _ in range(random.choice([0, 0, 1, 1, 2])):
            posts.insert(0, f"{number + random.random() * 0.9:.6f}")
        for _ in range(random.choice([0, 0, 0, 1, 2])):
            if posts:
                deleted.add(posts.pop(random.randrange(min(len(posts), size))))
        shown = posts[:size]
        reply = answer(*shown, dated=dated)
        kind = random.random()
        if kind < 0.1:
            reply = Reply(500)
        elif kind < 0.2:
            reply = Reply(body=reply.body[:-15])
        answers.append(reply)
        items = [] if kind < 0.1 else shown
        now = [Shown(one, int(float(one)) if dated else None, one) for one in items]
        gone = set[str]()
        if kind >= 0.2 and now:
            gone = brute_force(last, now, {*items} - known)
            last = now
        known = (known | {*items}) - gone
        expected.append(gone)
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(server, Path(folder) / "feeds.duckdb")
        found, some = list[str](), list[Reply]()
        for reply in answers:
            # Once a server has failed, it is asked later: in the next run.
            some.append(reply)
            if reply.status != 200 or random.random() < 0.3 or reply is answers[-1]:
                found += (one for poll in polled(watch, *some) for one in poll)
                some = []
    retracted = [one.removeprefix("-") for one in found if one.startswith("-")]
    assert {*retracted} <= deleted, "what moved off the end stays"
    assert sorted(retracted) == sorted(one for some in expected for one in some)


@pytest.mark.parametrize(
    ("body", "whole"),
    [
        (b'{"version": "1", "items": [{"id": "a"}]}', True),
        (b'{"version": "1", "items": [{"id": "a"}], "next_url": "http://x.example/2"}', False),
        (b'{"version": "1", "items": [{"id": "a"}, 7]}', False),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>a</id></entry></feed>", True),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='x'/></feed>", True),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'><link rel='prev-archive' href='x'/></feed>",
         False),
        (b"<rss version='2.0'><channel><item><title>a</title></item>", False),
    ],
)  # fmt: skip
def test_what_is_a_whole_feed(body: bytes, whole: bool) -> None:
    assert parse_feed(body, "http://x.example/").whole is whole


def test_an_edit_under_a_new_guid_takes_the_place_of_the_earlier_version(watch: Watch) -> None:
    renamed = answer("c", "b~", "a").body.replace(
        b"</title>", b"</title><description>2</description>"
    )
    assert polled(watch, answer(*"cba"), Reply(body=renamed))[1:] == [["~c", "~b", "~a"]]
    assert polled(watch, Reply(body=renamed), answer(*"ca"))[-1][0] == "-b"


def test_what_was_too_late_and_withdrawn_is_retracted_once_it_was_in_time(
    watch: Watch, server: Server
) -> None:
    left = iter([answer(*one) for one in ("cba", "ca", "cba", "ca")])
    server.site["/f"] = lambda request: next(left)
    feeds = watched_feeds([("S", server.url("/f"))], pytest.fail)
    found = []
    with Store(watch.path) as store:
        clock = VirtualClock(watch.now, watch.now + 1800)
        poller = watch.poller(feeds, store, clock, revisable="S")
        for number, poll in enumerate(poller.polls()):
            found.append([_shown(one) for one in poll])
            poller.pass_over([one for one in poll if number == 0 and _shown(one) == "b"])
    assert found == [["c", "b", "a"], ["b"], ["-b"]]


def test_what_is_fetched_during_the_first_poll_comes_after_it(watch: Watch, server: Server) -> None:
    """One feed is asked again while another is awaited: its withdrawn item was there before."""
    left = iter([answer(*"cba"), answer(*"ca"), answer(*"ca")])
    server.site["/f"] = lambda request: next(left)
    asked = threading.Event()

    def slow(request: object) -> Reply:
        asked.wait(60)
        return answer("z")

    server.site["/slow"] = slow
    feeds = watched_feeds([("S", server.url(one)) for one in ("/f", "/slow")], pytest.fail)
    found = []
    with Store(watch.path) as store:
        clock = VirtualClock(watch.now, watch.now + 100)
        poller = watch.poller(feeds, store, clock, revisable="S")
        take, states = poller._take, [*poller.states]

        def taking(fetched: Any) -> Any:
            envelopes = take(fetched)
            if fetched.state.address == states[0] and not asked.is_set():
                poller.ask(states[0])
                threading.Timer(1, asked.set).start()
            return envelopes

        poller._take = taking  # type: ignore[method-assign]
        for poll in poller.polls():
            found.append([_shown(one) for one in poll])
    assert sorted(found[0]) == ["a", "b", "c", "z"]
    assert found[1:] == [["-b"]]


def test_an_item_that_is_called_anew_at_each_edit_is_one_document(watch: Watch) -> None:
    """And none is left where it is withdrawn at last, whatever the next run publishes again."""
    bodies = [
        answer("c", "b" + "~" * number, "a").body.replace(
            b"</item>", b"<description>%d</description></item>" % number
        )
        for number in range(4)
    ]
    bodies.append(bodies[-1].replace(_item(bodies[-1], "b"), b""))
    polls = polled(watch, *map(_reply, bodies))
    of_b = [[one for one in poll if "b" in one] for poll in polls]
    assert of_b == [["b"], ["~b"], ["~b"], ["~b"], ["-b"]]
    address = watch.server.url("/f")
    with Store(watch.path) as store:
        assert sorted(_shown(one) for one in store.documents([(address, "S")])) == ["~a", "~c"]


def _reply(body: bytes) -> Reply:
    return Reply(body=body)


def _item(body: bytes, title: str) -> bytes:
    """The text of an item of an answer."""
    end = body.index(f"<title>{title}<".encode())
    start = body.rindex(b"<item>", 0, end)
    return body[start : body.index(b"</item>", end) + len(b"</item>")]
