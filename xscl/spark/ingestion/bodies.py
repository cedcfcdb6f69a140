"""What one look at a feed brought: a body, or the reason why there is none, with all that parsing
it later needs.  A row of it is what the feed source gives and what lands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from xscl.times import from_timestamp

__all__ = ["ARROW", "DDL", "Body", "batch_of"]

_MOMENT = pa.timestamp("us", tz="UTC")

ARROW = pa.schema(
    [
        ("sequence", pa.int64()),
        ("feed", pa.string()),
        ("folders", pa.list_(pa.string())),
        ("url", pa.string()),
        ("content_type", pa.string()),
        ("etag", pa.string()),
        ("last_modified", pa.string()),
        ("arrival", _MOMENT),
        ("body", pa.binary()),
        ("problem", pa.string()),
    ]
)
"""The columns of bodies, in Arrow; `sequence` counts the bodies of one stream from 1 on,
and is null in a batch."""

DDL = (
    "sequence BIGINT, feed STRING, folders ARRAY<STRING>, url STRING, content_type STRING, "
    "etag STRING, last_modified STRING, arrival TIMESTAMP, body BINARY, problem STRING"
)
"""The same columns, as Spark writes them."""


@dataclass(frozen=True, slots=True)
class Body:
    """A body of a feed, or the `problem` that there was instead.

    `feed` is the address that the feed is known by (of a file its path as given), `url` where it
    was fetched from in the end (None of a file), `arrival` (seconds) when it was fetched, of a
    file when it was last modified.  The validators are those of the response, as Latin-1.
    """

    feed: str
    arrival: float
    folders: tuple[str, ...] = ()
    url: str | None = None
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    body: bytes | None = None
    problem: str | None = None

    def __post_init__(self) -> None:
        if (self.body is None) == (self.problem is None):
            raise ValueError(f"{self.feed}: a body or a problem, one of the two")


def batch_of(bodies: Iterable[Body], first: int | None) -> pa.RecordBatch:
    """Bodies as rows, numbered from `first` on, or not at all."""
    rows = list(bodies)
    columns: dict[str, list[object]] = {
        name: [getattr(row, name) for row in rows]
        for name in ARROW.names
        if name not in ("sequence", "arrival")
    }
    columns["sequence"] = [None if first is None else first + n for n in range(len(rows))]
    columns["arrival"] = [from_timestamp(row.arrival) for row in rows]
    return pa.RecordBatch.from_arrays(
        [pa.array(columns[field.name], field.type) for field in ARROW], schema=ARROW
    )
