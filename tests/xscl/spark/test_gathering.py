"""From sources to spooled bodies, over real HTTP on the loopback interface and real files."""

from __future__ import annotations

import os
import pickle
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.xscl.web.loopback import (
    START,
    Reply,
    Request,
    Server,
    VirtualClock,
    rss,
)
from xscl.errors import StateError, XSCLError
from xscl.feeds import parse_feed
from xscl.polling.state import DAY, Policy
from xscl.polling.store import Store
from xscl.sources.feed_files import read_feeds
from xscl.spark.ingestion.gathering import Gathering
from xscl.spark.ingestion.spool import Spool
from xscl.spark.ingestion.web_feeds import Web

T = TypeVar("T")
Row = dict[str, Any]
HOUR = 3600.0
FEED = rss(("1", "one"))


class EndingClock(VirtualClock):
    """A virtual clock that calls `stop` when the wait goes beyond its end."""

    def receive(
        self, answers: queue.SimpleQueue[T], until: float | None, under_way: int
    ) -> T | None:
        if not under_way and until is not None and until > self.end:
            self.stop()
            self.time = until
            return None
        return super().receive(answers, until, under_way)


def _grown(spool: Spool, since: int) -> bool:
    return spool.last > since


@dataclass
class Place:
    """A folder that is gathered into, run after run; each gives the rows that it added."""

    folder: Path
    now: float = START
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        return Store(self.folder / "feeds.duckdb")

    def gathering(self, *sources: str, **options: Any) -> Gathering:
        settings = {"allow_private": True, "spacing": 0.0, **self.options, **options}
        web, policy = ({each.name for each in fields(kind)} for kind in (Web, Policy))
        return Gathering(
            sources,
            self.folder / "spool",
            self.folder / "feeds.duckdb",
            web=Web(**{name: settings.pop(name) for name in web & settings.keys()}),
            policy=Policy(**{name: settings.pop(name) for name in policy & settings.keys()}),
            **settings,
        )

    def once(self, *sources: str, **options: Any) -> list[Row]:
        clock = VirtualClock(self.now)
        with self.gathering(*sources, clock=clock, **options) as gathering:
            before = gathering.spool.last
            gathering.once()
        self.now = clock.time
        return rows(gathering, before)

    def run(self, *sources: str, seconds: float, **options: Any) -> list[Row]:
        clock = EndingClock(self.now, self.now + seconds)
        stop = threading.Event()
        clock.stop = stop.set
        with self.gathering(*sources, clock=clock, **options) as gathering:
            before = gathering.spool.last
            gathering.run(stop)
        self.now = clock.end
        return rows(gathering, before)


def rows(gathering: Gathering, after: int = 0) -> list[Row]:
    spool = gathering.spool
    return [row for batch in spool.read(after, spool.last) for row in batch.to_pylist()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "to")


def write(path: Path, data: bytes | str, modified: float = START) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    os.utime(path, (modified, modified))
    return str(path)


def opml(*outlines: str) -> str:
    return f"<opml version='2.0'><body>{''.join(outlines)}</body></opml>"


def outline(address: str, folder: str = "F") -> str:
    return f"<outline text='{folder}'><outline xmlUrl='{address}'/></outline>"


def until(what: Callable[[], bool]) -> None:
    """Waits for something that must come about."""
    for _ in range(30_000):
        if what():
            return
        time.sleep(0.01)
    pytest.fail("it did not come about")


def test_an_answer_becomes_a_body_with_all_that_parsing_needs(
    server: Server, place: Place, tmp_path: Path
) -> None:
    headers = (
        ("Content-Type", b"text/xml; charset=\xe9"),
        ("ETag", b'W/"\xe9"'),
        ("Last-Modified", b"Mon, 1 Jun 2026 9:5:03 +0000"),
    )
    server.site |= {
        "/f": Reply(302, (("Location", b"/g"),)),
        "/g": Reply(200, headers, FEED),
    }
    mine = write(tmp_path / "mine.opml", opml(outline(server.url("/f"))))
    (row,) = place.once(mine, server.url("/f"))
    arrival = row.pop("arrival")
    assert arrival.timestamp() == START
    assert row == {
        "sequence": 1,
        "feed": server.url("/f"),
        "folders": ["F"],
        "url": server.url("/g"),
        "content_type": "text/xml; charset=\xe9",
        "etag": 'W/"\xe9"',
        "last_modified": "Mon, 1 Jun 2026 9:5:03 +0000",
        "body": FEED,
        "problem": None,
    }


def test_files_are_named_and_dated_as_other_readers_do(place: Place, tmp_path: Path) -> None:
    write(tmp_path / "in" / "b.xml", rss(("1", "one")), START + 5)
    write(tmp_path / "in" / "deep" / "a.xml", rss(("2", "two"), ("3", "three")), START + 0.5)
    write(tmp_path / "in" / "queries.xscl", "S//item;")
    mine = write(tmp_path / "mine.opml", opml(outline("in/b.xml", "News"), outline("c.xml")))
    write(tmp_path / "c.xml", rss(("4", "four")), START + 7)
    for source in (str(tmp_path / "in"), mine):
        found = Place(tmp_path / source.replace("/", "_")).once(source)
        envelopes = [
            item.envelope("S", row["arrival"].timestamp())
            for row in found
            for item in parse_feed(row["body"], row["feed"], folders=row["folders"]).items
        ]
        expected = list(read_feeds(source, "S"))
        assert sorted(envelopes, key=str) == sorted(expected, key=str)


def test_a_file_is_read_once_for_each_change(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    kept, changed = write(folder / "kept", FEED), write(folder / "changed", FEED)
    assert [row["feed"] for row in place.once(str(folder))] == [changed, kept]
    assert place.once(str(folder)) == []
    write(folder / "changed", rss(("2", "two")), START + 1)
    new = write(folder / "new", FEED)
    assert [row["feed"] for row in place.once(str(folder), kept)] == [changed, new]
    assert place.once(str(folder)) == []


def test_a_file_that_cannot_be_read_is_reported_once_for_each_change(
    place: Place, tmp_path: Path
) -> None:
    missing, large = tmp_path / "in" / "missing", tmp_path / "in" / "large"
    mine = write(tmp_path / "mine.opml", opml(outline("in/missing"), outline("in/large")))
    write(large, b"x" * 1001)
    problems = {row["feed"]: row["problem"] for row in place.once(mine, max_document=1000)}
    assert "cannot be read: No such file" in problems[str(missing)]
    assert "more than 1,000 bytes" in problems[str(large)]
    assert place.once(mine, max_document=1000) == []
    states = place.store.feeds()
    assert states[str(large)].error == problems[str(large)]
    write(large, b"x" * 1002)
    write(missing, FEED)
    again = {row["feed"]: row for row in place.once(mine, max_document=1000)}
    assert "more than 1,000 bytes" in again[str(large)]["problem"]
    assert again[str(missing)]["body"] == FEED
    assert place.store.feeds()[str(missing)].error is None
    assert [row["feed"] for row in place.once(mine)] == [str(large)], "with more allowed"


def test_a_file_whose_name_is_no_text_is_read(place: Place, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with open(os.fsencode(tmp_path / "in") + b"/\xff.xml", "wb") as file:
        file.write(FEED)
    (row,) = place.once(str(tmp_path / "in"))
    assert (row["feed"], row["body"]) == (f"{tmp_path}/in/\\xff.xml", FEED)
    assert place.once(str(tmp_path / "in")) == []


def test_what_has_not_changed_on_a_server_brings_nothing(server: Server, place: Place) -> None:
    def conditional(request: Request) -> Reply:
        same = request.headers.get("if-none-match") == b'"1"'
        return Reply(304) if same else Reply(200, (("ETag", b'"1"'),), FEED)

    server.site["/f"] = conditional
    assert len(place.once(server.url("/f"))) == 1
    place.now += 10
    assert place.once(server.url("/f")) == []
    assert len(server.requests) == 2, "once polls whatever is due, and nobody asked for more rest"
    assert place.store.feeds()[server.url("/f")].last_fetch == START + 10


def test_what_fails_lands_with_its_reason_and_the_rest_is_complete(
    server: Server, place: Place
) -> None:
    server.site |= {
        "/f": Reply(body=FEED),
        "/html": Reply(body=b"<html>sign in, please</html>"),
        "/large": Reply(body=b"x" * 5000),
        "/gone": Reply(410),
        "/circle": Reply(302, (("Location", b"/circle"),)),
    }
    urls = [server.url(path) for path in ("/f", "/html", "/large", "/gone", "/circle", "/missing")]
    found = {row["feed"]: row for row in place.once(*urls, max_document=1000)}
    assert set(found) == set(urls)
    assert found[urls[0]]["body"] == FEED
    assert found[urls[1]]["body"] == b"<html>sign in, please</html>", "which is judged later"
    for url, words in zip(urls[2:], ("larger than", "410", "circle", "404"), strict=True):
        assert words in found[url]["problem"]
        assert found[url]["body"] is None
    states = place.store.feeds()
    assert [url for url in urls if states[url].error is None] == urls[:1]
    place.now += 30 * DAY
    assert server.url("/gone") not in {row["feed"] for row in place.once(*urls)}


def test_private_addresses_are_refused_unless_allowed(server: Server, place: Place) -> None:
    (row,) = place.once(server.url("/f"), allow_private=False)
    assert "not of the public Internet" in row["problem"]
    assert server.requests == []


def test_a_server_that_hangs_costs_the_timeout(server: Server, place: Place) -> None:
    ended = threading.Event()

    def hang() -> Iterator[bytes]:
        ended.wait(300)
        yield b"x"

    server.site |= {"/hangs": Reply(pieces=hang), "/f": Reply(body=FEED)}
    found = place.once(server.url("/hangs"), server.url("/f"), timeout=3.0)
    ended.set()
    problems = {row["feed"]: row["problem"] for row in found}
    assert problems == {
        server.url("/hangs"): "the server took too long",
        server.url("/f"): None,
    }


def test_an_opml_file_may_list_files_addresses_and_nonsense(
    server: Server, place: Place, tmp_path: Path
) -> None:
    server.site["/f"] = Reply(body=FEED)
    file = write(tmp_path / "in" / "one.xml", FEED)
    bad = "http://me:geheim@[nowhere/"
    listed = (outline(server.url("/f")), outline("in/one.xml"), outline(bad))
    mine = write(tmp_path / "mine.opml", opml(*listed))
    found = {row["feed"]: row for row in place.once(mine)}
    assert found[file]["body"] == found[server.url("/f")]["body"] == FEED
    assert "is no address" in found["http://[nowhere/"]["problem"]
    assert [row["feed"] for row in place.once(mine)] == [server.url("/f")], "told once"


@pytest.mark.parametrize(
    ("source", "content", "words"),
    [
        ("nowhere", None, "no such file"),
        ("http://", None, "names no server"),
        ("http:x", None, "names no server"),
        ("list.opml", b"<html/>", "no OPML"),
    ],
)
def test_a_source_that_cannot_be_read_is_refused_immediately(
    place: Place, tmp_path: Path, source: str, content: bytes | None, words: str
) -> None:
    name = source if source.startswith("http") else str(tmp_path / source)
    if content is not None:
        write(tmp_path / source, content)
    with pytest.raises(XSCLError, match=words) as raised:
        place.once(str(tmp_path), name)
    assert name in str(raised.value)
    assert not place.folder.exists()


def test_a_contact_that_no_header_can_hold_is_refused_immediately(
    place: Place, tmp_path: Path
) -> None:
    with pytest.raises(XSCLError, match="no address of mail or web"):
        place.once(str(tmp_path), contact="me (you)")


def test_passwords_go_to_their_server_and_nowhere_else(
    server: Server, place: Place, tmp_path: Path
) -> None:
    server.site["/f"] = Reply(body=FEED)
    named = server.url("/f", "me:geheim@127.0.0.1")
    (row,) = place.once(named)
    assert row["feed"] == row["url"] == server.url("/f")
    place.now += HOUR
    place.once(write(tmp_path / "mine.opml", opml(outline(named))))
    assert [request.headers["authorization"] for request in server.requests] == [
        b"Basic bWU6Z2VoZWlt"
    ] * 2
    assert b"geheim" not in b"".join(
        path.read_bytes() for path in place.folder.rglob("*") if path.is_file()
    )
    with pytest.raises(XSCLError) as raised:
        place.once("http://me:geheim@[nowhere/")
    assert "geheim" not in str(raised.value)


def test_running_polls_feeds_as_they_fall_due(server: Server, place: Place) -> None:
    server.site["/f"] = Reply(body=FEED)
    server.site["/slow"] = Reply(200, (("Cache-Control", b"max-age=7200"),), FEED)
    found = place.run(server.url("/f"), server.url("/slow"), seconds=HOUR)
    times = [round(row["arrival"].timestamp() - START) for row in found]
    assert times == [0, 0, *range(600, 3601, 600)]
    assert [row["sequence"] for row in found] == list(range(1, 9))
    assert place.store.feeds()[server.url("/slow")].next_fetch == START + 7200
    assert place.run(server.url("/slow"), seconds=1800) == [], "what is known holds over runs"


def test_running_notices_new_and_changed_files(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    first = write(folder / "first", FEED)
    gathering = place.gathering(str(folder), every=0.05)
    stop = threading.Event()
    with gathering:
        running = threading.Thread(target=gathering.run, args=(stop,))
        running.start()
        until(lambda: gathering.spool.last == 1)
        second = write(folder / "second", FEED)
        until(lambda: gathering.spool.last == 2)
        write(folder / "first", rss(("2", "two")), START + 1)
        until(lambda: gathering.spool.last == 3)
        os.rename(folder, tmp_path / "elsewhere")
        until(lambda: gathering.spool.last == 4)
        os.rename(tmp_path / "elsewhere", folder)
        third = write(folder / "third", FEED)
        until(lambda: gathering.spool.last == 5)
        stop.set()
        running.join(timeout=300)
    found = rows(gathering)
    assert [row["feed"] for row in found] == [first, second, first, str(folder), third]
    assert "no such file or folder" in found[3]["problem"]
    assert place.store.feeds()[str(folder)].error is None


def test_gathering_pauses_while_the_spool_is_full(place: Place, tmp_path: Path) -> None:
    files = [write(tmp_path / "in" / f"{number:04}", FEED) for number in range(2600)]
    gathering = place.gathering(str(tmp_path / "in"), most_backlog=1)
    stop = threading.Event()
    with gathering:
        running = threading.Thread(target=gathering.run, args=(stop,))
        running.start()
        spool, landed = gathering.spool, []
        while len(landed) < len(files):
            until(partial(_grown, spool, len(landed)))
            time.sleep(0.05)
            last = spool.last
            assert last - len(landed) <= 1500, "what is not landed is bounded"
            landed += [row["feed"] for row in rows(gathering, len(landed))][: last - len(landed)]
            spool.forget(len(landed))
        stop.set()
        running.join(timeout=300)
    assert landed == files


def test_a_gathering_may_be_sent_to_another_process_before_it_is_opened(
    place: Place, tmp_path: Path
) -> None:
    source = write(tmp_path / "f", FEED)
    sent = pickle.loads(pickle.dumps(place.gathering(source)))
    assert not place.folder.exists(), "making one has no effect"
    with sent:
        sent.once()
    assert [row["feed"] for row in rows(sent)] == [source]


def test_a_second_gathering_of_one_place_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xscl.spark.ingestion.gathering._PATIENCE", 0.1)
    with (
        place.gathering(str(place.folder.parent)),
        pytest.raises(StateError, match="in use by another"),
        place.gathering(str(place.folder.parent)),
    ):
        pass


def test_what_could_not_be_spooled_is_gathered_again(place: Place, tmp_path: Path) -> None:
    source = write(tmp_path / "in" / "f", FEED)
    with place.gathering(source) as gathering:
        (place.folder / "spool").rmdir()
        with pytest.raises(StateError, match="cannot be written"):
            gathering.once()
        gathering.spool.recover()
        gathering.once()
        assert [row["feed"] for row in rows(gathering)] == [source]


GATHER = """
import os, signal, sys, threading
from xscl.polling.store import Store
from xscl.spark.ingestion import group_commit
from xscl.polling.state import Policy
from xscl.spark.ingestion.gathering import Gathering
from xscl.spark.ingestion.spool import Spool
from xscl.spark.ingestion.web_feeds import Web

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

at, folder, every, *sources = sys.argv[1:]
if at == "after the spool":
    Store.save = die
elif at == "before the spool":
    Spool.append = die
else:
    group_commit._SAVE_EVERY, save = 0.1, Store.save

    def tell(*changes):
        save(*changes)
        print("saved", flush=True)

    Store.save = tell
policy = Policy(every=float(every), spacing=0.0)
web = Web(allow_private=True)
files = folder + "/spool", folder + "/feeds.duckdb"
with Gathering(sources, *files, web=web, policy=policy) as gathering:
    if at == "some moment":
        gathering.run(threading.Event())
    gathering.once()
"""


@pytest.mark.parametrize(
    ("moment", "bodies"), [("before the spool", [b'"1"']), ("after the spool", [b'"1"'] * 2)]
)
def test_a_crash_between_two_writings_loses_nothing(
    server: Server, place: Place, moment: str, bodies: list[bytes]
) -> None:
    def conditional(request: Request) -> Reply:
        same = request.headers.get("if-none-match") == b'"1"'
        return Reply(304) if same else Reply(200, (("ETag", b'"1"'),), FEED)

    server.site["/f"] = conditional
    command = [sys.executable, "-c", GATHER, moment, str(place.folder), "60", server.url("/f")]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    assert ended.returncode == -signal.SIGKILL
    place.once(server.url("/f"))
    place.now += HOUR
    assert place.once(server.url("/f")) == []
    found = rows(place.gathering())
    assert [row["etag"].encode() for row in found] == bodies
    assert len(server.requests) == 3


def test_killed_at_any_moment_nothing_is_remembered_that_is_not_spooled(
    server: Server, place: Place
) -> None:
    """Feeds that are another each time: each state that is stored has its body."""
    served: dict[str, int] = {}

    def answer(request: Request) -> Reply:
        version = served[request.path] = served.get(request.path, 0) + 1
        etag = b'"%s %d"' % (request.path.encode(), version)
        return Reply(200, (("ETag", etag),), rss((str(version), "one")))

    paths = [f"/{number}" for number in range(6)]
    server.site.update(dict.fromkeys(paths, answer))
    urls = [server.url(path) for path in paths]
    command = [sys.executable, "-c", GATHER, "some moment", str(place.folder), "0", *urls]
    moments = random.Random(7)
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "saved\n"
            time.sleep(moments.uniform(0.0, 0.5))
            process.kill()
        gathering = place.gathering()
        spool = gathering.spool
        spooled = {row["etag"].encode() for row in rows(gathering)}
        states = place.store.feeds()
        assert {state.validators.etag for state in states.values()} <= spooled
        assert states
        assert [n for b in spool.read(0, spool.last) for n in b["sequence"].to_pylist()] == list(
            range(1, spool.last + 1)
        )
