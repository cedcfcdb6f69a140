"""Queries over a streaming DataFrame: each batch of a cell's documents meets those before it.

Documents are read where they come, brought into their cells, and met there by those that Spark's
state store has of the cell (`transformWithState`).  A match comes out in the batch that completes
it; a batch that is made again finds the same, so that any sink that writes a batch once writes each
match once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from xscl.engine.engine import Engine
from xscl.errors import StateError, XSCLError
from xscl.spark.columns import spark_columns
from xscl.spark.joins.cells import Cells, Keys, Subsets
from xscl.spark.joins.columns import FOUND, envelopes_of
from xscl.spark.joins.documents import Part, Reading, part_of, parts_of, warn_of_one_cell
from xscl.spark.joins.live_cells import (
    LiveCell,
    Portion,
    PortionId,
    Revision,
    clock_of,
    packed,
    steps_of,
)
from xscl.spark.joins.matches import CellRows
from xscl.spark.joins.needs import MIDDLE, Needs
from xscl.spark.joins.plan import Group, Queries, groups_of

__all__ = ["TASKS", "Dealing", "join_stream", "kinds_of", "stream_cells", "stream_kind", "tasks_of"]

TASKS = "spark.xscl.join.tasks"
"""The setting of Spark for how many tasks share the cells of a stream.  It stays as it is for the
life of a checkpoint."""

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_LIVE: dict[str, LiveCell] = {}
"""The cells that this process has evaluated, by what distinguishes each from all others: the next
batch may be another process', after which this one follows from where it is."""
_MOST = 16

_DEALT = pa.schema(
    [
        ("kind", pa.string()),
        ("cell", pa.int32()),
        ("clock", pa.int64()),
        ("documents", pa.binary()),
    ]
)
"""What a cell of a kind gets: a portion of documents, packed, or the time (microseconds)."""


def join_stream(
    documents: DataFrame,
    revisions: Sequence[Revision],
    *,
    lateness: int | None,
    grouped: bool,
    results: bool,
) -> DataFrame:
    """What is found, as rows of `FOUND`; `lateness` is in microseconds."""
    envelopes = envelopes_of(documents)
    queries = revisions[-1].queries
    spark = documents.sparkSession
    if spark.conf.get(_PROVIDER, None) != _ROCKSDB:
        spark.conf.set(_PROVIDER, _ROCKSDB)
    tasks = tasks_of(spark.conf.get(TASKS, None))
    with queries.engine(0) as engine:
        groups = _groups(engine, tasks)
    parts = parts_of(groups, lambda group: stream_cells(group, tasks))
    if tasks > 1:
        warn_of_one_cell(parts)
    marked = envelopes.withColumn("again", F.lit(False))
    portions = marked.mapInArrow(
        Dealing(Reading(queries, parts)),
        spark_columns(_DEALT),
    )
    found = portions.groupBy("kind", "cell").transformWithState(
        _Cells(tuple(revisions), tuple(parts), lateness, grouped, results),
        outputStructType="found BINARY",
        outputMode="append",
        timeMode="none",
    )
    return found.mapInArrow(_Unpacking(grouped), spark_columns(FOUND[grouped]))


def tasks_of(setting: str | None) -> int:
    """What `TASKS` is set to; raises XSCLError.

    >>> tasks_of(None), tasks_of("4")
    (1, 4)
    """
    try:
        tasks = int(setting or 1)
    except ValueError:
        tasks = 0
    if tasks < 1:
        raise XSCLError(f"{TASKS} is {setting!r}; expected a whole number, 1 or more")
    return tasks


def stream_cells(group: Group, tasks: int) -> Cells:
    """The cells of a stream for some queries; raises XSCLError where these cannot be there."""
    needs = group.needs
    if group.revising:
        raise XSCLError(MIDDLE)
    if tasks > 1 and needs.key is not None:
        return Keys(needs.key, tasks)
    alone = tasks == 1 or needs.derived or needs.timed
    return Subsets(1, 1) if alone else Subsets.for_tasks(tasks, needs.width)


def kinds_of(queries: Queries, tasks: int) -> dict[str, str]:
    """The kind of the group that each query is in, by its name: its cells are identified by it."""
    found: dict[str, str] = {}
    with queries.engine(0) as engine:
        for group in _groups(engine, tasks):
            names = group.queries or [one.name for one in engine.subscriptions]
            found.update(dict.fromkeys(names, group.kind))
    return found


def _groups(engine: Engine, tasks: int) -> list[Group]:
    return groups_of(engine, lambda needs: stream_kind(needs, tasks))


def stream_kind(needs: Needs, tasks: int) -> str:
    """What queries have in common that are evaluated over the same cells of a stream; cells are
    identified by it from run to run."""
    return needs.bounded if tasks == 1 else needs.said


@dataclass(frozen=True)
class Dealing:
    """Rows of envelopes into portions for all cells, for `mapInArrow`; each cell gets to see the
    time, also where it gets no documents."""

    reading: Reading

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        clock: int | None = None
        seen = False
        for rows, times in self.reading.read(batches):
            seen = seen or bool(rows) or bool(times)
            latest = clock_of(times)
            if latest is not None:
                clock = latest if clock is None else max(clock, latest)
            dealt: dict[int, list[tuple[Any, ...]]] = {}
            for cells, *row in rows:
                for cell in cells:
                    dealt.setdefault(cell, []).append(tuple(row))
            if dealt:
                yield self._batch((cell, None, packed([some])) for cell, some in dealt.items())
        if seen:
            last = self.reading.parts[-1]
            every = range(last.first + last.cells.count)
            yield self._batch((cell, clock, None) for cell in every)

    def _batch(self, portions: Iterable[tuple[int, int | None, bytes | None]]) -> pa.RecordBatch:
        rows = []
        for number, clock, documents in portions:
            part = part_of(self.reading.parts, number)
            kind, cell = part.group.kind, number - part.first
            rows.append({"kind": kind, "cell": cell, "clock": clock, "documents": documents})
        return pa.RecordBatch.from_pylist(rows, schema=_DEALT)


class _Cells(StatefulProcessor):
    """The cells of a stream, each by its portions in the state store."""

    def __init__(
        self,
        revisions: Sequence[Revision],
        parts: Sequence[Part],
        lateness: int | None,
        grouped: bool,
        results: bool,
    ) -> None:
        self._revisions = revisions
        self._parts = parts
        self._lateness = lateness
        self._grouped = grouped
        self._results = results

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._as_is = handle.getValueState("cell", "name STRING, layout STRING, clock BIGINT")
        self._portions = handle.getMapState(
            "portions",
            "number BIGINT, attempt STRING",
            "latest BIGINT, revision INT, documents BINARY",
        )

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        kind, cell = str(key[0]), int(key[1])
        part = next(one for one in self._parts if one.group.kind == kind)
        documents: list[tuple[Any, ...]] = []
        clock: int | None = None
        for row in rows:
            if row["documents"] is not None:
                documents += chain.from_iterable(steps_of(bytes(row["documents"])))
            if row["clock"] is not None:
                clock = row["clock"] if clock is None else max(clock, row["clock"])
        name, live = self._live(part, cell)
        found = CellRows(part, cell, self._grouped, self._results)
        new, gone, batches = live.take(documents, clock, found)
        for one in new:
            portion = live.portions[one]
            values = (portion.latest, portion.revision, portion.documents)
            self._portions.updateValue(one, values)
        for old in gone:
            self._portions.removeKey(old)
        self._as_is.update((name, repr(part.cells), live.clock))
        for some in batches:
            if some.num_rows:
                yield Row(found=_bytes_of(some))

    def close(self) -> None:
        """Nothing is open."""

    def _live(self, part: Part, cell: int) -> tuple[str, LiveCell]:
        """The cell as the state store has it, from where this process is."""
        name, layout, clock = self._as_is.get() or (uuid.uuid4().hex, repr(part.cells), None)
        if layout != repr(part.cells):
            raise StateError(
                f"the checkpoint is of a stream dealt into {layout}, and is now to be dealt into "
                f"{part.cells!r}: set {TASKS} as it was, or begin with a new checkpoint"
            )
        keys = self._portions.keys()
        stored = {(int(number), str(attempt)) for number, attempt in keys}
        live = _LIVE.pop(name, None)
        if live is None or live.made_for != (self._revisions, part, self._lateness):
            live = LiveCell(self._revisions, part, cell, self._lateness)
        if not live.follow(clock, stored, self._stored):
            live.close()
            live = LiveCell(self._revisions, part, cell, self._lateness)
            live.follow(clock, stored, self._stored)
        _LIVE[name] = live
        while len(_LIVE) > _MOST:
            _LIVE.pop(next(iter(_LIVE))).close()
        return name, live

    def _stored(self, one: PortionId) -> Portion:
        portion = self._portions.getValue(one)
        assert portion is not None, one
        latest, revision, documents = portion
        return Portion(int(latest), int(revision), bytes(documents))


def _bytes_of(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


@dataclass(frozen=True)
class _Unpacking:
    """Packed rows of `FOUND`, for `mapInArrow`."""

    grouped: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for some in batch.column(0).to_pylist():
                with pa.ipc.open_stream(some) as reader:
                    yield from reader
