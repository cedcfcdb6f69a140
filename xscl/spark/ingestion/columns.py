"""The columns of the tables of an ingestion: bodies, parsed bodies, items, dead letters."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from xscl.feeds import Item
from xscl.spark.columns import MOMENT, TEXTS
from xscl.times import from_timestamp

__all__ = [
    "BODIES",
    "DEAD_LETTERS",
    "ITEMS",
    "PARSED",
    "dead_letter",
    "item_row",
]

BODIES = pa.schema(
    [
        ("sequence", pa.int64()),
        ("feed", pa.string()),
        ("folders", TEXTS),
        ("url", pa.string()),
        ("content_type", pa.string()),
        ("etag", pa.string()),
        ("last_modified", pa.string()),
        ("arrival", MOMENT),
        ("body", pa.binary()),
        ("problem", pa.string()),
    ]
)
"""What one look at a feed brought; `sequence` counts the bodies of one stream from 1 on, and is
null in a batch."""

PARSED = pa.schema(
    [
        ("feed", pa.string()),
        ("sequence", pa.int64()),
        ("keys", pa.binary()),
        ("parsed", pa.binary()),
    ]
)
"""A parsed body: `keys` of its items, one after the other, and the rows of these in the same order
(`parsed`); null and a dead letter where there is no feed."""

ITEMS = pa.schema(
    [
        ("stream", pa.string()),
        ("id", pa.string()),
        ("timestamp", MOMENT),
        ("xml", pa.string()),
        ("feed", pa.string()),
        ("site", pa.string()),
        ("source", pa.string()),
        ("folders", TEXTS),
        ("guid", pa.string()),
        ("link", pa.string()),
        ("title", pa.string()),
        ("authors", TEXTS),
        ("categories", TEXTS),
        ("published", MOMENT),
        ("updated", MOMENT),
        ("summary", pa.string()),
        ("linked", TEXTS),
        ("version", pa.string()),
    ]
)
"""An item document: the envelope, then its common fields.  Texts with nothing to say are null,
lists empty; `version` is the hash of the content."""

DEAD_LETTERS = pa.schema(
    [
        ("sequence", pa.int64()),
        ("feed", pa.string()),
        ("url", pa.string()),
        ("content_type", pa.string()),
        ("arrival", MOMENT),
        ("problem", pa.string()),
        ("body", pa.binary()),
    ]
)
"""A body that is no feed, or a fetch that failed, and why; `body` is null where nothing came."""


def item_row(
    item: Item, stream: str, arrival: float, *, version: str, updates: bool
) -> tuple[object, ...]:
    """An item that arrived then (seconds), in the order of the columns; moments in microseconds.
    `version` is its hash, which costs too much to be made twice."""
    envelope = item.envelope(stream, arrival, updates=updates)
    feed = item.feed
    return (
        stream,
        envelope["id"],
        from_timestamp(envelope["timestamp"]),
        envelope["xml"],
        feed.address,
        feed.site or None,
        feed.title or None,
        feed.folders,
        item.id or None,
        item.link or None,
        item.title or None,
        item.authors,
        item.categories,
        None if item.published is None else from_timestamp(item.published),
        None if item.updated is None else from_timestamp(item.updated),
        item.summary or None,
        item.linked,
        version,
    )


def dead_letter(body: dict[str, Any], problem: str) -> tuple[object, ...]:
    """The dead letter of a body, a row of `BODIES`, or of the problem that there was instead."""
    return tuple(problem if name == "problem" else body[name] for name in DEAD_LETTERS.names)
