"""The items job as a real streaming query: each item once, whatever feeds show; dead letters."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.xscl.spark.landing import Landing, Row, entry, rss
from xscl.errors import StateError
from xscl.sources.ingested import read_items
from xscl.spark.ingestion.batches import Batch, Problem
from xscl.spark.ingestion.bodies import Body
from xscl.spark.ingestion.jobs import items_of
from xscl.times import from_timestamp

ARRIVAL = 1_780_315_200.25
F, G, H, BAD, GONE = (f"http://{name}.example/feed" for name in ("f", "g", "h", "bad", "gone"))
HTML = b"<html><body>We have moved.</body></html>"
NO_FEED = "what is there is an HTML page, no RSS, Atom or JSON feed"
PAGE = "http://h.example/page"


def body(feed: str, *items: str, later: float = 0) -> Body:
    return Body(feed, ARRIVAL + later, ("Folder",), url=feed, body=rss(*items))


def land(landing: Landing) -> list[tuple[Body, ...]]:
    """What lands, each file a batch."""
    far = entry("far", date="2099-01-01T00:00:00Z")
    return [
        (
            body(F, entry("b", date="2026-06-01T10:00:00Z"), far, entry("a")),
            body(F, entry("c"), far, entry("b", date="2026-06-01T10:00:00Z"), later=60),
            body(G, entry("a")),
            body(H, entry("h1", "text", link=PAGE)),
            Body(BAD, ARRIVAL, url=BAD, content_type="text/html", body=HTML),
            Body(GONE, ARRIVAL, problem="says 410"),
        ),
        (
            body(F, entry("d"), entry("c", "edited"), later=120),
            body(H, entry("h2", "text", link=PAGE), later=120),
        ),
        (body(F, entry("e"), entry("d"), later=180), body(BAD, entry("z"), later=180)),
    ]


def ids(rows: list[Row]) -> list[tuple[str, str]]:
    return sorted((row["feed"], row["guid"]) for row in rows)


PUBLISHED = sorted(
    [(F, guid) for guid in ("a", "b", "c", "d", "e", "far")] + [(G, "a"), (H, "h1"), (BAD, "z")]
)


@pytest.fixture(scope="module", params=[False, True], ids=["once", "updates"])
def landing(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Landing:
    """The job, run over everything; the last batch a second time, as after a crash."""
    landing = Landing(spark, tmp_path_factory.mktemp("items"), updates=request.param)
    with landing.running() as query:
        for bodies in land(landing):
            landing.land(*bodies)
            query.processAllAvailable()
    before = landing.rows("items")
    landing.drop_commit("items")
    landing.finish()
    assert landing.rows("items") == before
    return landing


def test_each_item_once_by_feed_and_identity(landing: Landing) -> None:
    rows = landing.rows("items")
    versions = [(F, "c")] if landing.updates else []
    assert ids(rows) == sorted(PUBLISHED + versions)
    batches = Counter((row["batch"], row["guid"]) for row in rows if row["feed"] == F)
    second = [(1, "c")] * landing.updates + [(1, "d")]
    assert sorted(batches.elements()) == [
        (0, "a"), (0, "b"), (0, "c"), (0, "far"), *second, (2, "e"),
    ]  # fmt: skip


def test_versions_are_documents_of_their_own(landing: Landing) -> None:
    rows = [row for row in landing.rows("items") if (row["feed"], row["guid"]) == (F, "c")]
    if landing.updates:
        assert [row["id"] for row in rows] == [f"{F}#c#{row['version']}" for row in rows]
        assert [row["summary"] for row in rows] == [None, "edited"]
        assert rows[0]["version"] != rows[1]["version"]
    else:
        assert [(row["id"], row["summary"]) for row in rows] == [(f"{F}#c", None)]


def test_dates_are_believed_by_the_one_rule_and_drop_nothing(landing: Landing) -> None:
    found = {
        str(document["id"]).partition("#")[2][:3]: from_timestamp(document["timestamp"])
        for document in read_items(str(landing.folder), print)
        if str(document["id"]).startswith(F)
    }
    dated = from_timestamp(datetime(2026, 6, 1, 10, tzinfo=UTC))
    at = [from_timestamp(ARRIVAL + later) for later in (0, 60, 120, 180)]
    expected = {"a": at[0], "far": at[0], "b": dated, "c": at[1], "d": at[2], "e": at[3]}
    if landing.updates:
        assert {found[name[:3]] for name in found if name[:1] == "c"} == {at[1], at[2]}
    else:
        assert found == expected


def test_what_is_no_feed_is_a_dead_letter_with_its_bytes(landing: Landing) -> None:
    bad, gone = sorted(landing.rows("dead"), key=lambda row: row["sequence"])
    assert bad["feed"] == bad["url"] == BAD
    assert (bad["sequence"], bad["content_type"], bad["batch"]) == (5, "text/html", 0)
    assert bytes(bad["body"]) == HTML
    assert bad["problem"] == NO_FEED
    assert (gone["sequence"], gone["feed"], gone["url"]) == (6, GONE, None)
    assert (gone["problem"], gone["body"]) == ("says 410", None)
    assert from_timestamp(bad["arrival"].timestamp()) == from_timestamp(ARRIVAL)


def test_each_batch_is_reported(landing: Landing) -> None:
    problems = {Problem(BAD, NO_FEED), Problem(GONE, "says 410")}
    first, *others = landing.reported
    assert (first.number, first.bodies, first.published, first.known, first.dead) == (0, 6, 6, 2, 2)
    assert set(first.problems) == problems
    new = 1 + landing.updates
    last = Batch(2, 2, 2, 1, 0)
    assert others == [Batch(1, 2, new, 3 - new, 0), last, last]


def test_without_its_checkpoint_nothing_is_written_over(
    spark: SparkSession, tmp_path: Path
) -> None:
    landing = Landing(spark, tmp_path)
    (tmp_path / "items" / "batch=0").mkdir(parents=True)
    with pytest.raises(StateError, match=r"checkpoints/items, is gone: restore it, or move"):
        landing.start()
    assert not (tmp_path / "landing").exists()


def test_items_of_any_bodies(spark: SparkSession, tmp_path: Path) -> None:
    landing = Landing(spark, tmp_path)
    for bodies in land(landing):
        landing.land(*bodies)
    landed = spark.read.parquet(landing.archive.landing)
    found = [row.asDict() for row in items_of(landed, stream="T").collect()]
    assert Counter(ids(found)) == Counter(
        [*PUBLISHED, (F, "b"), (F, "c"), (F, "d"), (F, "far"), (H, "h2")]
    )
    assert {row["stream"] for row in found} == {"T"}
    assert {row["id"] for row in found} == {f"{feed}#{guid}" for feed, guid in ids(found)}
    for row in found:
        assert row["folders"] == ["Folder"] or row["feed"] == BAD
