"""`xscl.spark.join`: the engine's own answers, of batches and streams; and what is said of what it
cannot use."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import xscl
from tests.conformance.runner import read_cases
from tests.drawn import seeded, times
from tests.oracle.canonical import differences
from tests.shared import SHARED, needs
from tests.xscl.spark.renamed_cases import RenamedCase, renamed
from xscl.spark import channels, join, problems

CASES = SHARED / "conformance"
ENVELOPES = pa.schema(
    [
        *((name, pa.string()) for name in ("stream", "id")),
        ("timestamp", pa.float64()),
        *((name, pa.string()) for name in ("xml", "json")),
    ]
)
COLUMNS = "stream STRING, id STRING, timestamp DOUBLE, xml STRING, json STRING"

_STARTS = 3
_NOT_STARTED = "Python worker failed to connect back"

PAIRS = """
-- name: pairs
S//a->x FOLLOWED BY {x = y, 20 s} S//b->y;
-- name: all
S//a->x FOLLOWED BY {x = y} S//b->y;
-- name: chain
S//a->x JOIN {x = y, 5 s} S//b->y FOLLOWED BY {y = z, 5 s} S//a->z;
"""


def table(spark: SparkSession, rows: Sequence[dict[str, Any]]) -> DataFrame:
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=ENVELOPES))


def streamed(
    spark: SparkSession, folder: Path, rows: Sequence[dict[str, Any]], batches: int
) -> DataFrame:
    """Rows as a stream, in so many batches as they lie."""
    folder.mkdir()
    for number in range(batches):
        some = rows[number * len(rows) // batches : (number + 1) * len(rows) // batches]
        file = folder / f"{number}.json"
        file.write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
        os.utime(file, (number, number))
    files = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", "1")
    return files.json(str(folder))


def collected(found: DataFrame, checkpoint: Path) -> list[dict[str, Any]]:
    """All rows of a stream.

    Before its first batch Spark starts a Python, for which it waits ten seconds however busy the
    machine is: then it is started again.
    """
    rows: list[dict[str, Any]] = []
    writer = (
        found.writeStream.foreachBatch(lambda some, _: rows.extend(some.toArrow().to_pylist()))
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
    )
    for left in reversed(range(_STARTS)):
        try:
            writer.start().awaitTermination()
            break
        except StreamingQueryException as error:
            if not left or rows or _NOT_STARTED not in str(error):
                raise
    return rows


def matches_of(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"bindings": dict(row["bindings"])} for row in rows]


def cases(number: int, way: str) -> list[RenamedCase]:
    """So many cases, others for each way and XSCL_SEED."""
    names = ("core", "full", "json", "wide")
    every = [case for name in names for case in read_cases(CASES / f"{name}.jsonl")]
    return renamed(seeded(way).sample(every, min(len(every), times(number))))


def check_cases(some: Sequence[RenamedCase], rows: Sequence[dict[str, Any]]) -> None:
    found = matches_of(rows)
    for one in some:
        expected, own = one.case["expected"], one.own(found)
        if one.case["case"].startswith("json-"):
            # Their results are those of docs/semantics.md#json-as-a-tree, which these cases leave
            # open.
            expected, own = ([m | {"result": None} for m in all_] for all_ in (expected, own))
        difference = differences(expected, own)
        assert not difference, f"{one.case['case']}: {difference}"


@needs("conformance")
@pytest.mark.drawn
def test_cases_as_a_batch(spark: SparkSession) -> None:
    some = cases(10, "batch")
    documents = [row for one in some for row in one.documents]
    found = join(table(spark, documents), [one.queries for one in some], results=True)
    check_cases(some, found.toArrow().to_pylist())


@needs("conformance")
@pytest.mark.drawn
def test_cases_as_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    # Half a second each: all are not done in minutes.
    some = cases(4, "stream")
    documents = [row for one in some for row in one.documents]
    random.Random(17).shuffle(documents)
    stream = streamed(spark, tmp_path / "in", documents, 2)
    # The cases have one clock here, and times of their own.
    texts = [one.queries for one in some]
    found = join(stream, texts, results=True, lateness="INF")
    check_cases(some, collected(found, tmp_path / "checkpoint"))


def drawn(seed: int, number: int) -> list[dict[str, Any]]:
    dice = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for index in range(number):
        name, value = dice.choice("abc"), dice.choice("uvwxyz")
        xml = f"<{name}>{value}</{name}>"
        time = round(dice.uniform(0, number), 6)
        rows.append({"stream": "S", "id": f"d{index}", "timestamp": time, "xml": xml})
    return rows


def by_engine(rows: Sequence[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    with xscl.Engine() as engine:
        engine.load(PAIRS)
        return Counter(
            (match.query, match.documents, match.id) for match in engine.publish_many(rows)
        )


def said(rows: Sequence[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter((row["query"], tuple(row["documents"]), row["id"]) for row in rows)


def test_slices_and_subsets_find_what_an_engine_finds(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xscl.spark.joins.batch.tasks_at_once", lambda spark: 3)
    rows = drawn(3, 400)
    found = join(table(spark, rows), PAIRS).toArrow().to_pylist()
    assert said(found) == by_engine(rows)


def test_groups_are_the_matches(spark: SparkSession) -> None:
    rows = drawn(4, 200)
    found = join(table(spark, rows), PAIRS, grouped=True)
    groups = found.toArrow().to_pylist()
    names = {row["channel"]: row["queries"] for row in channels(found).toArrow().to_pylist()}
    expanded = Counter(
        (query, tuple(group["documents"])) for group in groups for query in names[group["channel"]]
    )
    expected = by_engine(rows)
    assert len({tuple(group["documents"]) for group in groups}) == len(groups)
    assert sum(group["matches"] for group in groups) == expected.total()
    assert expanded == Counter((query, documents) for query, documents, _ in expected.elements())


def test_what_is_skipped_is_said(spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "d1", "timestamp": 1.0, "xml": "<a>u</a>"},
        {"id": "d2", "timestamp": 2.0, "xml": "<b>u</b>"},
        {"id": "d1", "timestamp": 3.0, "xml": "<b>u</b>"},
        {"id": "d2", "timestamp": 2.0, "xml": "<b>u</b>"},
        {"id": "d3", "timestamp": 4.0, "xml": "<b>u"},
        {"id": None, "timestamp": 5.0, "xml": "<b>u</b>"},
        {"id": "d4", "timestamp": None, "xml": "<b>u</b>"},
        {"id": "d5", "timestamp": 6.0},
        {"id": "d6", "timestamp": 7.0, "json": "{"},
        {"id": "d7", "timestamp": 1e30, "xml": "<b>u</b>"},
        {"id": "d8", "timestamp": 1.78e15, "xml": "<b>u</b>"},
    ]
    documents = table(spark, rows).drop("stream")
    assert set(said(join(documents, PAIRS).toArrow().to_pylist())) == set(by_engine(rows[:2]))
    skipped = problems(documents, PAIRS).toArrow().to_pylist()
    counts = {row["skipped"]: row["count"] for row in skipped if row["body"] is None}
    assert counts.pop("duplicate") == 2
    letters = {row["id"]: row["skipped"] for row in skipped if row["skipped"] != "duplicate"}
    assert letters.keys() == {"d3", None, *(f"d{number}" for number in range(4, 9))}
    assert letters["d7"] == letters["d8"] == "its `timestamp` is out of range"
    assert letters[None] == "its `id` is null"
    assert letters["d4"] == "its `timestamp` is null"


def test_what_cannot_be_read_hides_nothing(spark: SparkSession) -> None:
    """Of one stream and id the first counts that can be read, as in an engine."""
    bad: dict[str, Any] = {"stream": "S", "xml": "<a>u"}
    good = {"stream": "S", "xml": "<a>u</a>"}
    rows: list[dict[str, Any]] = [
        {**bad, "id": "d1", "timestamp": 1.0},
        {**good, "id": "d1", "timestamp": 2.0},
        {**good, "id": "d1", "timestamp": 3.0},
        {**good, "id": "d2", "timestamp": None},
        {**good, "id": "d2", "timestamp": 2.0},
        {**bad, "id": "d3", "timestamp": 2.0},
        {**good, "id": "d3", "timestamp": 2.0},
        {**good, "id": "d4", "timestamp": 2.0},
        {**bad, "id": "d4", "timestamp": 3.0},
        {"stream": "S", "id": "d5", "timestamp": 1.0},
        {"stream": "S", "id": "d5", "timestamp": 2.0, "json": "{"},
        {"stream": "S", "id": "d5", "timestamp": 3.0, "json": '{"a": 1}'},
    ]
    query = "-- name: q\nS//a->x"
    found = join(table(spark, rows), query).toArrow().to_pylist()
    assert sorted((row["documents"], row["time"].timestamp()) for row in found) == [
        (["d1"], 2.0),
        (["d2"], 2.0),
        (["d3"], 2.0),
        (["d4"], 2.0),
        (["d5"], 3.0),
    ]


def test_a_text_that_is_no_utf_8_stops_no_job(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT 'd1' AS id, 1.0D AS timestamp, CAST(X'3C613E753C2F613E' AS STRING) AS xml "
        "UNION ALL SELECT 'd2', 2.0D, CAST(X'3C613EE93C2F613E' AS STRING)"
    )
    query = "-- name: q\nS//a"
    (found,) = join(rows, query).toArrow().to_pylist()
    assert found["documents"] == ["d1"]
    (letter,) = problems(rows, query).toArrow().to_pylist()
    assert (letter["id"], letter["skipped"]) == ("d2", "its `xml` is no UTF-8")


def test_times_in_members_are_exact(spark: SparkSession) -> None:
    """Whatever the zone of the session is."""
    rows = spark.sql(
        "SELECT 'd1' AS id, 1.0D AS timestamp, "
        "named_struct('at', TIMESTAMP'2026-01-01 00:00:00.000123Z') AS json UNION ALL "
        "SELECT 'd2', 2.0D, named_struct('at', TIMESTAMP'2026-01-01 00:00:00.000456Z')"
    )
    query = (
        "-- name: same\nS/json->a[./at->x] JOIN {x = y} S/json->b[./at->y];\n"
        "-- name: at\nS/json[at = '2026-01-01T00:00:00.000123Z']"
    )
    (found,) = join(rows, query).toArrow().to_pylist()
    assert (found["query"], found["documents"]) == ("at", ["d1"])


def test_a_stream_continues_from_its_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    rows = sorted(drawn(5, 120), key=lambda row: row["timestamp"])
    expected = by_engine(rows)
    stream = streamed(spark, tmp_path / "in", rows, 2)
    later = tmp_path / "1.json"
    (tmp_path / "in" / "1.json").rename(later)
    first = collected(join(stream, PAIRS), tmp_path / "checkpoint")
    later.rename(tmp_path / "in" / "1.json")
    second = collected(join(stream, PAIRS), tmp_path / "checkpoint")
    assert second
    assert said([*first, *second]) == expected


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("id STRING, xml STRING", "no column `timestamp`; their columns are `id`, `xml`"),
        ("id STRING, timestamp DOUBLE", "expected `xml`, the text of XML documents, or `json`"),
        ("id STRING, timestamp STRING, xml STRING", "`timestamp` is of type string"),
    ],
)
def test_columns_that_it_cannot_use(spark: SparkSession, columns: str, problem: str) -> None:
    with pytest.raises(xscl.XSCLError, match=problem):
        join(spark.createDataFrame([], columns), PAIRS)


def test_queries_that_are_refused(spark: SparkSession) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        join(table(spark, []), f"{PAIRS}\nS//a->x[;")
    (error,) = caught.value.exceptions
    assert isinstance(error, xscl.QueryError)
    assert error.line == PAIRS.count("\n") + 2
    with pytest.raises(xscl.XSCLError, match="lateness"):
        join(table(spark, []), PAIRS, lateness="soon")
    assert join(table(spark, []), PAIRS).count() == 0
