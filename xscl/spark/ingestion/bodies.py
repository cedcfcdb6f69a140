"""What one look at a feed brought: a body, or the reason why there is none, with all that parsing
it later needs.  A row of it is what the feed source gives and what lands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from xscl.spark.ingestion.columns import BODIES
from xscl.times import from_timestamp

__all__ = ["Body", "batch_of"]


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
        for name in BODIES.names
        if name not in ("sequence", "arrival")
    }
    columns["sequence"] = [None if first is None else first + n for n in range(len(rows))]
    columns["arrival"] = [from_timestamp(row.arrival) for row in rows]
    return pa.RecordBatch.from_arrays(
        [pa.array(columns[field.name], field.type) for field in BODIES], schema=BODIES
    )
