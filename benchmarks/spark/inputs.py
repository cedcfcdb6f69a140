"""Documents and queries as a folder that every way reads: files of Parquet, in order of time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["DOCUMENTS", "QUERIES", "SHARED", "shared_strings", "write"]

DOCUMENTS = "documents"
QUERIES = "queries.xscl"
SCHEMA = pa.schema(
    [("stream", pa.string()), ("id", pa.string()), ("timestamp", pa.int64()), ("xml", pa.string())]
)

INTERVAL = 60
WITHIN = 200
EVEN = 4
"""With so many strings shared evenly, as many pairs within a window are equal as where half of the
documents share one string and the others none."""

SHARED = (
    f"S//doc->a[./name->x] FOLLOWED BY {{x=y, {WITHIN * INTERVAL} seconds}} S//doc->b[./name->y];\n"
)
"""Documents of `shared_strings`, each with those of the same string before it."""


def write(folder: Path, documents: Iterable[Mapping[str, Any]], queries: str, size: int) -> Path:
    """Writes a directory with files of some `size` documents, at intervals of a second."""
    folder.mkdir()
    place = folder / DOCUMENTS
    place.mkdir()
    rest = iter(documents)
    number = 0
    while some := list(islice(rest, size)):
        file = place / f"{number:06d}.parquet"
        pq.write_table(pa.Table.from_pylist(some, SCHEMA), file)
        os.utime(file, (number, number))
        number += 1
    (folder / QUERIES).write_text(queries, encoding="utf-8")
    return folder


def shared_strings(documents: int, hot: bool) -> Iterator[dict[str, Any]]:
    """Documents of one string each, at intervals of a minute: every second one has the hot string,
    and the others share none; or all share some evenly."""
    for number in range(documents):
        value = ("hot" if number % 2 else f"own {number}") if hot else f"even {number % EVEN}"
        yield {
            "stream": "S",
            "id": f"d{number}",
            "timestamp": number * INTERVAL,
            "xml": f"<doc><name>{value}</name></doc>",
        }
