"""Harmful feeds, in one ingestion with good ones: it continues, the rest is complete, and each bad
one is reported.

A loopback server for all of http://*.example, as a proxy would be, lets it run with the same rules
as on the Internet: private addresses are refused.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.commands import xscl
from tests.xscl.spark.ingesting import ingest
from tests.xscl.spark.landed import committed, rows_of
from tests.xscl.web.loopback import Reply, Server, rss, serving

LIMIT = 1 << 20
GIB = 1 << 30

GOOD = {f"http://good{n}.example/feed": [f"{n}-{item}" for item in range(10)] for n in range(5)}
FUTURE = "http://future.example/feed"
TURNS = "http://turns.example/feed"
TORN = "http://torn.example/feed"
BAD = {
    "http://hangs.example/feed": "the server took too long",
    "http://drips.example/feed": "the server took too long",
    "http://endless.example/feed": f"it is larger than {LIMIT:,} bytes",
    "http://huge.example/feed": f"it is larger than {LIMIT:,} bytes",
    "http://inwards.example/feed": "10.0.0.1 is at 10.0.0.1, which is not of the public Internet",
    "http://metadata.example/feed": "169.254.169.254 is at 169.254.169.254, which is not of",
    "http://broken.example/feed": "the server answered 500",
    "http://missing.example/feed": "the server answered 404",
    "http://127.0.0.1/feed": "127.0.0.1 is at 127.0.0.1, which is not of the public Internet",
}
"""Addresses, and how the problem with what is there begins."""

PAGE = b"<!doctype html><html><head><title>Moved</title></head><body>Nothing here</body></html>"
DATED = (
    b'<rss version="2.0"><channel><title>Dated</title>%s<item><guid>2099</guid><title>Far</title>'
    b"<pubDate>Thu, 01 Jan 2099 00:00:00 GMT</pubDate></item><item><guid>2020</guid><title>Near"
    b"</title><pubDate>Wed, 01 Jan 2020 00:00:00 GMT</pubDate></item></channel></rss>"
)
LATER = (
    b"<item><guid>2021</guid><title>Next</title>"
    b"<pubDate>Fri, 01 Jan 2021 00:00:00 GMT</pubDate></item>"
)

Row = dict[str, Any]


def feed(*guids: str) -> bytes:
    return rss(*((guid, f"About {guid}") for guid in guids))


def moment(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


@pytest.fixture
def internet() -> Iterator[Server]:
    """A proxy; what it has under an address is what is there."""
    over = threading.Event()

    def hang() -> Iterator[bytes]:
        over.wait(300)
        yield b""

    def drip() -> Iterator[bytes]:
        while not over.wait(0.2):
            yield b" "

    def zeros() -> Iterator[bytes]:
        for _ in range(GIB >> 16):
            yield bytes(1 << 16)

    def chunks() -> Iterator[bytes]:
        for piece in zeros():
            yield b"%x\r\n%b\r\n" % (len(piece), piece)

    def to(url: bytes) -> Reply:
        return Reply(302, (("Location", url),))

    with serving() as server:
        server.site |= {address: Reply(body=feed(*guids)) for address, guids in GOOD.items()}
        server.site |= {
            FUTURE: Reply(body=DATED % b""),
            TURNS: Reply(body=feed("before")),
            TORN: Reply(body=feed("torn").replace(b"</title><link>", b" & more<br></title><link>")),
            "http://hangs.example/feed": Reply(pieces=hang),
            "http://drips.example/feed": Reply(pieces=drip),
            "http://endless.example/feed": Reply(
                headers=(("Transfer-Encoding", b"chunked"),), pieces=chunks
            ),
            "http://huge.example/feed": Reply(
                headers=(("Content-Length", b"%d" % GIB),), pieces=zeros
            ),
            "http://inwards.example/feed": to(b"http://10.0.0.1/"),
            "http://metadata.example/feed": to(b"http://169.254.169.254/latest/meta-data/"),
            "http://broken.example/feed": Reply(500),
        }
        yield server
        over.set()


def status(to: Path) -> Row:
    shown = xscl("ingest", "status", "to", "--format", "json", at=to.parent)
    assert shown.returncode == 0, shown.stderr
    reported: Row = json.loads(shown.stdout)
    return reported


def test_bad_feeds_are_reported_and_the_rest_is_complete(
    spark: SparkSession, internet: Server, tmp_path: Path
) -> None:
    to, subscriptions = tmp_path / "to", tmp_path / "feeds.opml"
    outlines = "".join(
        f'<outline type="rss" xmlUrl="{address}"/>'
        for address in [*GOOD, FUTURE, TURNS, TORN, *BAD]
    )
    subscriptions.write_text(f'<opml version="2.0"><body>{outlines}</body></opml>')

    def once() -> str:
        return ingest(
            spark, "--sources", str(subscriptions), "--to", str(to), "--once", "--timeout", "5s",
            "--max-document", "1 MiB", proxy=f"http://127.0.0.1:{internet.port}",
        ).stderr  # fmt: skip

    said = once()
    first = {(address, guid) for address, guids in GOOD.items() for guid in guids}
    first |= {(FUTURE, "2099"), (FUTURE, "2020"), (TURNS, "before"), (TORN, "torn")}
    assert sorted(items(to)) == sorted(first)
    times = items(to)
    assert times[FUTURE, "2020"] == moment(2020)
    assert times[FUTURE, "2099"] == landed(to, FUTURE)[0]["arrival"]

    letters = {row["feed"]: row for row in committed(to, "dead")}
    assert letters.keys() == BAD.keys()
    for address, problem in BAD.items():
        assert letters[address]["problem"].startswith(problem)
        assert letters[address]["body"] is None
        assert f"feed {address}: {problem}" in said
    assert {t["feed"]: t["error"] for t in status(to)["troubles"]} == {
        address: row["problem"] for address, row in letters.items()
    }

    internet.site[FUTURE] = Reply(body=DATED % LATER)
    internet.site[TURNS] = Reply(headers=(("Content-Type", b"text/html"),), body=PAGE)
    good = next(iter(GOOD))
    internet.site[good] = Reply(body=feed("new", *GOOD[good]))
    said = once()
    second = {(FUTURE, "2021"), (good, "new")}
    assert sorted(items(to)) == sorted(first | second)
    assert items(to) == {**times, **{key: items(to)[key] for key in second}}
    assert items(to)[FUTURE, "2021"] == moment(2021)

    (letter,) = (row for row in committed(to, "dead") if row["feed"] == TURNS)
    assert letter["body"] == PAGE
    assert letter["content_type"] == "text/html"
    assert letter["problem"] == "what is there is an HTML page, no RSS, Atom or JSON feed"
    assert f"feed {TURNS}: {letter['problem']}" in said
    reported = status(to)
    assert {trouble["feed"] for trouble in reported["troubles"]} == {*BAD, TURNS}
    assert (reported["items"], reported["dead"]) == (len(first | second), len(BAD) + 1)
    assert reported["fetched"] == reported["landed"]
    shown = xscl("ingest", "status", "to", at=tmp_path).stdout
    assert f"{len(BAD) + 1} in trouble" in shown
    assert f"{TURNS}: {letter['problem']}, and names none (last read 2" in shown

    assert max(len(row["body"] or b"") for row in landed(to)) < 10_000
    assert max(path.stat().st_size for path in to.rglob("*") if path.is_file()) <= LIMIT


def items(to: Path) -> dict[tuple[str, str], datetime]:
    """The times of the items by feed and guid; none twice."""
    rows = committed(to, "items")
    found = {(row["feed"], row["guid"]): row["timestamp"].replace(tzinfo=UTC) for row in rows}
    assert len(found) == len(rows)
    return found


def landed(to: Path, address: str | None = None) -> list[Row]:
    rows = rows_of(*(to / "landing").glob("*.parquet"))
    for row in rows:
        row["arrival"] = row["arrival"].replace(tzinfo=UTC)
    rows.sort(key=lambda row: row["sequence"])
    return [row for row in rows if address in (None, row["feed"])]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--sources", "nowhere.opml", "--to", "to"], "nowhere.opml"),
        (["--sources", "http://", "--to", "to"], "names no server"),
        (["--to", "to"], "give --sources, what to read"),
        (["--sources", "feed.xml", "--to", "s3a://bucket/to"], "--spool"),
    ],
)
def test_wrong_usage_leaves_nothing(tmp_path: Path, arguments: list[str], problem: str) -> None:
    (tmp_path / "feed.xml").write_bytes(feed("1"))
    done = xscl("ingest", *arguments, at=tmp_path)
    assert done.returncode == 2
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.iterdir()) == [tmp_path / "feed.xml"]


def test_without_java_it_says_what_to_do(tmp_path: Path) -> None:
    if Path("/usr/lib/jvm/default-java").exists():
        pytest.skip("Debian's own Java is found, whatever the environment says")
    (tmp_path / "feed.xml").write_bytes(feed("1"))
    arguments = ("ingest", "--sources", "feed.xml", "--to", "to", "--once")
    environment = {**os.environ, "JAVA_HOME": "", "PATH": str(tmp_path)}
    done = xscl(*arguments, at=tmp_path, environment=environment)
    assert done.returncode == 1
    assert done.stderr.startswith("xscl: Spark needs Java 17 or later; there is none on PATH.")
    assert not (tmp_path / "to").exists()


def test_status_of_what_is_no_ingestion(tmp_path: Path) -> None:
    done = xscl("ingest", "status", ".", at=tmp_path)
    assert done.returncode == 1
    assert "is not what `xscl ingest --to` fills" in done.stderr
