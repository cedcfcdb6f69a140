"""The sink `xscl-jsonl` under real streaming queries: each row once, whatever fails in between."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from xscl.spark.jsonl_sink import JsonLinesSink

SCHEMA = "stream STRING, id STRING, timestamp TIMESTAMP, xml STRING"


class Streaming:
    """A query from a folder of JSON Lines to a sink, run to the end of what is there."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        spark.dataSource.register(JsonLinesSink)
        self.spark = spark
        self.input, self.output = folder / "in", folder / "out"
        self.checkpoint = folder / "checkpoint"
        self.input.mkdir()
        self.given: list[str] = []

    def give(self, *ids: str) -> None:
        """A file of documents to be read."""
        lines = (
            f'{{"stream": "S", "id": "{id}", "timestamp": "2026-06-01T00:00:00.000001Z", '
            f'"xml": "<a>{id} é</a>"}}\n'
            for id in ids
        )
        number = len(list(self.input.iterdir()))
        (self.input / f"{number}.json").write_text("".join(lines))
        self.given += ids

    def run(
        self,
        change: Callable[[DataFrame], DataFrame] = lambda rows: rows,
        *,
        mode: str = "append",
        **options: str,
    ) -> None:
        """Each file a batch of its own."""
        rows = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        options = {
            "path": str(self.output),
            "checkpointLocation": str(self.checkpoint),
            **options,
        }
        writer = change(rows.json(str(self.input))).writeStream.format("xscl-jsonl")
        query = writer.options(**options).outputMode(mode).trigger(availableNow=True).start()
        query.awaitTermination()

    def files(self) -> dict[str, list[str]]:
        """The ids in each file."""
        return {
            path.name: [json.loads(line)["id"] for line in path.read_text().splitlines()]
            for path in sorted(self.output.glob("batch-*"))
        }

    def written(self) -> list[str]:
        return sorted(id for ids in self.files().values() for id in ids)

    def drop_commit(self, batch: int) -> None:
        """As if Spark had been killed before it noted that a batch is done."""
        for path in self.checkpoint.glob(f"commits/*{batch}*"):
            path.unlink()


@pytest.fixture
def streaming(spark: SparkSession, tmp_path: Path) -> Streaming:
    return Streaming(spark, tmp_path)


def test_each_batch_is_a_file_of_envelopes(streaming: Streaming, tmp_path: Path) -> None:
    streaming.give("d1", "d2")
    streaming.run()
    streaming.give("d3")
    streaming.run()
    assert streaming.files() == {
        "batch-000000000.jsonl": ["d1", "d2"],
        "batch-000000001.jsonl": ["d3"],
    }
    assert {path.name[0] for path in streaming.output.iterdir()} == {"b", "_"}
    assert not (streaming.output / "_temporary").exists()
    first = (streaming.output / "batch-000000000.jsonl").read_text().splitlines()[0]
    assert json.loads(first) == {
        "stream": "S", "id": "d1", "timestamp": 1780272000.000001, "xml": "<a>d1 é</a>",
    }  # fmt: skip
    (tmp_path / "q.xscl").write_text("-- name: all\nS//a")
    events = [f"--events={path}" for path in sorted(streaming.output.glob("batch-*"))]
    command = [sys.executable, "-c", "from xscl.cli.main import main; main()", "run", "q.xscl"]
    done = subprocess.run(
        [*command, *events], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = [json.loads(line)["documents"] for line in done.stdout.splitlines()]
    assert found == [["d1"], ["d2"], ["d3"]]


def test_spark_reads_what_it_wrote(streaming: Streaming) -> None:
    streaming.give("d1", "d2")
    streaming.run()
    rows = streaming.spark.read.json(str(streaming.output)).collect()
    assert sorted(row.id for row in rows) == ["d1", "d2"]


def test_rows_come_in_the_order_of_partitions(streaming: Streaming) -> None:
    streaming.give(*(f"d{number:02}" for number in range(50)))
    streaming.run(lambda rows: rows.repartitionByRange(4, "id"))
    assert list(streaming.files().values()) == [streaming.given]


def test_a_failed_task_leaves_nothing_and_its_batch_comes_once(
    streaming: Streaming, tmp_path: Path
) -> None:
    flag = tmp_path / "failed"

    def failing(rows: DataFrame) -> DataFrame:
        def fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield batch
                if "d7" in batch.column("id").to_pylist() and not flag.exists():
                    flag.touch()
                    raise ValueError("the task fails in the middle")

        return rows.repartitionByRange(3, "id").mapInArrow(fail, SCHEMA)

    streaming.give(*(f"d{number}" for number in range(9)))
    with pytest.raises(StreamingQueryException, match="fails in the middle"):
        streaming.run(failing)
    assert not streaming.written()
    streaming.run(failing)
    assert streaming.written() == streaming.given
    assert not (streaming.output / "_temporary").exists()


def test_a_replayed_batch_leaves_its_file(streaming: Streaming) -> None:
    for id in ("d1", "d2"):
        streaming.give(id)
        streaming.run()
    last = streaming.output / "batch-000000001.jsonl"
    before = last.stat().st_ino, last.stat().st_mtime_ns
    streaming.drop_commit(1)
    streaming.give("d3")
    streaming.run()
    assert streaming.files() == {
        "batch-000000000.jsonl": ["d1"],
        "batch-000000001.jsonl": ["d2"],
        "batch-000000002.jsonl": ["d3"],
    }
    assert (last.stat().st_ino, last.stat().st_mtime_ns) == before
    assert not (streaming.output / "_temporary").exists()


def test_a_batch_that_was_killed_before_its_file_was_there(streaming: Streaming) -> None:
    streaming.give("d1")
    streaming.run()
    streaming.give("d2")
    streaming.run()
    (streaming.output / "batch-000000001.jsonl").unlink()
    query = (streaming.output / "_query").read_text()
    torn = streaming.output / "_temporary" / query / "1" / "part-00000-999.jsonl"
    torn.parent.mkdir(parents=True)
    torn.write_text('{"id": "torn')
    streaming.drop_commit(1)
    streaming.run()
    assert streaming.written() == ["d1", "d2"]
    assert not (streaming.output / "_temporary").exists()


def test_a_folder_is_one_querys(streaming: Streaming, tmp_path: Path) -> None:
    streaming.give("d1")
    streaming.run()
    before = streaming.files()
    with pytest.raises(StreamingQueryException, match="the batches of another query"):
        streaming.run(checkpointLocation=str(tmp_path / "another"))
    (streaming.output / "_query").unlink()
    with pytest.raises(StreamingQueryException, match="batches of an unknown query"):
        streaming.run(checkpointLocation=str(tmp_path / "another"))
    assert streaming.files() == before


def test_a_batch_without_rows_has_no_file(streaming: Streaming) -> None:
    streaming.give("d1")
    streaming.run(lambda rows: rows.where("id = 'none'"))
    assert not streaming.files()


@pytest.mark.parametrize(
    ("mode", "path", "problem"),
    [
        ("append", "", "needs a folder"),
        ("append", "s3a://bucket/out", "not to 's3a://bucket/out'"),
        ("complete", "out", "use outputMode append or update"),
    ],
)
def test_wrong_use(streaming: Streaming, mode: str, path: str, problem: str) -> None:
    streaming.give("d1")

    def counted(rows: DataFrame) -> DataFrame:
        return rows.groupBy("id").count() if mode == "complete" else rows

    with pytest.raises(StreamingQueryException, match=problem):
        streaming.run(counted, mode=mode, path=path)
