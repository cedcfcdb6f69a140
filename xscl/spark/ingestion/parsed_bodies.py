"""Bodies become parsed bodies, one row for one row: the items of a feed, packed, with the keys that
distinguish what is new of them; or one dead letter, packed likewise, where no item could be read.

Parsing is `mapInArrow`: each partition for itself, by the same reader as everywhere.  What is read
stays packed until it is known what of it is new, so that Spark's cache of a batch has one row a
body; `Unpacking` makes rows of it at the end.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from xscl.feeds import Item, NotAFeed, Rules, parse_feed
from xscl.feeds.dates import timestamp
from xscl.polling.news import SeenItem
from xscl.spark.ingestion.columns import PARSED, dead_letter, item_row
from xscl.spark.ingestion.known_items import packed_keys

__all__ = ["Parsing", "Unpacking"]

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Parsing:
    """Reads bodies into the items of a stream; a function for `mapInArrow`.

    With `updates`, each version of an item is a document of its own; `links` are the rules of the
    links' canonical form.
    """

    stream: str
    links: Rules
    updates: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Parsed bodies, in the order of the bodies."""
        for batch in batches:
            made = [self._parsed(row) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_arrays(
                [
                    batch.column("feed"),
                    batch.column("sequence"),
                    pa.array([keys for keys, _ in made], pa.binary()),
                    pa.array([pickle.dumps(rows, protocol=5) for _, rows in made], pa.binary()),
                ],
                schema=PARSED,
            )

    def _parsed(self, body: dict[str, Any]) -> tuple[bytes | None, list[Row]]:
        """The keys of a body's items, and their rows."""
        if body["body"] is None:
            return None, [dead_letter(body, body["problem"])]
        try:
            feed = parse_feed(
                body["body"],
                body["feed"],
                content_type=body["content_type"],
                base=body["url"],
                folders=body["folders"] or (),
                links=self.links,
            )
        except NotAFeed as error:
            return None, [dead_letter(body, f"what is there {error}")]
        arrival = body["arrival"].timestamp()
        items = _earliest_of_each(feed.items, arrival)
        known = [SeenItem.of(item) for item in items]
        return packed_keys(known), [
            item_row(item, self.stream, arrival, version=one.content_hash, updates=self.updates)
            for item, one in zip(items, known, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Unpacking:
    """Makes rows of parsed bodies (columns `sequence` and `parsed`); a function for `mapInArrow`.

    Of a body whose number is in `published` those at the places that are there; without
    `published` all rows of all bodies.
    """

    schema: pa.Schema
    published: Mapping[int, Sequence[int]] | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows, in the order of the bodies."""
        for batch in batches:
            bodies = zip(
                batch.column("sequence").to_pylist(),
                batch.column("parsed").to_pylist(),
                strict=True,
            )
            rows = [row for sequence, parsed in bodies for row in self._rows(sequence, parsed)]
            columns = zip(*rows, strict=True) if rows else [()] * len(self.schema)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(column, field.type)
                    for column, field in zip(columns, self.schema, strict=True)
                ],
                schema=self.schema,
            )

    def _rows(self, sequence: int, parsed: bytes) -> Iterable[Row]:
        if self.published is None:
            rows: list[Row] = pickle.loads(parsed)
            return rows
        places = self.published.get(sequence)
        if not places:
            return ()
        rows = pickle.loads(parsed)
        return (rows[place] for place in places)


def _earliest_of_each(items: Iterable[Item], arrival: float) -> list[Item]:
    """Of the items with one identity the earliest: published in order of time, it comes first, so
    it is the one that the engine takes, too."""
    found: dict[str, Item] = {}
    for item in items:
        first = found.setdefault(item.identity, item)
        if first is not item and _moment(item, arrival) < _moment(first, arrival):
            found[item.identity] = item
    return list(found.values())


def _moment(item: Item, arrival: float) -> float:
    return timestamp(item.published, item.updated, arrival)
