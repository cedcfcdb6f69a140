"""The two jobs of an ingestion, each a streaming query with a checkpoint of its own.

*fetch* lands bodies as they come; *items* makes item documents of what has landed.  They are two
because a feed shows few items: while parsing recovers, or is behind, fetching must continue, or
what scrolls off in between is lost.  Both are exactly-once: what lands is committed by Spark's own
sink, and a batch of items is a folder of its number, which a repetition replaces by the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from xscl.errors import StateError
from xscl.feeds import CANONICAL, Rules
from xscl.spark.columns import spark_columns
from xscl.spark.ingestion import spark_files
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.batches import Batch, Problem
from xscl.spark.ingestion.columns import BODIES, DEAD_LETTERS, ITEMS, PARSED
from xscl.spark.ingestion.feed_source import FeedSource
from xscl.spark.ingestion.known_items import KnownItems, count_of
from xscl.spark.ingestion.parsed_bodies import Parsing, Unpacking
from xscl.spark.streaming import ANY_AGE, in_short, start

__all__ = ["items_of", "start_fetch", "start_items"]

_ITEMS_A_FILE = 50_000
_BYTES_A_BATCH = 256 * 1024 * 1024
_SHOWN = 20
_EMPTY = "nothing INT"


def items_of(
    fetched: DataFrame, *, stream: str = "S", updates: bool = False, links: Rules = CANONICAL
) -> DataFrame:
    """The items of bodies (rows of `format("feed")`), as the columns `ITEMS`; bodies
    that are no feed give none.

    For any DataFrame, of a batch or a stream; nothing is remembered from body to body, so an item
    that two bodies show comes twice, with one id.
    """
    parsed = fetched.mapInArrow(Parsing(stream, links, updates), spark_columns(PARSED))
    readable = parsed.where("keys IS NOT NULL")
    return readable.mapInArrow(Unpacking(ITEMS), spark_columns(ITEMS))


def start_fetch(
    spark: SparkSession,
    archive: Archive,
    options: Mapping[str, str],
    *,
    trigger: float | None,
    keep: float | None = None,
) -> StreamingQuery:
    """Lands what `format("feed")` gathers with these options.

    `trigger` (seconds) is how often a batch starts; None fetches what is due, and ends.  Spark's
    log of what landed drops files that are older than `keep` seconds.
    """
    _register(spark)
    landing = (
        spark.readStream.format("feed")
        .options(**{"numPartitions": str(spark.sparkContext.defaultParallelism), **options})
        .load()
        .writeStream.queryName("fetch")
        .format("parquet")
        .option("path", archive.landing)
        .option("checkpointLocation", archive.checkpoint("fetch"))
    )
    if keep is not None:
        landing = landing.option("retention", f"{round(keep)}s")
    return start(landing, trigger)


def _register(spark: SparkSession) -> None:
    """Makes `format("feed")` known to a session: Spark asks the active one whether it is known
    already, which is another where this one was made at the same time."""
    before = SparkSession.getActiveSession()
    spark.createDataFrame([], _EMPTY)  # makes its session the active one
    try:
        spark.dataSource.register(FeedSource)
    finally:
        if before is not None:
            before.createDataFrame([], _EMPTY)


def start_items(
    spark: SparkSession,
    archive: Archive,
    *,
    stream: str = "S",
    updates: bool = False,
    links: Rules = CANONICAL,
    trigger: float | None,
    on_batch: Callable[[Batch], object],
) -> StreamingQuery:
    """Makes item documents and dead letters of what has landed, and of what lands.

    `on_batch` gets each batch when it is written.  Raises StateError where the checkpoint
    is gone and batches are there, which would be written over.
    """
    _check_numbers(spark, archive)
    spark_files.make(spark, archive.landing)
    landed = (
        spark.readStream.schema(spark_columns(BODIES))
        .option("maxBytesPerTrigger", str(_BYTES_A_BATCH))
        # Files are never too old: a job that was down for weeks takes up where it was.
        .option("maxFileAge", ANY_AGE)
        .parquet(archive.landing)
    )
    known = KnownItems(archive.known)

    def write(parsed: DataFrame, number: int) -> None:
        counts = _write(parsed, number, archive, partial(known.news, number, updates=updates))
        if counts.bodies:
            on_batch(counts)

    query = (
        landed.mapInArrow(Parsing(stream, links, updates), spark_columns(PARSED))
        .writeStream.queryName("items")
        .foreachBatch(in_short(write))
        .option("checkpointLocation", archive.checkpoint("items"))
    )
    return start(query, trigger)


def _write(
    parsed: DataFrame,
    number: int,
    archive: Archive,
    news: Callable[[pa.Table], dict[int, list[int]]],
) -> Batch:
    """Writes a batch of parsed bodies: the items that are new, and the dead letters."""
    parsed = parsed.persist()
    try:
        bodies = parsed.select("sequence", "feed", "keys").toArrow()
        feeds = bodies.filter(pc.is_valid(bodies["keys"]))
        published = news(feeds)
        new = sum(map(len, published.values()))
        shown = sum(map(count_of, feeds["keys"].to_pylist()))
        if new:
            items = _rows(parsed.where("keys IS NOT NULL"), ITEMS, new, published)
            items.write.mode("overwrite").parquet(f"{archive.items}/batch={number}")
        dead = bodies.num_rows - feeds.num_rows
        problems: tuple[Problem, ...] = ()
        if dead:
            letters = _rows(parsed.where("keys IS NULL"), DEAD_LETTERS, dead)
            place = f"{archive.dead}/batch={number}"
            letters.write.mode("overwrite").parquet(place)
            # From what was written: the letters themselves would be unpacked a second time.
            written = parsed.sparkSession.read.schema("feed STRING, problem STRING").parquet(place)
            problems = tuple(Problem(*row) for row in written.limit(_SHOWN).collect())
        return Batch(number, bodies.num_rows, new, shown - new, dead, problems)
    finally:
        parsed.unpersist()


def _rows(
    parsed: DataFrame, columns: pa.Schema, count: int, published: dict[int, list[int]] | None = None
) -> DataFrame:
    """The rows of a table of these columns, in no more files than they need."""
    rows = parsed.coalesce(1 + count // _ITEMS_A_FILE)
    return rows.mapInArrow(Unpacking(columns, published), spark_columns(columns))


def _check_numbers(spark: SparkSession, archive: Archive) -> None:
    """A checkpoint that is gone would number batches from 0 again, over those that are there."""
    if spark_files.exists(spark, archive.checkpoint("items")):
        return
    for table in (archive.items, archive.dead):
        if spark_files.exists(spark, table):
            raise StateError(
                f"{table} has batches, but the checkpoint that counts them, "
                f"{archive.checkpoint('items')}, is gone: restore it, or move the batches away to "
                "make them again from what has landed"
            )
