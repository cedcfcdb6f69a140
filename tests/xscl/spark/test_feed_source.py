"""`format("feed")` as Spark reads it: a batch and a stream, over files and loopback HTTP."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.datasource import ReadMaxBytes
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from tests.xscl.web.loopback import START, Reply, Request, Server, rss
from xscl.errors import StateError, XSCLError
from xscl.spark.ingestion.bodies import Body
from xscl.spark.ingestion.columns import BODIES
from xscl.spark.ingestion.feed_options import FeedOptions
from xscl.spark.ingestion.feed_source import FeedSource, FeedStreamReader
from xscl.spark.ingestion.spool import Spool

Row = dict[str, Any]
LARGE = 3_000


@pytest.fixture(scope="module", autouse=True)
def second(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StreamingQuery]:
    """A stream whose spool is in use: it waits for its end, while the tests run."""
    place = tmp_path_factory.mktemp("second")
    spark.dataSource.register(FeedSource)
    with FeedOptions((str(place),), spool=place / "spool").gathering():
        yield Stream(spark, place, str(place)).start(availableNow=True)


def write(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (START, START))
    return str(path)


def feeds(folder: Path, count: int) -> list[str]:
    """Feed files, each of some 3,000 bytes."""
    filling = "x" * LARGE
    return [
        write(folder / f"{number}.xml", rss((f"i{number}", filling))) for number in range(count)
    ]


def versioned(body: bytes) -> Callable[[Request], Reply]:
    """What answers 304 to those who have it."""
    tag = b'"%d"' % crc32(body)

    def answer(request: Request) -> Reply:
        if request.headers.get("if-none-match") == tag:
            return Reply(304)
        return Reply(headers=(("ETag", tag),), body=body)

    return answer


def rows(table: DataFrame) -> list[Row]:
    return [row.asDict() for row in table.collect()]


@dataclass
class Stream:
    """A stream of `format("feed")`, and the rows of each batch, for each time that it came."""

    spark: SparkSession
    place: Path
    path: str
    options: dict[str, Any] = field(default_factory=dict)
    batches: dict[int, list[list[Row]]] = field(default_factory=dict)

    def start(self, **trigger: Any) -> StreamingQuery:
        def keep(batch: DataFrame, number: int) -> None:
            got = sorted(rows(batch), key=lambda row: row["sequence"])
            self.batches.setdefault(number, []).append(got)

        options = {"spool": str(self.place / "spool"), "allowPrivate": "true", "spacing": "0"}
        return (
            self.spark.readStream.format("feed")
            .options(**options, **self.options)
            .load(self.path)
            .writeStream.foreachBatch(keep)
            .option("checkpointLocation", str(self.place / "checkpoint"))
            .trigger(**trigger)
            .start()
        )

    def finish(self) -> StreamingQuery:
        query = self.start(availableNow=True)
        query.awaitTermination()
        return query

    def drop_last_commit(self) -> None:
        commits = self.place / "checkpoint" / "commits"
        last = max(int(path.name) for path in commits.iterdir() if path.name.isdecimal())
        for path in commits.glob(f"*{last}*"):
            path.unlink()


def test_a_batch_reads_each_feed_once_wherever_it_is(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    alone = write(tmp_path / "alone.xml", rss(("1", "é")))
    below = write(tmp_path / "folder" / "below" / "f.xml", rss(("2", "two")))
    listed = write(tmp_path / "listed.atom", b"no feed, but bytes")
    headers = (("Content-Type", b"text/xml"), ("ETag", b'"v1"'))
    server.site["/feed"] = Reply(headers=headers, body=rss(("3", "three")))
    opml = (
        "<opml version='2.0'><body><outline text='News'><outline xmlUrl='listed.atom'/>"
        f"<outline xmlUrl='{server.url('/feed')}'/><outline xmlUrl='{server.url('/none')}'/>"
        "</outline></body></opml>"
    ).encode()
    path = f"{alone}\n{tmp_path}/folder\n{write(tmp_path / 'list.opml', opml)}"
    table = spark.read.format("feed").option("allowPrivate", "true").option("spacing", 0).load(path)
    assert table.columns == BODIES.names
    found = {row["feed"]: row for row in rows(table)}
    assert found.keys() == {alone, below, listed, server.url("/feed"), server.url("/none")}
    for file in (alone, below, listed):
        assert found[file]["body"] == Path(file).read_bytes()
        assert found[file]["arrival"].timestamp() == START
        assert found[file]["url"] is None
    assert found[listed]["folders"] == ["News"]
    fetched = found[server.url("/feed")]
    assert (fetched["body"], fetched["url"]) == (rss(("3", "three")), server.url("/feed"))
    assert (fetched["content_type"], fetched["etag"]) == ("text/xml", '"v1"')
    assert len(server.asked("/feed")) == 1
    missing = found[server.url("/none")]
    assert (missing["body"], "404" in missing["problem"]) == (None, True)
    assert {row["sequence"] for row in found.values()} == {None}


def test_a_stream_is_admitted_piece_by_piece_and_replays_to_the_byte(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    files = feeds(tmp_path / "feeds", 5)
    server.site["/feed"] = versioned(rss(("w", "before")))
    path = "\n".join([str(tmp_path / "feeds"), server.url("/feed")])
    stream = Stream(spark, tmp_path, path, {"maxFilesPerTrigger": "4"})
    progress = [each.numInputRows for each in stream.finish().recentProgress]
    assert [count for count in progress if count] == [4, 2]
    first = [row for number in (0, 1) for row in stream.batches[number][0]]
    assert [row["sequence"] for row in first] == [1, 2, 3, 4, 5, 6]
    assert {row["feed"] for row in first} == {*files, server.url("/feed")}
    # Everything is another now, and of the last batch Spark does not know that it is done.
    server.site["/feed"] = versioned(rss(("w", "after")))
    os.unlink(files[0])
    write(Path(files[1]), rss(("i1", "after")))
    stream.drop_last_commit()
    stream.finish()
    assert stream.batches[1][1] == stream.batches[1][0]
    new = {
        row["feed"]: row["body"] for number in (2, 3) for row in stream.batches.get(number, [[]])[0]
    }
    assert new == {
        files[1]: rss(("i1", "after")),
        server.url("/feed"): rss(("w", "after")),
    }


def test_a_stream_by_time_continues_as_files_come_and_bytes_are_bounded(
    spark: SparkSession, tmp_path: Path
) -> None:
    feeds(tmp_path / "feeds", 4)
    options = {"every": "0.2", "maxBytesPerTrigger": str(2 * (LARGE + 500))}
    stream = Stream(spark, tmp_path, str(tmp_path / "feeds"), options)
    query = stream.start(processingTime="50 milliseconds")
    try:
        until(query, lambda: sum(len(came[0]) for came in stream.batches.values()) == 4)
        write(tmp_path / "feeds" / "new.xml", rss(("n", "new")))
        until(query, lambda: sum(len(came[0]) for came in stream.batches.values()) == 5)
        counts = [each.numInputRows for each in query.recentProgress if each.numInputRows]
    finally:
        query.stop()
    assert max(counts) == 2
    came = [row for number in sorted(stream.batches) for row in stream.batches[number][0]]
    assert [row["sequence"] for row in came] == [1, 2, 3, 4, 5]
    assert came[-1]["feed"] == str(tmp_path / "feeds" / "new.xml")


def until(query: StreamingQuery, what: Callable[[], bool]) -> None:
    """Waits for something that must come about while a query runs."""
    for _ in range(6000):
        if what():
            return
        assert query.isActive, query.exception()
        time.sleep(0.1)
    pytest.fail("it did not come about")


def test_what_is_made_and_not_used_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "none")
    options = {"path": path, "spool": str(tmp_path / "spool")}
    source = FeedSource(options)
    reader = pickle.loads(pickle.dumps(source.streamReader(StructType())))
    assert reader.initialOffset() == {"sequence": 0}
    reader.stop()
    pickle.loads(pickle.dumps(source.reader(StructType())))
    stream = spark.readStream.format("feed").options(**options).load()
    assert stream.isStreaming
    stream.where("body IS NULL")._jdf.queryExecution().analyzed()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs feeds to read"),
        ({"path": "f", "every": "soon"}, "option every = 'soon'"),
        ({"path": "f", "maxFilesPerTrigger": "0"}, "option maxFilesPerTrigger = '0': expected a"),
        ({"path": "f", "allowPrivate": "perhaps"}, "expected true or false"),
        ({"path": "f", "maxDocument": str(1 << 30)}, "at most 104,857,600"),
    ],
)
def test_wrong_options_are_reported(options: dict[str, str], message: str) -> None:
    with pytest.raises(XSCLError, match=message):
        FeedSource(options).reader(StructType())


def test_a_source_that_is_not_there_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match="no such file or folder"):
        spark.read.format("feed").load(str(tmp_path / "none")).collect()


def test_a_stream_without_a_spool_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    stream = spark.readStream.format("feed").load(str(tmp_path))
    query = stream.writeStream.format("noop").start()
    with pytest.raises(PySparkException, match=r'a stream needs option\("spool", FOLDER\)'):
        query.awaitTermination()


def test_a_spool_that_is_another_is_refused(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.recover()
    reader = FeedStreamReader(FeedOptions(("f",), tmp_path / "spool"), spool)
    reader._target = 0
    with pytest.raises(StateError, match="ends with body 0, but 1 have been processed"):
        reader.latestOffset({"sequence": 1}, ReadMaxBytes(1))


def test_a_spool_in_use_is_refused(second: StreamingQuery) -> None:
    with pytest.raises(StreamingQueryException, match="in use by another"):
        second.awaitTermination()


SIZES = st.lists(st.integers(0, 40), min_size=1, max_size=12)


@given(
    st.lists(SIZES, max_size=4),
    st.none() | st.integers(1, 6),
    st.integers(1, 80),
    st.integers(1, 3),
)
def test_batches_within_bounds_hold_each_body_once(
    tmp_path_factory: pytest.TempPathFactory,
    segments: list[list[int]],
    most_bodies: int | None,
    most_bytes: int,
    partitions: int,
) -> None:
    place = tmp_path_factory.mktemp("spool")
    spool = Spool(place)
    spool.recover()
    for sizes in segments:
        spool.append(Body("f", START, body=b"x" * size) for size in sizes)
    reader = FeedStreamReader(
        FeedOptions(
            ("f",), place, most_bodies=most_bodies, most_bytes=most_bytes, partitions=partitions
        ),
        spool,
    )
    reader._target = spool.last
    offset, got = reader.initialOffset(), []
    while (end := reader.latestOffset(offset, ReadMaxBytes(most_bytes))) != offset:
        parts = [list(reader.read(part)) for part in reader.partitions(offset, end)]
        bodies = [row for part in parts for batch in part for row in batch.to_pylist()]
        assert len(bodies) <= (most_bodies or len(bodies))
        assert len(bodies) == 1 or sum(len(row["body"]) for row in bodies) <= most_bytes
        got += bodies
        offset = end
    assert [row["sequence"] for row in got] == list(range(1, spool.last + 1))
    assert [len(row["body"]) for row in got] == [size for sizes in segments for size in sizes]
