"""Queries over a DataFrame that is no stream: documents are read, brought into their cells by one
shuffle, and each cell is evaluated in order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from xscl.engine.engine import Engine
from xscl.evaluation.groups.match_groups import MatchGroups
from xscl.matches.match import Match
from xscl.spark.columns import spark_columns
from xscl.spark.joins.cells import Cells, Keys, Subsets, TimeSlices
from xscl.spark.joins.columns import FOUND, READ, envelopes_of
from xscl.spark.joins.documents import (
    Part,
    Reading,
    envelope,
    part_of,
    parts_of,
    warn_of_one_cell,
)
from xscl.spark.joins.engines import dismiss, engine_for
from xscl.spark.joins.matches import CellRows, Found
from xscl.spark.joins.needs import Needs
from xscl.spark.joins.plan import Group, Queries, groups_of

__all__ = ["Evaluation", "batch_cells", "batch_kind", "join_batch"]

_BATCH = 5_000
"""Documents that are joined as one batch."""

_SLICES = 2
"""Slices of time for each task: they are not equally much work."""


def join_batch(
    documents: DataFrame, queries: Queries, *, grouped: bool, results: bool
) -> DataFrame:
    """What is found, as rows of `FOUND`.

    Where a window ends, the documents' times are looked at first: a job of its own.
    """
    envelopes = envelopes_of(documents)
    tasks = tasks_at_once(documents.sparkSession)
    with queries.engine(0) as engine:
        # Slices of time serve queries of any width, and so does one cell.
        groups = groups_of(engine, lambda needs: batch_kind(needs, tasks, grouped=grouped))
    times = cache(partial(_times, envelopes))
    parts = parts_of(groups, lambda group: batch_cells(group, times, tasks))
    if tasks > 1:
        warn_of_one_cell(parts)
    width = sum(part.cells.count for part in parts)
    reading = Reading(queries, parts)
    read = _once(envelopes, reading).mapInArrow(reading, spark_columns(READ))
    cells = (
        read.select(F.explode("cells").alias("cell"), *READ.names[1:])
        .repartitionById(max(width, 1), F.col("cell"))
        .sortWithinPartitions("cell", "time", "stream", "id")
    )
    evaluation = Evaluation(queries, parts, grouped, results)
    return cells.mapInArrow(evaluation, spark_columns(FOUND[grouped]))


def batch_kind(needs: Needs, tasks: int, *, grouped: bool = False) -> str:
    """What queries have in common that are evaluated over the same cells of a batch: where matches
    are `grouped`, all joins, as a row has all queries of its documents."""
    if grouped and not needs.timed:
        return "joins"
    return needs.said if needs.reach is None and tasks > 1 else needs.bounded


def tasks_at_once(spark: SparkSession) -> int:
    """How many tasks run in parallel."""
    try:
        return max(int(spark.sparkContext.defaultParallelism), 1)
    except AttributeError:
        # Of a session by Spark Connect, all that is known is what it says of shuffles.
        return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)


def _once(envelopes: DataFrame, reading: Reading) -> DataFrame:
    """The documents, each marked that has the stream and the id of an earlier one that can be read
    (`again`)."""
    # Few ids come again: their names are looked at first, without the documents.
    name = F.xxhash64("stream", "id").alias("name")
    names = envelopes.select(name).groupBy("name").count().where("count > 1").select("name")
    some = envelopes.withColumn("name", name).join(F.broadcast(names), "name", "left_semi")
    # By a shuffle few rows are few tasks.
    some = some.select(*envelopes.columns, F.lit(False).alias("again")).repartition("stream", "id")
    some = some.mapInArrow(reading.readable, some.schema)
    said = F.struct("timestamp", F.xxhash64("xml", "json", "start").alias("body"))
    several = F.broadcast(some.groupBy("stream", "id").agg(F.min(said).alias("first")))
    marked = envelopes.join(several, ["stream", "id"], "left")
    again = F.coalesce(said > F.col("first"), F.lit(False)).alias("again")
    return marked.select(*envelopes.columns, again)


Times = tuple[int, int, Sequence[int]]
"""The earliest time, the latest, and the hundredths between them."""


def batch_cells(group: Group, times: Callable[[], Times], tasks: int) -> Cells:
    """The cells of a batch for some queries, given how to look at the times of the documents."""
    needs = group.needs
    if needs.width == 1 and not (needs.timed or needs.derived):
        return Subsets(tasks, 1)
    if needs.reach is not None and (slices := _slices(needs, times(), tasks)) is not None:
        return slices
    if needs.key is not None:
        return Keys(needs.key, _SLICES * tasks)
    # The documents behind a published result are not known to a task of another part.
    alone = tasks == 1 or needs.derived or needs.timed
    return Subsets(1, 1) if alone else Subsets.for_tasks(tasks, needs.width)


def _times(envelopes: DataFrame) -> Times:
    hundredths = F.array(*(F.lit(i / 100) for i in range(1, 100)))
    time = F.col("timestamp")
    row = envelopes.agg(
        F.min(time), F.max(time), F.percentile_approx(time, hundredths, 1_000)
    ).first()
    if row is None or row[0] is None:
        return 0, 0, []
    return int(row[0]), int(row[1]), [int(one) for one in row[2]]


def _slices(needs: Needs, times: Times, tasks: int) -> TimeSlices | None:
    """Slices with as many documents each, and longer than what a match needs; None where not two
    are."""
    assert needs.reach is not None
    earliest, latest, hundredths = times
    slices = min(_SLICES * tasks, 100, (latest - earliest) // max(needs.reach, 1))
    if slices < 2:
        return None
    bounds = sorted({hundredths[i * 100 // slices - 1] for i in range(1, slices)})
    return TimeSlices(tuple(bounds), needs.reach)


@dataclass(frozen=True)
class Evaluation:
    """Rows of documents in order of their cells, then of time, into rows of `FOUND`, for
    `mapInArrow`."""

    queries: Queries
    parts: Sequence[Part]
    grouped: bool
    results: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (
            row
            for batch in batches
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        )
        for cell, of_cell in groupby(rows, key=itemgetter(0)):
            yield from self._evaluate(cell, (row[1:] for row in of_cell))

    def _evaluate(self, cell: int, rows: Iterable[tuple[Any, ...]]) -> Iterator[pa.RecordBatch]:
        part = part_of(self.parts, cell)
        engine = engine_for(self.queries, part.group)
        found = CellRows(part, cell - part.first, self.grouped, self.results)
        stopped = True
        try:
            documents = found.good(rows)
            steps = self._steps(engine, found, documents)
            for some in _standing(steps) if part.group.revising else steps:
                yield from found.rows(some)
            stopped = found.stopped(engine)
        finally:
            if stopped:
                dismiss(engine)
            else:
                engine.clear()
        yield found.rest()

    def _steps(
        self, engine: Engine, found: CellRows, documents: Iterator[tuple[Any, ...]]
    ) -> Iterator[Found]:
        """What each batch of a cell finds, and its end."""
        while some := list(islice(documents, _BATCH)):
            yield found.publish(engine, [envelope(*one[:6], decoded=found.timed) for one in some])
        if found.timed:
            yield engine.flush()


def _standing(steps: Iterable[Found]) -> Iterator[Found]:
    """The matches that nothing has taken back at the end of a cell."""
    standing: dict[str, Match] = {}
    for found in steps:
        assert not isinstance(found, MatchGroups)
        for one in found:
            if one.retracts:
                standing.pop(one.id, None)
            else:
                standing[one.id] = one
    yield [*standing.values()]
