"""What an engine finds in a cell, as rows of `FOUND`: only what the cell owns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa

from xscl.engine.engine import Engine
from xscl.evaluation.match_groups import GroupRange, MatchGroups
from xscl.matches.match import Match
from xscl.matches.result_forms import dumps
from xscl.spark.columns import batch_of
from xscl.spark.joins.cells import Cells
from xscl.spark.joins.columns import DUPLICATE, FOUND
from xscl.spark.joins.group_rows import GroupRows

__all__ = ["CellRows"]

_ROWS = 20_000
"""Rows in a batch of Arrow."""

_NOT_SKIPPED = (None, None, None)

Found = list[Match] | MatchGroups

Document = tuple[Any, ...]
"""A row of `READ`, without its cells."""


@dataclass
class CellRows:
    """Rows of what is found in one cell of some cells."""

    cells: Cells
    cell: int
    grouped: bool
    results: bool
    skipped: Counter[str] = field(default_factory=Counter)
    _rows: list[tuple[object, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._groups = GroupRows(self.cells, self.cell)

    def publish(self, engine: Engine, envelopes: Sequence[object]) -> Found:
        """Publishes documents as one batch."""
        if self.grouped:
            return engine.publish_many(envelopes, grouped=True)
        return engine.publish_many(envelopes)

    def rows(self, found: Found) -> Iterator[pa.RecordBatch]:
        """The rows of what the cell owns of what was found."""
        if isinstance(found, MatchGroups):
            ranges = (some for some in found.ranges if isinstance(some, GroupRange))
            yield from self._groups.of(ranges)
            return
        rows = self._match_rows(found)
        while some := list(islice(rows, _ROWS)):
            yield self._batch(some)

    def good(self, rows: Iterable[Document], *, counting: bool) -> Iterator[Document]:
        """The documents of some rows that can be read, each once of those with one stream, id and
        time, which are neighbours; the others are `counting`'s to be said in `rest`."""
        last: Sequence[object] = ()
        for row in rows:
            stream, id, time, xml, json, problem = row
            if problem is not None and problem != DUPLICATE:
                body = json if xml is None else xml
                self._skip(problem, 1, body, documents=[id], streams=[stream], time=time)
            elif problem is None and last != (stream, id, time):
                last = (stream, id, time)
                yield row
            elif counting and self.cells.owner([(stream, id)], time) == self.cell:
                self.skipped[DUPLICATE] += 1

    def rest(self) -> pa.RecordBatch:
        """The rows of what was skipped."""
        for problem, count in self.skipped.items():
            self._skip(problem, count)
        return self._batch(self._rows)

    def _skip(self, problem: str, count: int, body: str | None = None, **columns: object) -> None:
        values = {"skipped": problem, "count": count, "body": body, **columns}
        self._rows.append(tuple(values.get(name) for name in FOUND[self.grouped].names))

    def _batch(self, rows: Sequence[tuple[object, ...]]) -> pa.RecordBatch:
        return batch_of(rows, FOUND[self.grouped])

    def _owns(self, documents: Sequence[str], streams: Sequence[str], time: int) -> bool:
        return self.cells.owner(zip(streams, documents, strict=True), time) == self.cell

    def _match_rows(self, matches: Iterable[Match]) -> Iterator[tuple[object, ...]]:
        for match in matches:
            time = round(match.time * 1_000_000)
            documents, streams = match.documents, match.streams
            if not self._owns(documents, streams, time):
                continue
            result: object = None
            if self.results:
                result = dumps(match.result) if match.json else match.markup
            yield (
                *(match.id, match.query, match.stream, time),
                *(documents, streams, match.nodes, [*match.bindings.items()], result),
                *_NOT_SKIPPED,
            )
