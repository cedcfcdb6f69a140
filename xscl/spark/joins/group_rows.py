"""Match groups as rows of `FOUND`, a range of documents at a time: an item of a feed may have
thousands of partners, and none of these pairs is an object."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from xscl.documents.document import Document
from xscl.evaluation.groups.match_groups import GroupRange
from xscl.matches.match import Match
from xscl.matches.result_forms import dumps
from xscl.spark.joins.cells import Cells, Keys
from xscl.spark.joins.columns import FOUND

__all__ = ["GroupRows"]

_ROWS = 50_000
"""Rows in a batch of Arrow, as far as a range is not longer."""


@dataclass
class GroupRows:
    """The rows of one cell; it has said which queries the channels `_said` stand for."""

    cells: Cells
    cell: int
    _channels: dict[tuple[str, ...], str] = field(default_factory=dict)
    _said: set[str] = field(default_factory=set)

    def of(self, ranges: Iterable[GroupRange]) -> Iterator[pa.RecordBatch]:
        """The rows of what the cell owns of some ranges."""
        by_width: defaultdict[int, list[GroupRange]] = defaultdict(list)
        rows: defaultdict[int, int] = defaultdict(int)
        for some in ranges:
            width = len(some.before) + 1 + len(some.after)
            by_width[width].append(some)
            rows[width] += len(some.others)
            if rows[width] >= _ROWS:
                rows[width] = 0
                yield self._batch(by_width.pop(width), width)
        for width, left in by_width.items():
            yield self._batch(left, width)

    def of_matches(self, matches: Iterable[Match]) -> Iterator[Mapping[str, object]]:
        """The rows of matches of queries of events, by column."""
        names: defaultdict[tuple[object, ...], list[str]] = defaultdict(list)
        for one in matches:
            moment = round(one.time * 1_000_000)
            names[one.documents, one.streams, moment].append(one.query)
        for (documents, streams, time), of_one in names.items():
            queries = sorted({*of_one})
            channel = self._channel(queries)
            new = channel not in self._said
            self._said.add(channel)
            yield {
                "documents": documents,
                "streams": streams,
                "time": time,
                "matches": len(of_one),
                "channel": channel,
                "queries": queries if new else None,
            }

    def _batch(self, ranges: Sequence[GroupRange], width: int) -> pa.RecordBatch:
        """The rows of ranges of tuples of so many documents."""
        lengths = [len(some.others) for some in ranges]
        numbers = np.empty((sum(lengths), width), dtype=np.int64)
        documents: dict[int, Document] = {}
        held: Mapping[int, Document] = documents
        end = 0
        for some, length in zip(ranges, lengths, strict=True):
            begin, end = end, end + length
            place = len(some.before)
            numbers[begin:end, place] = some.others
            if len(some.held) > length:
                held = some.held  # the engine's own
            else:
                documents.update(some.held)
            for column, document in enumerate(some.before):
                numbers[begin:end, column] = document.number
                documents[document.number] = document
            for column, document in enumerate(some.after, place + 1):
                numbers[begin:end, column] = document.number
                documents[document.number] = document
        distinct, places = np.unique(numbers, return_inverse=True)
        each = [documents.get(number) or held[number] for number in distinct.tolist()]
        places = places.reshape(-1, width)
        times = np.array([one.time for one in each], dtype=np.int64)[places].max(axis=1)
        assert not isinstance(self.cells, Keys)  # which joins have not
        owned = np.flatnonzero(
            self.cells.owners([(one.source, one.id) for one in each], places, times) == self.cell
        )
        places, times = places[owned].ravel(), times[owned]
        offsets = pa.array(np.arange(0, len(places) + 1, width, dtype=np.int32))
        columns = {
            "documents": pa.array([one.id for one in each], pa.string()),
            "streams": pa.array([one.source for one in each], pa.string()),
        }
        values: dict[str, pa.Array] = {
            name: pa.ListArray.from_arrays(offsets, texts.take(pa.array(places)))
            for name, texts in columns.items()
        }
        values["time"] = pa.array(times).cast(pa.timestamp("us", tz="UTC"))
        of_range = np.repeat(np.arange(len(ranges)), lengths)[owned]
        values["matches"] = pa.array(np.array([some.queries.count for some in ranges])[of_range])
        # Ranges of one channel have one sequence, of maybe thousands: it is looked through once.
        names = {id(some.queries.names): some.queries.names for some in ranges}
        of_names = {key: self._channel(some) for key, some in names.items()}
        channels = [of_names[id(some.queries.names)] for some in ranges]
        values["channel"] = pa.array(channels, pa.string()).take(pa.array(of_range))
        values["queries"] = self._queries(channels, ranges, of_range)
        schema = FOUND[True]
        arrays = [
            values.get(one.name, pa.nulls(len(owned), one.type)).cast(one.type) for one in schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _queries(
        self, channels: Sequence[str], ranges: Sequence[GroupRange], of_range: np.ndarray
    ) -> pa.Array:
        """The names of a channel's queries in its first row, nulls in the others."""
        names: list[Sequence[str] | None] = [None] * len(of_range)
        for index, first in zip(*np.unique(of_range, return_index=True), strict=True):
            channel = channels[index]
            if channel not in self._said:
                self._said.add(channel)
                names[first] = tuple(ranges[index].queries.names)
        return pa.array(names, pa.list_(pa.string()))

    def _channel(self, queries: Sequence[str]) -> str:
        """The channel of some queries."""
        names = tuple(queries)
        found = self._channels.get(names)
        if found is None:
            said = dumps(names).encode()
            found = self._channels[names] = hashlib.blake2b(said, digest_size=16).hexdigest()
        return found
