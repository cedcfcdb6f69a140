"""Items a second through the ingestion on Spark, against feedparser in `mapInPandas` in one run.

Synthetic feed files go the whole way: the fetch job lands them, the items job makes item documents
of what landed, both as `xscl ingest --once` runs them.  The same landed bodies, of a part of the
feeds, then go through `feedparser.parse` in `mapInPandas`, to rows of a few texts in Parquet.  All
this is done several times in one session, with other feeds each time; the first time is to warm up,
and of the others the best of each way counts.  CPU seconds are those of all processes together:
this one, Java and the Python workers.

    python benchmarks/ingestion.py [--feeds 3000] [--items 60000] [--cores 2] [--rounds 3]
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import feedparser
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measure import cpu_seconds
from datasets import feed_archive
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.feed_options import FeedOptions
from xscl.spark.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "id STRING, link STRING, title STRING, published STRING, summary STRING"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a way took for so many items, in seconds."""

    items: int
    wall: float
    cpu: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--feeds", type=int, default=3_000)
    parser.add_argument("--items", type=int, default=60_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--part", type=int, default=5, help="feedparser gets 1 feed in so many")
    parser.add_argument("--rounds", type=int, default=3, help="the first is to warm up")
    arguments = parser.parse_args()
    spark = session("ingestion benchmark", master=f"local[{arguments.cores}]")
    try:
        rounds = [
            one_round(spark, arguments.feeds, arguments.items, arguments.part, seed)
            for seed in range(arguments.rounds)
        ]
    finally:
        spark.stop()
    found = {
        name: min((way[name] for way in rounds[1:] or rounds), key=lambda way: way.wall)
        for name in rounds[0]
    }
    size = sum(len(body) for _, body in feed_archive(arguments.feeds, arguments.items)) / 1e6
    print(
        f"{arguments.feeds:,} feeds, {size:.0f} MB, {arguments.items:,} items, "
        f"{arguments.cores} cores; feedparser: 1 feed in {arguments.part}"
    )
    print(f"{'':14}{'items':>8}{'s':>8}{'CPU s':>8}{'items/s':>10}{'items/CPU s':>13}")
    for name, way in found.items():
        print(
            f"{name:14}{way.items:>8,}{way.wall:>8.1f}{way.cpu:>8.1f}"
            f"{way.items / way.wall:>10,.0f}{way.items / way.cpu:>13,.0f}"
        )
    ours, theirs = found["items job"], found["feedparser"]
    print(
        f"items job : feedparser = {ours.items / ours.wall / theirs.items * theirs.wall:.1f} "
        f"by time, {ours.items / ours.cpu / theirs.items * theirs.cpu:.1f} by CPU"
    )
    return 0


def one_round(
    spark: SparkSession, feeds: int, items: int, part: int, seed: int
) -> dict[str, Measured]:
    """Makes feeds, and takes them each way."""
    with tempfile.TemporaryDirectory() as place:
        sources = Path(place) / "feeds"
        sources.mkdir()
        for name, body in feed_archive(feeds, items, seed=seed):
            (sources / name).write_bytes(body)
        return ways(spark, sources, Archive.at(f"{place}/to"), items, part)


def ways(
    spark: SparkSession, sources: Path, archive: Archive, items: int, part: int
) -> dict[str, Measured]:
    """What each way takes for the feeds of a folder."""
    from xscl.spark.ingestion.jobs import start_fetch, start_items

    options = FeedOptions((str(sources),), spool=archive.local).written()

    def fetch() -> None:
        start_fetch(spark, archive, options, trigger=None).awaitTermination()

    def make() -> None:
        start_items(spark, archive, trigger=None, on_batch=lambda batch: None).awaitTermination()

    def parse() -> None:
        # Row by row over as many partitions as there are cores, so that none waits for another.
        bodies = landed.repartition(spark.sparkContext.defaultParallelism)
        bodies.mapInPandas(by_feedparser, COLUMNS).write.parquet(f"{archive.root}/feedparser")

    fetched, made = measured(fetch), measured(make)
    landed = spark.read.parquet(archive.landing).where(f"sequence % {part} = 0").select("body")
    landed.count()
    parsed = measured(parse)
    count = spark.read.parquet(archive.items).count()
    if count != items:
        raise SystemExit(f"{items:,} items went in, {count:,} came out")
    there = spark.read.parquet(f"{archive.root}/feedparser").count()
    return {
        "fetch job": Measured(items, *fetched),
        "items job": Measured(items, *made),
        "both": Measured(items, fetched[0] + made[0], fetched[1] + made[1]),
        "feedparser": Measured(there, *parsed),
    }


def by_feedparser(bodies: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """A row for each entry that feedparser finds, as one would write it first."""
    names = [column.partition(" ")[0] for column in COLUMNS.split(", ")]
    for frame in bodies:
        for body in frame["body"]:
            entries = feedparser.parse(io.BytesIO(body)).entries
            yield pd.DataFrame([[e.get(name) for name in names] for e in entries], columns=names)


def measured(do: Callable[[], object]) -> tuple[float, float]:
    """The seconds that something takes, and the CPU seconds of this process and its children."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    do()
    return time.perf_counter() - wall, cpu_seconds() - cpu


if __name__ == "__main__":
    sys.exit(main())
