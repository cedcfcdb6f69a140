"""Batches and streams cut into cells as on Spark, without it: the same rows through the same code,
shuffled by hand."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from xscl.spark.columns import batch_of
from xscl.spark.joins.batch import Evaluation, Times, batch_cells, batch_kind
from xscl.spark.joins.columns import READ
from xscl.spark.joins.documents import Part, Reading, parts_of
from xscl.spark.joins.live_cells import LiveCell, Portion, PortionId, Revision, steps_of
from xscl.spark.joins.matches import CellRows
from xscl.spark.joins.plan import Queries, groups_of
from xscl.spark.joins.stream import Dealing, stream_cells, stream_kind

__all__ = ["as_a_batch", "as_a_stream", "parts_of_batch"]

_SECOND = 1_000_000
_ENVELOPE = pa.schema(
    [
        *((name, pa.string()) for name in ("stream", "id")),
        ("timestamp", pa.int64()),
        ("start", pa.int64()),
        *((name, pa.string()) for name in ("xml", "json", "problem")),
        ("again", pa.bool_()),
    ]
)

Event = dict[str, Any]


def parts_of_batch(
    queries: Queries, times: Sequence[int], tasks: int, *, grouped: bool = False
) -> list[Part]:
    """The cells of a batch whose documents have these times (microseconds)."""
    ordered = sorted(times)
    hundredths = [ordered[place * len(ordered) // 100] for place in range(1, 100)]
    of_batch: Times = (ordered[0], ordered[-1], hundredths)
    with queries.engine(0) as engine:
        groups = groups_of(engine, lambda needs: batch_kind(needs, tasks, grouped=grouped))
    return parts_of(groups, lambda group: batch_cells(group, lambda: of_batch, tasks))


def as_a_batch(
    texts: Sequence[str], events: Sequence[Event], tasks: int, *, grouped: bool = False
) -> list[dict[str, Any]]:
    """The rows of matches of a batch for so many tasks, and of what is skipped."""
    queries = Queries.of(texts)
    envelopes = _envelopes(events)
    times = envelopes.column("timestamp").to_pylist()
    parts = parts_of_batch(queries, times, tasks, grouped=grouped)
    rows = [
        (cell, *row)
        for read, _ in Reading(queries, parts).read([envelopes])
        for cells, *row in read
        for cell in cells
    ]
    rows.sort(key=lambda row: (row[0], row[3], row[1], row[2]))
    schema = pa.schema([("cell", pa.int64()), *[*READ][1:]])
    evaluation = Evaluation(queries, parts, grouped, True)
    return [row for some in evaluation([batch_of(rows, schema)]) for row in some.to_pylist()]


@dataclass
class _Stored:
    """What the state store has of a cell."""

    portions: dict[PortionId, Portion] = field(default_factory=dict)
    clock: int | None = None
    live: LiveCell | None = None


def as_a_stream(
    texts: Sequence[str],
    batches: Sequence[Sequence[Event]],
    tasks: int,
    lateness: int,
    dice: random.Random,
    *,
    grouped: bool = False,
) -> list[dict[str, Any]]:
    """The rows of a stream of some batches; `lateness` is in microseconds.  Now and then another
    process has a cell, which makes it from what is stored."""
    queries = Queries.of(texts)
    revisions = (Revision(queries),)
    with queries.engine(0) as engine:
        groups = groups_of(engine, lambda needs: stream_kind(needs, tasks))
    parts = parts_of(groups, lambda group: stream_cells(group, tasks))
    store: defaultdict[tuple[str, int], _Stored] = defaultdict(_Stored)
    found: list[dict[str, Any]] = []
    for batch in batches:
        dealt: defaultdict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
        for some in Dealing(Reading(queries, parts))([_envelopes(batch)]):
            for row in some.to_pylist():
                dealt[row["kind"], row["cell"]].append(row)
        for (kind, cell), rows in dealt.items():
            part = next(one for one in parts if one.group.kind == kind)
            documents = [
                one
                for row in rows
                if row["documents"] is not None
                for step in steps_of(row["documents"])
                for one in step
            ]
            clock = max((row["clock"] for row in rows if row["clock"] is not None), default=None)
            stored = store[kind, cell]
            live = stored.live
            if live is None or dice.random() < 0.4:
                live = LiveCell(revisions, part, cell, lateness)
            assert live.follow(stored.clock, {*stored.portions}, stored.portions.__getitem__)
            to = CellRows(part, cell, grouped, True)
            new, gone, results = live.take(documents, clock, to)
            for one in gone:
                del stored.portions[one]
            stored.portions.update((one, live.portions[one]) for one in new)
            stored.clock, stored.live = live.clock, live
            found += [row for some in results for row in some.to_pylist()]
    return found


def _envelopes(events: Sequence[Event]) -> pa.RecordBatch:
    rows = [
        (
            *(event["stream"], event["id"], round(event["timestamp"] * _SECOND)),
            round(event["start"] * _SECOND) if "start" in event else None,
            *(event.get("xml"), json.dumps(event["json"]) if "json" in event else None),
            *(None, False),
        )
        for event in events
    ]
    return batch_of(rows, _ENVELOPE)
