"""The columns of dead letters: what was fetched and is no feed, or could not be, and why."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

__all__ = ["ARROW", "DDL", "row"]

ARROW = pa.schema(
    [
        ("sequence", pa.int64()),
        ("feed", pa.string()),
        ("url", pa.string()),
        ("content_type", pa.string()),
        ("arrival", pa.timestamp("us", tz="UTC")),
        ("problem", pa.string()),
        ("body", pa.binary()),
    ]
)

DDL = (
    "sequence BIGINT, feed STRING, url STRING, content_type STRING, arrival TIMESTAMP, "
    "problem STRING, body BINARY"
)
"""The same columns, as Spark writes them; `body` is null where nothing came."""


def row(body: dict[str, Any], problem: str) -> tuple[object, ...]:
    """The dead letter for a body (a row of `xscl.spark.ingestion.bodies`)."""
    return tuple(problem if name == "problem" else body[name] for name in ARROW.names)
