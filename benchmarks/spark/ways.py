"""A way to join the documents of a folder, in a process of its own: what it took, as JSON.

    python -m benchmarks.spark.ways embedded FOLDER PROCESSES
    python -m benchmarks.spark.ways batch|stream FOLDER MASTER

Each goes from Parquet and the text of queries to the number of rows (a tuple of documents each) and
of matches.  The embedded engine's processes each take a part of the stream, so that several find
less; all begin when the last has its queries.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

import xscl
from benchmarks.measure import batches, cpu_seconds
from benchmarks.spark.inputs import DOCUMENTS, QUERIES

if TYPE_CHECKING:
    from threading import Barrier

    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "Batch",
    "Joined",
    "batch",
    "embedded",
    "main",
    "read",
    "shuffled",
    "stream",
    "streamed",
]

BATCH = 5_000
FILES = 2
"""Files in a batch of a stream, of half a batch each: both cores can read."""
FOUND = "found"
PROGRESS = {"spark.sql.streaming.numRecentProgressUpdates": "100000"}


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a stream: documents, seconds, and what the state store has after it."""

    documents: int
    seconds: float
    state_rows: int
    state_bytes: int


@dataclass(frozen=True, slots=True)
class Joined:
    """What was found, and the seconds that it took: to start (Spark) or to load the queries (the
    embedded engine), and then; `processor` seconds are of all processes, without the start of
    Spark.  `shuffled` are bytes."""

    rows: int
    matches: int
    start: float
    seconds: float
    processor: float
    shuffled: int = 0
    batches: tuple[Batch, ...] = ()


def embedded(folder: Path, processes: int) -> Joined:
    """As many processes, each with the engine and a part of the stream."""
    context = get_context("spawn")
    before = cpu_seconds()
    with context.Manager() as manager, ProcessPoolExecutor(processes, context) as pool:
        ready = manager.Barrier(processes)
        parts = [pool.submit(_part, folder, n, processes, ready) for n in range(processes)]
        done = [part.result() for part in parts]
        processor = cpu_seconds() - before
    rows, matches, starts, seconds = zip(*done, strict=True)
    return Joined(sum(rows), sum(matches), max(starts), max(seconds), processor)


def _part(folder: Path, number: int, parts: int, ready: Barrier) -> tuple[int, int, float, float]:
    """A process' rows, matches, seconds to load, and seconds from when all are ready."""
    started = time.perf_counter()
    with xscl.Engine() as engine:
        engine.load((folder / QUERIES).read_text(encoding="utf-8"))
        xscl.collect_rarely()
        loaded = time.perf_counter()
        ready.wait()
        began = time.perf_counter()
        documents = pq.read_table(folder / DOCUMENTS).to_pylist()
        first, last = (len(documents) * n // parts for n in (number, number + 1))
        rows = matches = 0
        for some in batches(documents[first:last], BATCH):
            for group in engine.publish_many(some, grouped=True):
                rows += 1
                matches += group.count
        return rows, matches, loaded - started, time.perf_counter() - began


def batch(spark: SparkSession, folder: Path) -> Joined:
    """The documents as a DataFrame that is no stream."""
    from pyspark.sql import functions as F

    from xscl.spark import join

    written, before, started = shuffled(spark), cpu_seconds(), time.perf_counter()
    documents = spark.read.parquet(str(folder / DOCUMENTS))
    queries = (folder / QUERIES).read_text(encoding="utf-8")
    found = join(documents, queries, grouped=True)
    row = found.agg(F.count("*"), F.coalesce(F.sum("matches"), F.lit(0))).first()
    taken = time.perf_counter() - started
    assert row is not None
    processor = cpu_seconds() - before
    return Joined(row[0], row[1], 0, taken, processor, shuffled(spark) - written)


def stream(spark: SparkSession, folder: Path) -> Joined:
    """The files as they would come, some in each batch, with what is found as Parquet."""
    from pyspark.sql import functions as F

    from xscl.spark import join

    queries = (folder / QUERIES).read_text(encoding="utf-8")
    joined = streamed(spark, folder, lambda documents: join(documents, queries, grouped=True))
    matches = spark.read.parquet(str(folder / FOUND)).agg(F.sum("matches")).first()
    return replace(joined, matches=(matches and matches[0]) or 0)


def streamed(spark: SparkSession, folder: Path, found: Callable[[DataFrame], DataFrame]) -> Joined:
    """What it takes to find something in a stream of a folder's files, and to write it as Parquet:
    a row is a match."""
    for name, value in PROGRESS.items():
        spark.conf.set(name, value)
    written, before, started = shuffled(spark), cpu_seconds(), time.perf_counter()
    place = str(folder / DOCUMENTS)
    schema = spark.read.parquet(place).schema
    documents = spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES).parquet(place)
    query = (
        found(documents)
        .writeStream.format("parquet")
        .option("path", str(folder / FOUND))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    taken, processor = time.perf_counter() - started, cpu_seconds() - before
    done = tuple(batch_of_stream(dict(one)) for one in query.recentProgress if one["numInputRows"])
    rows = spark.read.parquet(str(folder / FOUND)).count()
    return Joined(rows, rows, 0, taken, processor, shuffled(spark) - written, done)


def batch_of_stream(progress: Mapping[str, Any]) -> Batch:
    """A batch by what Spark says of it."""
    (state,) = progress["stateOperators"]
    return Batch(
        progress["numInputRows"],
        progress["durationMs"]["triggerExecution"] / 1000,
        state["numRowsTotal"],
        state["memoryUsedBytes"],
    )


def shuffled(spark: SparkSession) -> int:
    """The bytes that tasks have written for others so far."""
    store = spark._jsparkSession.sparkContext().statusStore()
    executors = store.executorList(False)
    return sum(int(executors.apply(i).totalShuffleWrite()) for i in range(executors.size()))


def read(printed: str) -> Joined:
    """What such a process has printed."""
    data = json.loads(printed.splitlines()[-1])
    return Joined(**{**data, "batches": tuple(Batch(**one) for one in data["batches"])})


def main(
    embedded: Callable[[Path, int], Joined],
    ways: Mapping[str, Callable[[SparkSession, Path], Joined]],
) -> int:
    """Takes the way that the command names, and prints what it took."""
    way, folder, where = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if way == "embedded":
        joined = asdict(embedded(folder, int(where)))
    else:
        from xscl.spark.session import session_for

        started = time.perf_counter()
        with session_for("benchmark", master=where) as spark:
            ready = time.perf_counter() - started
            joined = asdict(ways[way](spark, folder))
            joined["start"] = ready
    print(json.dumps(joined))
    return 0


if __name__ == "__main__":
    sys.exit(main(embedded, {"batch": batch, "stream": stream}))
