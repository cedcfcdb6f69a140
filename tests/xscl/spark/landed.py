"""What an ingestion has written, read file by file by Arrow and regular expressions: nothing here
shares code with what wrote it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["Body", "committed", "landed_bodies", "rows_of", "spooled_bodies", "spooled_upto"]

Row = dict[str, Any]

_SEGMENT = re.compile(r"\d+-(\d+)-\d+-[0-9a-f]+\.arrow")
_GUID = re.compile(rb"<guid[^>]*>([^<]*)</guid>")


@dataclass(frozen=True, slots=True)
class Body:
    """A body of a feed: its place in the stream, and the guids in it."""

    sequence: int
    feed: str
    etag: str
    guids: frozenset[str]


def spooled_upto(folder: Path) -> int:
    """The number of the last body that was spooled; 0 without any."""
    names = folder.glob("spool/*.arrow")
    return max((int(found[1]) for p in names if (found := _SEGMENT.fullmatch(p.name))), default=0)


def spooled_bodies(folder: Path) -> list[Body]:
    """The bodies that the spool holds just now."""
    found = []
    for path in sorted(folder.glob("spool/*.arrow")):
        with pa.ipc.open_file(path.read_bytes()) as reader:
            found += [_body(row) for row in reader.read_all().to_pylist()]
    return found


def landed_bodies(folder: Path) -> list[Body]:
    """The bodies that landed: those in the files that Spark's sink has committed."""
    return [_body(row) for row in rows_of(*_committed_files(folder / "landing"))]


def committed(folder: Path, table: str) -> list[Row]:
    """The rows of `items` or `dead`, of the batches that are whole."""
    batches = (folder / table).glob("batch=*")
    return rows_of(*(path for b in batches if (b / "_SUCCESS").exists() for path in _files(b)))


def rows_of(*files: Path) -> list[Row]:
    """The rows of Parquet files; moments in UTC, in microseconds."""
    tables = [pq.ParquetFile(file, coerce_int96_timestamp_unit="us").read() for file in files]
    return [row for table in tables for row in table.to_pylist()]


def _files(batch: Path) -> list[Path]:
    return sorted(path for path in batch.glob("*.parquet") if not path.name.startswith("."))


def _committed_files(landing: Path) -> list[Path]:
    """A log has a line of JSON for each file, after one with its version."""
    names = set()
    for log in (landing / "_spark_metadata").glob("[0-9]*"):
        names |= {json.loads(line)["path"] for line in log.read_text().splitlines()[1:]}
    return sorted(landing / name.rpartition("/")[2] for name in names)


def _body(row: Row) -> Body:
    assert row["problem"] is None, row
    guids = frozenset(guid.decode() for guid in _GUID.findall(row["body"]))
    return Body(row["sequence"], row["feed"], row["etag"], guids)
