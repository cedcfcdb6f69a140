"""The job of `xscl spark run`: a streaming query with a checkpoint, whose batches are folders.

Exactly once: Spark notes what a batch reads before it is made, and the state of the cells is that
of the batch before; so a batch that is made again, because its end was not noted, finds the same,
and its folder, of its number, is replaced by the same.  Only the last batch can be made again.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from pyspark import Accumulator
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from xscl.durable.plan import Plan
from xscl.errors import StateError, XSCLError
from xscl.spark.ingestion import spark_files
from xscl.spark.joins.columns import DUPLICATE, GROUPS, LATE, MATCHES
from xscl.spark.joins.folder import JoinFolder
from xscl.spark.joins.join import find, skipped_of
from xscl.spark.joins.lines import Lines
from xscl.spark.joins.plan import Queries
from xscl.spark.joins.revisions import Fixed, revised
from xscl.spark.joins.sources import Source
from xscl.spark.joins.stream import TASKS, tasks_of
from xscl.spark.streaming import in_short, start
from xscl.times import now, to_seconds

__all__ = ["Brought", "JoinJob"]

_ROWS_A_FILE = 200_000
_AS_THEY_ARE = {
    "extension": "jsonl",
    "sep": "\x01",
    "quote": "",
    "escapeQuotes": "false",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
"""Files of lines whose names end so, which Spark's format of text cannot: CSV of one column that
is never quoted, with a separator that JSON has nowhere."""
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Brought:
    """What a batch brought: documents read, matches found, documents that are duplicates or late,
    and those that cannot be read (`dead`), the first of these problems, each with its number; and
    the queries that needed too much and were `stopped`, with the reason."""

    batch: int
    time: float
    documents: int
    matches: int
    duplicate: int
    late: int
    dead: int
    problems: dict[str, int] = field(default_factory=dict)
    stopped: list[str] = field(default_factory=list)


class JoinJob:
    """A join into a folder; `lateness` is in microseconds, None without bound."""

    def __init__(
        self,
        spark: SparkSession,
        folder: JoinFolder,
        source: Source,
        *,
        lateness: int | None,
        grouped: bool,
        results: bool,
        form: str,
        on_batch: Callable[[Brought], object],
    ) -> None:
        self._spark, self._folder, self._source = spark, folder, source
        tasks = tasks_of(spark.conf.get(TASKS, None))
        self._fixed = Fixed(source.kind, lateness, grouped, form, tasks)
        self._results = results
        self._on_batch = on_batch
        self._read: Accumulator[int] = spark.sparkContext.accumulator(0)
        self._noted = 0
        self._looked = -1

    def start(
        self, queries: Queries, trigger: float | None, on_plan: Callable[[Plan], object]
    ) -> StreamingQuery:
        """Starts it, with a batch each `trigger` seconds, or once.  `on_plan` gets what becomes of
        the queries of before.  Raises StateError where the folder is of another join."""
        spark, folder = self._spark, self._folder
        self._check_numbers()
        documents = self._source.documents(spark, self._read)
        revisions, plan = revised(spark, folder, queries, self._fixed)
        if plan is not None:
            on_plan(plan)
        late = self._fixed.lateness
        found = find(
            documents,
            revisions,
            lateness="INF" if late is None else to_seconds(late),
            grouped=self._fixed.grouped,
            results=self._results,
        )
        query = (
            found.writeStream.queryName("join")
            .foreachBatch(in_short(self._write))
            .option("checkpointLocation", folder.checkpoint)
        )
        return start(query, trigger)

    @property
    def documents(self) -> int:
        """How many documents were read in this run, also by the batch under way."""
        return self._read.value

    def look(self, query: StreamingQuery) -> None:
        """Notes how large the state is, where a batch has changed it."""
        progress = query.lastProgress
        if progress is None or progress["batchId"] == self._looked:
            return
        self._looked = progress["batchId"]
        operators = progress["stateOperators"]
        rows = sum(one["numRowsTotal"] for one in operators)
        size = sum(one["memoryUsedBytes"] for one in operators)
        text = json.dumps({"batch": self._looked, "rows": rows, "bytes": size})
        # Of a disk that is full the batch itself complains.
        with contextlib.suppress(XSCLError):
            spark_files.put_text(self._spark, self._folder.state, text)

    def _write(self, found: DataFrame, number: int) -> None:
        """Writes a batch: what was found, the dead letters, at last what it brought."""
        found = found.persist()
        try:
            brought = self._brought(found, number)
            columns = (GROUPS if self._fixed.grouped else MATCHES).names
            matches = found.where("skipped IS NULL").select(*columns)
            form = self._fixed.format
            self._put(matches, f"{self._folder.matches}/batch={number}", brought.matches, form)
            dead = found.where(~F.col("skipped").isin(DUPLICATE, LATE) & (F.col("count") != 0))
            letters = skipped_of(dead)
            place = f"{self._folder.dead}/batch={number}"
            self._put(letters.drop("count"), place, brought.dead, "parquet")
        finally:
            found.unpersist()
        text = json.dumps(asdict(brought))
        spark_files.put_text(self._spark, f"{self._folder.batches}/{number}.json", text)
        self._on_batch(brought)

    def _brought(self, found: DataFrame, number: int) -> Brought:
        of_row = F.col("matches") if self._fixed.grouped else F.lit(1)
        number_of = F.coalesce(F.col("count"), of_row)
        rows = found.groupBy("skipped").agg(F.sum(number_of)).collect()
        counts = Counter({row[0]: int(row[1]) for row in rows})
        # What says of a query that it was stopped is of no document.
        stopped = sorted(problem for problem, count in counts.items() if problem and not count)
        counts = +counts
        # All of the batch has been read now.
        documents, self._noted = self._read.value - self._noted, self._read.value
        matches = counts.pop(None, 0)
        known = counts.pop(DUPLICATE, 0), counts.pop(LATE, 0)
        problems = dict(counts.most_common(_SHOWN))
        moment = to_seconds(now())
        return Brought(
            number, moment, documents, matches, *known, counts.total(), problems, stopped
        )

    def _put(self, rows: DataFrame, place: str, number: int, form: str) -> None:
        """Writes a batch of a table, in no more files than it needs; where there is nothing to
        write, only over what an earlier attempt has left."""
        if not number and not spark_files.exists(self._spark, place):
            return
        rows = rows.coalesce(1 + number // _ROWS_A_FILE)
        if form == "jsonl":
            lines = rows.mapInArrow(Lines(), "line STRING")
            lines.write.mode("overwrite").options(**_AS_THEY_ARE).csv(place)
        else:
            rows.write.mode("overwrite").parquet(place)

    def _check_numbers(self) -> None:
        """A checkpoint that is gone would number batches from 0 again, over those that are there;
        one without its queries could not say what it is of."""
        folder, spark = self._folder, self._spark
        there = spark_files.exists(spark, folder.checkpoint)
        for other in (folder.batches, folder.matches, folder.dead) if not there else ():
            if spark_files.exists(spark, other):
                raise StateError(
                    f"{other} has batches, but the checkpoint that counts them, "
                    f"{folder.checkpoint}, is gone: restore it, or give another folder with --to"
                )
        if there and not spark_files.exists(spark, f"{folder.queries}/revision-0.json"):
            raise StateError(
                f"{folder.checkpoint} is there, but the queries that it is of, {folder.queries}, "
                "are gone: restore them, or give another folder with --to"
            )
