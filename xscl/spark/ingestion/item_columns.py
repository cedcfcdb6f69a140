"""The columns of item documents, a row for each: the envelope, then its common fields."""

from __future__ import annotations

import pyarrow as pa

from xscl.feeds import Item
from xscl.times import from_timestamp

__all__ = ["ARROW", "DDL", "row"]

_MOMENT = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(pa.string())

ARROW = pa.schema(
    [
        ("stream", pa.string()),
        ("id", pa.string()),
        ("timestamp", _MOMENT),
        ("xml", pa.string()),
        ("feed", pa.string()),
        ("site", pa.string()),
        ("source", pa.string()),
        ("folders", _TEXTS),
        ("guid", pa.string()),
        ("link", pa.string()),
        ("title", pa.string()),
        ("authors", _TEXTS),
        ("categories", _TEXTS),
        ("published", _MOMENT),
        ("updated", _MOMENT),
        ("summary", pa.string()),
        ("linked", _TEXTS),
        ("version", pa.string()),
    ]
)

DDL = (
    "stream STRING, id STRING, timestamp TIMESTAMP, xml STRING, feed STRING, site STRING, "
    "source STRING, folders ARRAY<STRING>, guid STRING, link STRING, title STRING, "
    "authors ARRAY<STRING>, categories ARRAY<STRING>, published TIMESTAMP, updated TIMESTAMP, "
    "summary STRING, linked ARRAY<STRING>, version STRING"
)
"""The same columns, as Spark writes them.  Texts with nothing to say are null, lists empty;
`version` is the hash of the content."""


def row(
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
