"""The documents that are ingested on Spark are those that the engine reads from the same files."""

from __future__ import annotations

from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from lxml import etree
from pyspark.sql import SparkSession

from datasets import feed_archive
from tests.shared import SHARED, needs
from xscl.errors import DocumentError
from xscl.sources.feed_files import read_feeds
from xscl.spark.ingestion import jobs
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.batches import Batch
from xscl.spark.ingestion.feed_options import FeedOptions
from xscl.spark.ingestion.jobs import start_fetch, start_items
from xscl.times import from_timestamp

ARCHIVES = SHARED / "data" / "feed-archives"
FEEDS, ITEMS = 80, 1_600

Row = dict[str, Any]


class Ingested:
    """The ingested content of some directories, all of it together, next to what is read from
    them."""

    def __init__(self, spark: SparkSession, place: Path, folders: list[Path]) -> None:
        archive = Archive.at(str(place))
        options = FeedOptions(tuple(map(str, folders)), spool=archive.local).written()
        self.reported: list[Batch] = []
        start_fetch(spark, archive, options, trigger=None).awaitTermination()
        # A batch is several files.
        with mock.patch.object(jobs, "_ITEMS_A_FILE", 1_200):
            items = start_items(spark, archive, trigger=None, on_batch=self.reported.append)
            items.awaitTermination()
        self._items = spark.read.parquet(archive.items)
        self._dead = spark.read.parquet(archive.dead) if Path(archive.dead).exists() else None

    @property
    def count(self) -> int:
        """The number of items in all."""
        return self._items.count()

    def items(self, folder: Path) -> dict[str, Row]:
        """The items of a folder, by id; each is there once."""
        rows = self._items.where(self._items.feed.startswith(f"{folder}/")).toArrow().to_pylist()
        by_id = {row["id"]: row for row in rows}
        assert len(by_id) == len(rows)
        return by_id

    def dead(self, folder: Path) -> dict[str, str]:
        """What is wrong with the files of a folder that gave nothing, by their names."""
        if self._dead is None:
            return {}
        rows = self._dead.where(self._dead.feed.startswith(f"{folder}/")).collect()
        return {row.feed: row.problem for row in rows}


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("feeds")
    for name, body in feed_archive(FEEDS, ITEMS):
        (folder / name).write_bytes(body)
    return folder


@pytest.fixture(scope="module")
def ingested(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, synthetic: Path
) -> Ingested:
    folders = [synthetic, *sorted(ARCHIVES.glob("*/raw"))]
    return Ingested(spark, tmp_path_factory.mktemp("to"), folders)


def read(folder: Path) -> tuple[dict[str, Row], dict[str, str]]:
    """The documents of a folder as the engine takes them, of one id the first; and what is wrong
    with files that have none."""
    errors: list[DocumentError] = []
    documents: dict[str, Row] = {}
    for envelope in read_feeds(folder, "S", on_error=errors.append):
        documents.setdefault(envelope["id"], envelope)
    return documents, {error.document: str(error) for error in errors}


def equal(ingested: Ingested, folder: Path) -> int:
    """Checks that what was ingested of a folder is what is read from it; the number of items."""
    expected, problems = read(folder)
    found = ingested.items(folder)
    assert found.keys() == expected.keys()
    for id, document in expected.items():
        row = found[id]
        assert (row["stream"], row["xml"]) == ("S", document["xml"])
        assert microseconds(row["timestamp"]) == from_timestamp(document["timestamp"])
        assert columns_of(row) == fields_of(document["xml"])
    dead = ingested.dead(folder)
    assert dead.keys() == problems.keys()
    for name, problem in dead.items():
        assert problem.removeprefix("what is there ") in problems[name]
    return len(found)


COLUMNS = {
    "feed": "feed", "site": "site", "source": "source", "id": "guid", "link": "link",
    "title": "title", "published": "published", "updated": "updated", "summary": "summary",
}  # fmt: skip
LISTS = {"folder": "folders", "author": "authors", "category": "categories", "linked": "linked"}
MOMENTS = ("published", "updated")


def columns_of(row: Row) -> Row:
    """The common fields of a row, by the elements that they are in the document."""
    columns = {element: row[column] for element, column in (COLUMNS | LISTS).items()}
    return columns | {name: microseconds(row[name]) for name in MOMENTS if row[name] is not None}


def fields_of(xml: str) -> Row:
    """The same, from the document."""
    fields: Row = dict.fromkeys(COLUMNS) | {name: [] for name in LISTS}
    for element in etree.fromstring(xml):
        if element.tag in LISTS:
            fields[element.tag].append(element.text)
        elif element.tag in MOMENTS:
            fields[element.tag] = microseconds(datetime.fromisoformat(element.text or ""))
        elif element.tag in COLUMNS:
            fields[element.tag] = element.text
    return fields


def microseconds(moment: datetime) -> int:
    return from_timestamp(moment)


def test_synthetic_feeds(ingested: Ingested, synthetic: Path) -> None:
    assert equal(ingested, synthetic) == ITEMS


@needs("data", "feed-archives")
@pytest.mark.parametrize("name", ["blog-archives-2025-26", "news-2020", "tech-digest-2026"])
def test_archives(ingested: Ingested, name: str) -> None:
    assert equal(ingested, ARCHIVES / name / "raw") > 400


def test_each_body_and_item_is_reported(ingested: Ingested, synthetic: Path) -> None:
    folders = [synthetic, *ARCHIVES.glob("*/raw")]
    files = chain.from_iterable(folder.iterdir() for folder in folders)
    assert sum(batch.bodies for batch in ingested.reported) == len(list(files))
    assert sum(batch.published for batch in ingested.reported) == ingested.count
    assert sum(batch.dead for batch in ingested.reported) == sum(
        len(ingested.dead(folder)) for folder in folders
    )
