"""Spark Structured Streaming by hand: for each query a streaming query, the join of the stream with
itself within an interval of time, with watermarks."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, expr, timestamp_seconds

SCHEMA = "id STRING, time BIGINT, item_url STRING, channel_url STRING, title STRING"

Query = dict[str, Any]


def main(folder: Path) -> None:
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.sql.shuffle.partitions", 1)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    queries = json.loads((folder / "queries.json").read_text())
    counts: Counter[str] = Counter()
    running = [start(spark, folder, query, counts) for query in queries]
    for one in running:
        one.awaitTermination()
    print(json.dumps({query["name"]: counts[query["name"]] for query in queries}))
    spark.stop()


def start(spark: SparkSession, folder: Path, query: Query, counts: Counter[str]) -> Any:
    (folder / "stream").mkdir(exist_ok=True)
    if not (folder / "stream" / "items.jsonl").exists():
        (folder / "stream" / "items.jsonl").hardlink_to(folder / "items.jsonl")

    def items(alias: str) -> DataFrame:
        lines = spark.readStream.schema(SCHEMA).json(str(folder / "stream"))
        timed = lines.withColumn("at", timestamp_seconds(col("time"))).withWatermark(
            "at", "0 seconds"
        )
        return timed.alias(alias)

    earlier = items("a")
    if query["channel"]:
        earlier = earlier.where(col("channel_url") == query["channel"])
    equal = [f"a.{leaf} = b.{leaf}" for leaf in query["equal"]]
    differ = [f"a.{leaf} <> b.{leaf}" for leaf in query["differ"]]
    time = [f"b.at > a.at AND b.at <= a.at + INTERVAL {query['seconds']} SECONDS"]
    joined = earlier.join(items("b"), expr(" AND ".join([*equal, *differ, *time])))

    def count(batch: DataFrame, _: int) -> None:
        counts[query["name"]] += batch.count()

    return joined.writeStream.foreachBatch(count).trigger(availableNow=True).start()


main(Path(sys.argv[1]))
