"""Bodies that land without being fetched, the items job over them, and what it wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.batches import Batch
from xscl.spark.ingestion.bodies import Body, batch_of
from xscl.spark.ingestion.jobs import start_items

Row = dict[str, Any]


@dataclass
class Landing:
    """A directory of an ingestion, the batches that the items job reported, and how much has
    landed."""

    spark: SparkSession
    folder: Path
    updates: bool = False
    reported: list[Batch] = field(default_factory=list)
    landed: int = 0

    @property
    def archive(self) -> Archive:
        return Archive.at(str(self.folder))

    def land(self, *bodies: Body) -> None:
        """Lands bodies as one file."""
        rows = pa.Table.from_batches([batch_of(bodies, self.landed + 1)])
        place = Path(self.archive.landing)
        place.mkdir(parents=True, exist_ok=True)
        draft = place / ".draft"
        pq.write_table(rows, draft)
        draft.rename(place / f"part-{self.landed:05}.parquet")
        self.landed += len(bodies)

    def start(self, trigger: float | None = None) -> StreamingQuery:
        return start_items(
            self.spark,
            self.archive,
            updates=self.updates,
            trigger=trigger,
            on_batch=self.reported.append,
        )

    @contextmanager
    def running(self) -> Iterator[StreamingQuery]:
        """The job, which makes a batch of what has landed whenever it is awaited."""
        query = self.start(trigger=0.05)
        try:
            yield query
        finally:
            query.stop()

    def finish(self) -> None:
        """Runs the job to the end of what has landed."""
        self.start().awaitTermination()

    def rows(self, table: str) -> list[Row]:
        """The rows of a table (`items` or `dead`), as Spark reads them, in order of batches."""
        read = self.spark.read.parquet(f"{self.folder}/{table}")
        return [row.asDict() for row in read.orderBy("batch").collect()]

    def drop_commit(self, job: str) -> None:
        """As if Spark had been killed before it noted that the last batch is done."""
        commits = Path(self.archive.checkpoint(job)) / "commits"
        last = max(int(path.name) for path in commits.iterdir() if path.name.isdecimal())
        for path in commits.glob(f"*{last}*"):
            path.unlink()


def rss(*items: str) -> bytes:
    """An RSS feed of items, which are XML."""
    shown = "".join(f"<item>{item}</item>" for item in items)
    channel = f"<title>News</title><link>http://a.example/</link>{shown}"
    return f"<rss version='2.0'><channel>{channel}</channel></rss>".encode()


def entry(guid: str, text: str = "", date: str = "", link: str = "") -> str:
    """An item with a title of its own, if it has no link, else with that of its link."""
    title = link.rpartition("/")[2] or guid
    return (
        f"<guid isPermaLink='false'>{guid}</guid><title>{title}</title><link>{link}</link>"
        f"<description>{text}</description><pubDate>{date}</pubDate>"
    )
