"""What an engine finds in a cell, as rows of `FOUND`: only what the cell owns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from xscl.engine.engine import Engine
from xscl.evaluation.groups.match_groups import GroupRange, MatchGroups
from xscl.matches.match import Match
from xscl.matches.result_forms import dumps
from xscl.spark.columns import batch_of
from xscl.spark.joins.cells import owns
from xscl.spark.joins.columns import DUPLICATE, FOUND
from xscl.spark.joins.documents import Part
from xscl.spark.joins.engines import stops_of
from xscl.spark.joins.group_rows import GroupRows

__all__ = ["CellRows"]

_ROWS = 20_000
"""Rows in a batch of Arrow."""
_SIZE = 64 << 20
"""Characters from which a batch has no more rows."""

_NOT_SKIPPED = (None, None, None)

Found = Iterable[Match] | MatchGroups

Document = tuple[Any, ...]
"""A row of `READ`, without its cells."""


@dataclass
class CellRows:
    """Rows of what is found in one cell of a part, by joins or by queries of events."""

    part: Part
    cell: int
    grouped: bool
    results: bool
    skipped: Counter[str] = field(default_factory=Counter)
    _rows: list[tuple[object, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._groups = GroupRows(self.part.cells, self.cell)

    @property
    def timed(self) -> bool:
        """Whether queries are of events."""
        return self.part.group.needs.timed

    def publish(self, engine: Engine, envelopes: Sequence[object]) -> Found:
        """Publishes documents as one batch."""
        if self.grouped and not self.timed:
            return engine.publish_many(envelopes, grouped=True)
        return engine.publish_many(envelopes)

    def stopped(self, engine: Engine) -> bool:
        """Notes the queries that needed too much and were stopped; whether there are any."""
        stops = stops_of(engine)
        for one in stops:
            self._skip(str(one), 0)
        return bool(stops)

    def rows(self, found: Found) -> Iterator[pa.RecordBatch]:
        """The rows of what the cell owns of what was found."""
        if isinstance(found, MatchGroups):
            ranges = (some for some in found.ranges if isinstance(some, GroupRange))
            yield from self._groups.of(ranges)
            return
        if self.grouped:
            owned = (match for match in found if self._owns(match))
            rows = self._named(self._groups.of_matches(owned))
        else:
            rows = self._match_rows(found)
        some: list[tuple[object, ...]] = []
        size = 0
        for row in rows:
            some.append(row)
            size += sum([len(one) for one in row if type(one) is str])
            if len(some) >= _ROWS or size >= _SIZE:
                yield self._batch(some)
                some, size = [], 0
        if some:
            yield self._batch(some)

    def good(self, rows: Iterable[Document]) -> Iterator[Document]:
        """The documents of some rows that can be read, each once of those with one stream, id and
        time, which are neighbours."""
        last: Sequence[object] = ()
        for row in rows:
            stream, id, time, _, xml, json, problem = row
            if problem is not None and problem != DUPLICATE:
                body = json if xml is None else xml
                self._skip(problem, 1, body, documents=[id], streams=[stream], time=time)
            elif problem is None and last != (stream, id, time):
                last = (stream, id, time)
                yield row
            elif problem is not None or self._counts(row):
                self.skipped[DUPLICATE] += 1

    def skip(self, problem: str, row: Document) -> None:
        """Counts a document that is skipped, if it is this cell that counts it."""
        if self._counts(row):
            self.skipped[problem] += 1

    def rest(self) -> pa.RecordBatch:
        """The rows of what was skipped."""
        for problem, count in self.skipped.items():
            self._skip(problem, count)
        return self._batch(self._rows)

    def _skip(self, problem: str, count: int, body: str | None = None, **columns: object) -> None:
        values = {"skipped": problem, "count": count, "body": body, **columns}
        self._rows += self._named([values])

    def _batch(self, rows: Sequence[tuple[object, ...]]) -> pa.RecordBatch:
        return batch_of(rows, FOUND[self.grouped])

    def _owns(self, match: Match) -> bool:
        places = zip(match.streams, match.documents, strict=True)
        return owns(self.part.cells, self.cell, places, round(match.time * 1_000_000))

    def _counts(self, row: Document) -> bool:
        stream, id, time, *_ = row
        mine = stream in self.part.counted
        return mine and owns(self.part.cells, self.cell, [(stream, id)], time)

    def _named(self, rows: Iterable[Mapping[str, object]]) -> Iterator[tuple[object, ...]]:
        """Rows with all columns."""
        names = FOUND[self.grouped].names
        return (tuple(row.get(name) for name in names) for row in rows)

    def _match_rows(self, matches: Iterable[Match]) -> Iterator[tuple[object, ...]]:
        for match in matches:
            if not self._owns(match):
                continue
            result: object = None
            # All that a match of no documents has is its result.
            if self.results or not match.documents:
                result = dumps(match.result) if match.json else match.markup
            start = match.start
            yield (
                *(match.id, match.query, match.stream, round(match.time * 1_000_000)),
                *(match.documents, match.streams, match.nodes, [*match.bindings.items()], result),
                None if start is None else round(start * 1_000_000),
                match.variables or None,
                *_NOT_SKIPPED,
            )
