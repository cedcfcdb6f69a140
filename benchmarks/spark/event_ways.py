"""A way to find patterns in the events of a folder, in a process of its own: what it took, as JSON.

    python -m benchmarks.spark.event_ways embedded|batch|stream FOLDER MASTER

Each goes from Parquet with JSON text, and the text of queries, to the number of matches.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import xscl
from benchmarks.measure import cpu_seconds
from benchmarks.spark.inputs import DOCUMENTS, QUERIES
from benchmarks.spark.ways import Joined, main, shuffled, streamed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "HIGH",
    "KEYS",
    "PATTERNS",
    "WINDOW",
    "batch",
    "embedded",
    "patterns",
    "stream",
    "write_events",
]

KEYS = 100_000
PATTERNS = 100
WINDOW = 60
RATE = 1_000
"""Events a second."""
VALUES, HIGH = 20_000, 15_000
BATCH = 5_000
SCHEMA = pa.schema(
    [
        ("stream", pa.string()),
        ("id", pa.string()),
        ("timestamp", pa.float64()),
        ("json", pa.string()),
    ]
)


def patterns(number: int = PATTERNS) -> str:
    """Patterns that are alike but for a constant: a value, then a high one of the same key."""
    return "".join(
        f"-- name: p{value}\nPATTERN SEQ(S a, S b) WHERE skip_till_next_match "
        f"{{ [k] AND a.v = {value} AND b.v >= {HIGH} }} WITHIN {WINDOW} s;\n"
        for value in range(number)
    )


def write_events(folder: Path, number: int, files: int, *, hot: bool = False) -> Path:
    """Writes a directory of so many events in files; `hot`, every second one has one key."""
    folder.mkdir()
    place = folder / DOCUMENTS
    place.mkdir()
    dice = np.random.default_rng(32)
    for file, numbers in enumerate(np.array_split(np.arange(number), files)):
        keys = dice.integers(0, KEYS, len(numbers))
        if hot:
            keys[::2] = -1
        values = dice.integers(0, VALUES, len(numbers))
        rows = zip(keys.tolist(), values.tolist(), strict=True)
        columns = [
            pa.array(["S"] * len(numbers)),
            pa.array([f"e{one}" for one in numbers.tolist()]),
            pa.array(numbers / RATE),
            pa.array([f'{{"k": "k{key}", "v": {value}}}' for key, value in rows]),
        ]
        path = place / f"{file:06d}.parquet"
        pq.write_table(pa.Table.from_arrays(columns, schema=SCHEMA), path, row_group_size=50_000)
        os.utime(path, (file, file))
    (folder / QUERIES).write_text(patterns(), encoding="utf-8")
    return folder


def embedded(folder: Path) -> Joined:
    """The engine in this process, in order of time."""
    before, started = cpu_seconds(), time.perf_counter()
    with xscl.Engine(lateness=0) as engine:
        engine.load((folder / QUERIES).read_text(encoding="utf-8"))
        xscl.collect_rarely()
        loaded = time.perf_counter()
        matches = engine.count(_documents(folder), batch=BATCH).total()
        ended = time.perf_counter()
    return Joined(matches, matches, loaded - started, ended - loaded, cpu_seconds() - before)


def _documents(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((folder / DOCUMENTS).iterdir()):
        for some in pq.ParquetFile(path).iter_batches(50_000):
            ids, times, texts = (some.column(name).to_pylist() for name in SCHEMA.names[1:])
            for id, moment, text in zip(ids, times, texts, strict=True):
                yield {"stream": "S", "id": id, "timestamp": moment, "json": text.encode()}


def batch(spark: SparkSession, folder: Path) -> Joined:
    """The events as a DataFrame that is no stream."""
    from xscl.spark import run

    written, before, started = shuffled(spark), cpu_seconds(), time.perf_counter()
    documents = spark.read.parquet(str(folder / DOCUMENTS))
    queries = (folder / QUERIES).read_text(encoding="utf-8")
    matches = run(documents, queries, results=False).count()
    taken = time.perf_counter() - started
    processor = cpu_seconds() - before
    return Joined(matches, matches, 0, taken, processor, shuffled(spark) - written)


def stream(spark: SparkSession, folder: Path) -> Joined:
    """The files as they would come, some in each batch, with what is found as Parquet."""
    from xscl.spark import run

    queries = (folder / QUERIES).read_text(encoding="utf-8")
    return streamed(
        spark, folder, lambda documents: run(documents, queries, results=False, lateness=0)
    )


if __name__ == "__main__":
    sys.exit(main(lambda folder, _: embedded(folder), {"batch": batch, "stream": stream}))
