"""Bodies become parsed bodies, one row for one row: the items of a feed, packed, with the keys that
tell what is new of them; or one dead letter, packed likewise, where no item could be read.

Parsing is `mapInArrow`: each partition for itself, by the same reader as everywhere.  What is read
stays packed until it is known what of it is new, so that all between (the shuffle by feed, the
state, the cache of a batch) moves one row a body; `Unpacking` makes rows of it at the end.
"""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from xscl.sources.feeds import Item, NotAFeed, Rules, parse_feed
from xscl.sources.feeds.dates import timestamp
from xscl.spark import dead_letters, item_columns
from xscl.spark.item_keys import packed_keys

__all__ = ["DDL", "Parsing", "Unpacking", "places"]

DDL = "feed STRING, sequence BIGINT, keys BINARY, parsed BINARY"
"""A parsed body: `keys` of its items, one after the other, and the rows of these in the same order
(`parsed`); null and a dead letter where there is no feed."""

_ARROW = pa.schema(
    [
        ("feed", pa.string()),
        ("sequence", pa.int64()),
        ("keys", pa.binary()),
        ("parsed", pa.binary()),
    ]
)

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
                schema=_ARROW,
            )

    def _parsed(self, body: dict[str, Any]) -> tuple[bytes | None, list[Row]]:
        """The keys of a body's items, and their rows."""
        if body["body"] is None:
            return None, [dead_letters.row(body, body["problem"])]
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
            return None, [dead_letters.row(body, f"what is there {error}")]
        arrival = body["arrival"].timestamp()
        items = _earliest_of_each(feed.items, arrival)
        return packed_keys(items), [
            item_columns.row(item, self.stream, arrival, updates=self.updates) for item in items
        ]


@dataclass(frozen=True, slots=True)
class Unpacking:
    """Makes rows of parsed bodies (columns `parsed` and `published`), those at the published
    places; all where `published` is null.  A function for `mapInArrow`."""

    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows, in the order of the bodies."""
        for batch in batches:
            bodies = zip(
                batch.column("parsed").to_pylist(),
                batch.column("published").to_pylist(),
                strict=True,
            )
            rows = [row for body in bodies for row in _published(*body)]
            columns = zip(*rows, strict=True) if rows else [()] * len(self.schema)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(column, field.type)
                    for column, field in zip(columns, self.schema, strict=True)
                ],
                schema=self.schema,
            )


def places(numbers: Iterable[int]) -> bytes:
    """Places in a body's rows, packed: four bytes each."""
    return array("i", numbers).tobytes()


def _published(parsed: bytes, published: bytes | None) -> Iterable[Row]:
    if published == b"":
        return ()
    rows: list[Row] = pickle.loads(parsed)
    return rows if published is None else (rows[place] for place in array("i", published))


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
