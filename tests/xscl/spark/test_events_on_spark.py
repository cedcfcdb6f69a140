"""Queries of events on Spark itself: a batch, a stream, a table's rows, the command."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import xscl
from tests.xscl.spark.joining import events as write_events
from tests.xscl.spark.joining import rows, run_join
from tests.xscl.spark.test_events_in_cells import (
    FAR,
    QUERIES,
    by_one_engine,
    drawn_events,
    in_rows,
)
from tests.xscl.spark.test_joins import COLUMNS, collected, streamed
from xscl.spark import documents, run

EVENTS = drawn_events(random.Random(8), 100)
ROWS = [
    {
        **dict.fromkeys(("xml", "json")),
        **event,
        **({"json": json.dumps(event["json"])} if "json" in event else {}),
        "timestamp": float(event["timestamp"]),
    }
    for event in EVENTS
]


def matches(found: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{**row, "skipped": None} for row in found]


@pytest.mark.filterwarnings("ignore:.*in one cell")
def test_a_batch(spark: SparkSession) -> None:
    table = spark.createDataFrame([tuple(row[name] for name in NAMES) for row in ROWS], COLUMNS)
    found = run(table, QUERIES).toArrow().to_pylist()
    assert in_rows(matches(found)) == by_one_engine([QUERIES], EVENTS)


NAMES = ("stream", "id", "timestamp", "xml", "json")


def test_a_stream_reports_what_waits_when_time_has_passed_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    dice = random.Random(4)
    shuffled = dice.sample(ROWS, len(ROWS))
    end = max(row["timestamp"] for row in ROWS)
    clock = {"stream": "no query's", "id": "end", "timestamp": end + FAR, "json": "{}", "xml": None}
    stream = streamed(spark, tmp_path / "in", [*shuffled, clock], 3)
    spark.conf.set("spark.xscl.join.tasks", "2")
    try:
        with pytest.warns(UserWarning, match="in one cell, so in one task: `xscl explain --spark`"):
            found = collected(run(stream, QUERIES, lateness=200), tmp_path / "checkpoint")
    finally:
        spark.conf.unset("spark.xscl.join.tasks")
    # The clock is in the last batch, in which the cells see it at its end.
    assert in_rows(matches(found)) == by_one_engine([QUERIES], EVENTS)


def trades(spark: SparkSession) -> DataFrame:
    prices = [10.0, 12.0, 11.0, 15.0]
    every = [(f"t{n}", n, ("ACME", one, None)) for n, one in enumerate(prices)]
    columns = "key STRING, at LONG, trade STRUCT<s: STRING, p: DOUBLE, n: INT>"
    return spark.createDataFrame(every, columns)


RISES = "SELECT b.p - a.p AS up FROM PATTERN SEQ(Trade a, Trade b) WHERE [s] AND b.p > a.p WITHIN 9"


def test_rows_of_a_table_are_documents(spark: SparkSession) -> None:
    rises = {"t0": "2", "t1": "3", "t2": "4"}
    by_name, by_column = (
        documents(trades(spark), stream, id="key", timestamp="at", document="trade")
        for stream in ("Trade", F.lit("Trade"))
    )
    assert by_column.collect() == by_name.collect()
    found = run(by_name, RISES).collect()
    assert {row.documents[0]: json.loads(row.result)["up"] for row in found} == {
        first: int(up) for first, up in rises.items()
    }
    flat = trades(spark).select("key", "at", "trade.*")
    of_columns = run(documents(flat, "Trade", id="key", timestamp="at"), RISES)
    assert {row.documents[0] for row in of_columns.collect()} == {*rises}


def test_a_column_that_is_not_there(spark: SparkSession) -> None:
    with pytest.raises(xscl.XSCLError, match="id: there is no column `name`; the columns"):
        documents(trades(spark), "Trade", id="name", timestamp="at")


def test_the_command_refuses_what_takes_matches_back(tmp_path: Path) -> None:
    (tmp_path / "q.xscl").write_text("-- name: m\nEVENT SEQ(S a, S b) CONSISTENCY middle")
    write_events(tmp_path / "in" / "1.jsonl", EVENTS)
    options = ["--events", str(tmp_path / "in" / "*.jsonl"), "--to", str(tmp_path / "out")]
    done = run_join(str(tmp_path / "q.xscl"), *options, "--once", code=2)
    assert "query 'm': found CONSISTENCY middle over a stream" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("spark")
def test_the_command_runs_queries_of_events(tmp_path: Path) -> None:
    (tmp_path / "q.xscl").write_text(QUERIES)
    end = max(row["timestamp"] for row in ROWS)
    clock = {"stream": "no query's", "id": "end", "timestamp": end + FAR, "json": {}}
    write_events(tmp_path / "in" / "1.jsonl", EVENTS)
    write_events(tmp_path / "in" / "2.jsonl", [clock])
    options = ["--events", str(tmp_path / "in" / "*.jsonl"), "--to", str(tmp_path / "out")]
    run_join(str(tmp_path / "q.xscl"), *options, "--once", "--results", "--lateness", "200 s")
    found = rows(tmp_path / "out" / "matches")
    assert in_rows(matches(found)) == by_one_engine([QUERIES], EVENTS)
