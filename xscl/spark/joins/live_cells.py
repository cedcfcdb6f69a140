"""A cell of a stream, from batch to batch: its engine, and the documents to make it from again.

What Spark keeps of a cell are the documents that may still match something, in the portions in
which they came.  The engine is not kept: a process that evaluated the cell's last batch has it
still, any other publishes the portions again, as they came, each under the queries of its time.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any

import pyarrow as pa

from xscl.engine.engine import Engine
from xscl.matches.match import Match
from xscl.spark.columns import batch_of
from xscl.spark.joins.columns import DUPLICATE, LATE, READ
from xscl.spark.joins.documents import Part, envelope
from xscl.spark.joins.engines import new_engine
from xscl.spark.joins.matches import CellRows
from xscl.spark.joins.plan import Queries
from xscl.times import earlier, now, to_seconds

__all__ = ["LiveCell", "Portion", "PortionId", "Revision", "clock_of", "packed", "steps_of"]

_DAY = 86_400_000_000
_LAST = 1 << 62
"""A time after all others."""
_PORTIONS = 256
"""So many portions of a cell may be small."""
_LARGE = 1 << 20
"""Bytes from which a portion is not."""
_ROWS = pa.schema([*READ][1:])
_PACKING = pa.ipc.IpcWriteOptions(compression="lz4")

Row = tuple[Any, ...]
"""A row of `READ`, without its cells."""

PortionId = tuple[int, str]
"""The number of a portion in its cell, and what distinguishes it from that of another attempt."""


@dataclass(frozen=True)
class Revision:
    """All queries from some time on, and the names of those before that ended or changed then."""

    queries: Queries
    cancelled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Portion:
    """Documents that a batch brought, or some batches one after the other: their latest time, the
    number of the revision of the queries that they met, and their rows, packed."""

    latest: int
    revision: int
    documents: bytes


@dataclass
class LiveCell:
    """A cell as it is after some batches; `clock` is the latest time that the stream has shown, in
    any of its cells."""

    revisions: Sequence[Revision]
    part: Part
    cell: int
    lateness: int | None
    clock: int | None = None
    portions: dict[PortionId, Portion] = field(default_factory=dict)
    _ids: dict[tuple[str, str], PortionId] = field(default_factory=dict)
    _engine: Engine | None = None
    _revision: int = -1

    def follow(
        self,
        clock: int | None,
        stored: Collection[PortionId],
        load: Callable[[PortionId], Portion],
    ) -> bool:
        """Becomes what these portions and this clock make of it, where it is on the way there;
        returns whether it was."""
        if self.clock is not None and (clock is None or clock < self.clock):
            # Its last batch is made again, and may have brought nothing but time.
            return False
        self.clock = clock
        self._let_go()
        if any(one not in stored for one in self.portions):
            # Its last batch was made again elsewhere.
            return False
        found = CellRows(self.part, self.cell, grouped=True, results=False)
        new: list[tuple[Portion, list[int]]] = []
        for one in sorted(stored):
            if one not in self.portions:
                portion = load(one)
                some = steps_of(portion.documents)
                self._note(one, portion, chain.from_iterable(some))
                # Their rows are unpacked again below: all at once may be too many.
                new.append((portion, [min((r[2] for r in rows), default=_LAST) for rows in some]))
        earliest = [time for _, times in new for time in times]
        coming = [*accumulate(reversed(earliest), min)][::-1]
        laters = iter([*coming[1:], _LAST])
        for portion, _ in new:
            for rows in steps_of(portion.documents):
                decoded = [envelope(*row[:6], decoded=found.timed) for row in rows]
                found.publish(self._at(portion.revision), decoded)
                if (later := next(laters)) < _LAST:
                    # What was to come was not late: at least as much is decided as was then.
                    self._pass(before=later)
        self._pass()
        return True

    def take(
        self, rows: Iterable[Row], clock: int | None, found: CellRows
    ) -> tuple[list[PortionId], list[PortionId], list[pa.RecordBatch]]:
        """Ingests the documents of a batch, after which the stream's clock is this.

        Returns the portions that are new, and those that are of no use any more, as the store is to
        have them; and what the cell finds.
        """
        in_order = sorted(rows, key=lambda row: (row[2] or 0, row[0], row[1] or ""))
        good, coming = list[Row](), set[tuple[str, str]]()
        for row in found.good(in_order):
            if row[:2] in coming:
                found.skip(DUPLICATE, row)
            elif self._is_new(row, found):
                coming.add(row[:2])
                good.append(row)
        before = {*self.portions}
        batches: list[pa.RecordBatch] = []
        revision = len(self.revisions) - 1
        engine = self._at(revision)
        if good:
            number = 1 + max((number for number, _ in self.portions), default=0)
            latest = max(row[2] for row in good)
            self._note(_named(number), Portion(latest, revision, packed([good])), good)
            batches += found.rows(
                found.publish(engine, [envelope(*row[:6], decoded=found.timed) for row in good])
            )
        if clock is not None and (self.clock is None or clock > self.clock):
            self.clock = clock
        batches += found.rows(self._pass())
        found.stopped(engine)
        batches.append(found.rest())
        self._let_go()
        self._merge()
        return sorted(self.portions.keys() - before), sorted(before - {*self.portions}), batches

    @property
    def made_for(self) -> tuple[Sequence[Revision], Part, int | None]:
        """What it is under, but for the documents."""
        return self.revisions, self.part, self.lateness

    def close(self) -> None:
        """Closes its engine."""
        if self._engine is not None:
            self._engine.close()

    def _is_new(self, row: Row, found: CellRows) -> bool:
        """Whether a document is neither late nor one that came in an earlier batch."""
        stream, id, time = row[:3]
        watermark = self._watermark
        if watermark is not None and time < watermark:
            found.skip(LATE, row)
        elif (stream, id) in self._ids:
            found.skip(DUPLICATE, row)
        else:
            return True
        return False

    @property
    def _watermark(self) -> int | None:
        return None if self.clock is None or self.lateness is None else self.clock - self.lateness

    def _at(self, revision: int) -> Engine:
        """The engine, with the queries of a revision."""
        if self._engine is None:
            self._revision = revision
            # What is late is judged by the clock of the stream, which `_pass` lets it see.
            self._engine = new_engine(self.revisions[revision].queries, self.part.group, None)
        while self._revision < revision:
            self._revision += 1
            new = self.revisions[self._revision]
            for name in new.cancelled:
                if any(one.name == name for one in self._engine.subscriptions):
                    self._engine.cancel(name)
            new.queries.load_missing(self._engine)
            self.part.group.keep_to(self._engine)
        return self._engine

    def _pass(self, before: int | None = None) -> Sequence[Match]:
        """Lets the engine see the time, which may have gone on in other cells, but only that before
        one; returns the matches that waited for it."""
        watermark = self._watermark
        if self._engine is None or watermark is None:
            return ()
        if before is not None:
            watermark = min(watermark, before - 1)
        return self._engine.advance(earlier(to_seconds(watermark)))

    def _note(self, one: PortionId, portion: Portion, rows: Iterable[Row]) -> None:
        """Notes a portion of some rows."""
        self.portions[one] = portion
        self._ids.update(dict.fromkeys([(row[0], row[1]) for row in rows], one))

    def _let_go(self) -> None:
        """Evicts the portions that nothing can reach any more."""
        watermark, reach = self._watermark, self.part.group.needs.reach
        if watermark is None or reach is None:
            return
        gone = [n for n, portion in self.portions.items() if portion.latest + reach < watermark]
        if gone:
            for one in gone:
                del self.portions[one]
            self._ids = {name: n for name, n in self._ids.items() if n in self.portions}

    def _merge(self) -> None:
        """Makes one portion of many small ones that came one after the other: each batch looks
        through the list of all."""
        if len(self.portions) <= _PORTIONS:
            return
        small: list[PortionId] = []
        for one in sorted(self.portions):
            portion = self.portions[one]
            large = len(portion.documents) >= _LARGE
            if small and (large or portion.revision != self.portions[small[0]].revision):
                if len(small) > 1:
                    break
                small = []
            if not large:
                small.append(one)
            if len(small) == _PORTIONS // 2:
                break
        if len(small) < 2:
            return
        merged = [self.portions.pop(one) for one in small]
        steps = [rows for portion in merged for rows in steps_of(portion.documents)]
        latest = max(portion.latest for portion in merged)
        portion = Portion(latest, merged[0].revision, packed(steps))
        self._note(_named(small[0][0]), portion, chain.from_iterable(steps))


def _named(number: int) -> PortionId:
    return number, uuid.uuid4().hex


def clock_of(times: Iterable[int]) -> int | None:
    """The latest of some times, without those that are a day and more ahead of the clock: one that
    is wrong must not make all others late."""
    latest = now() + _DAY
    return max((time for time in times if time <= latest), default=None)


def packed(steps: Iterable[Sequence[Row]]) -> bytes:
    """Rows as bytes; those of each step stay together."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _ROWS, options=_PACKING) as writer:
        for rows in steps:
            writer.write_batch(batch_of(rows, _ROWS))
    return bytes(sink.getvalue())


def steps_of(documents: bytes) -> list[list[Row]]:
    """The rows that were packed, by step."""
    with pa.ipc.open_stream(documents) as reader:
        return [
            list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
            for batch in reader
        ]
