"""How far an ingestion is, read from its folders; it may be running."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from xscl.errors import StateError
from xscl.polling.store import Store
from xscl.spark.ingestion.archive import Archive
from xscl.spark.ingestion.spark_files import names_in
from xscl.spark.ingestion.spool import Spool

__all__ = ["Status", "read_status"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """A feed whose last fetch failed, or brought what is no feed."""

    feed: str
    error: str
    failures: int
    last_success: str | None


@dataclass(frozen=True, slots=True)
class Status:
    """How far an ingestion is.

    `fetched` and `landed` count bodies since its beginning; `unread` are files that landed and no
    batch has read.  Of `dead` letters and `items` there are so many in so many `batches`.
    """

    feeds: int
    last_fetch: str | None
    next_fetch: str | None
    fetched: int
    landed: int
    unread: int
    items: int
    batches: int
    last_batch: str | None
    dead: int
    troubles: tuple[Trouble, ...]


def read_status(archive: Archive) -> Status:
    """How far the ingestion in a local folder is; raises StateError if there is none."""
    root = Path(archive.root)
    if not archive.store.exists():
        raise StateError(f"{root} is not what `xscl ingest --to` fills: {archive.store} is missing")
    states = Store(archive.store).feeds().values()
    landed = _landed(Path(archive.checkpoint("fetch")))
    batches = {table: list(_batches(Path(table))) for table in (archive.items, archive.dead)}
    failing = {
        s.address: Trouble(s.address, s.error, s.failures, _time(s.last_success))
        for s in states
        if s.error is not None
    }
    # Of a feed that fails, the failure is a dead letter, too.
    troubles = {each.feed: each for each in _unreadable(archive, batches[archive.dead])} | failing
    every = {
        folder.name: _time(folder.stat().st_mtime) for one in batches.values() for folder in one
    }
    return Status(
        feeds=len(states),
        last_fetch=_time(max((s.last_fetch for s in states if s.last_fetch), default=None)),
        next_fetch=_time(
            min((s.next_fetch for s in states if s.next_fetch and not s.gone), default=None)
        ),
        fetched=max(Spool(archive.local).last, landed),
        landed=landed,
        unread=_unread(archive),
        items=sum(map(_rows, batches[archive.items])),
        batches=len(every),
        last_batch=max(filter(None, every.values()), default=None),
        dead=sum(map(_rows, batches[archive.dead])),
        troubles=tuple(troubles[feed] for feed in sorted(troubles)),
    )


def _unreadable(archive: Archive, batches: Iterable[Path]) -> Iterator[Trouble]:
    """The feeds whose last body is a dead letter."""
    dead: dict[str, dict[int, str]] = {}
    for batch in batches:
        for row in _columns(
            batch, "sequence", "feed", "problem", where=pc.field("body").is_valid()
        ):
            dead.setdefault(row["feed"], {})[row["sequence"]] = row["problem"]
    if not dead:
        return
    good, came = dict.fromkeys(dead, (0, None)), pc.field("problem").is_null()
    for row in _columns(Path(archive.landing), "sequence", "feed", "arrival", where=came):
        feed, sequence = row["feed"], row["sequence"]
        if feed in dead and sequence not in dead[feed] and sequence > good[feed][0]:
            good[feed] = sequence, row["arrival"]
    for feed, letters in dead.items():
        since, arrival = good[feed]
        after = [sequence for sequence in letters if sequence > since]
        if after:
            well = None if arrival is None else _time(arrival.timestamp())
            yield Trouble(feed, letters[max(after)], len(after), well)


def _columns(folder: Path, *names: str, where: pc.Expression) -> Iterator[dict[str, Any]]:
    """Columns of those rows of a folder's files for which a condition holds."""
    for file in folder.glob("*.parquet"):
        # It may be about to be written, or just have been deleted.
        with suppress(FileNotFoundError, pa.ArrowInvalid):
            yield from pq.read_table(file, columns=list(names), filters=where).to_pylist()


def _landed(checkpoint: Path) -> int:
    """The sequence number of the last body that landed: where the last batch of fetches that is
    done ended.  Of the files that landed some may have been cleared away since."""
    commits = (path.name for path in checkpoint.glob("commits/*"))
    done = max((int(name) for name in commits if name.isdecimal()), default=None)
    if done is None:
        return 0
    end = (checkpoint / "offsets" / str(done)).read_text(encoding="utf-8").splitlines()[-1]
    sequence: int = json.loads(end)["sequence"]
    return sequence


def _unread(archive: Archive) -> int:
    read = set(_logged(Path(archive.checkpoint("items")) / "sources" / "0"))
    return len(set(_logged(Path(archive.landing) / "_spark_metadata")) - read)


def _logged(log: Path) -> Iterator[str]:
    """The names of the files in one of Spark's logs of files."""
    for part in log.iterdir() if log.is_dir() else ():
        if not part.name.startswith("."):
            yield from names_in(part.read_text(encoding="utf-8").splitlines())


def _batches(table: Path) -> Iterator[Path]:
    for folder in table.glob("batch=*"):
        if (folder / "_SUCCESS").exists():
            yield folder


def _rows(batch: Path) -> int:
    total = 0
    for file in batch.glob("*.parquet"):
        with suppress(FileNotFoundError, pa.ArrowInvalid):
            total += pq.read_metadata(file).num_rows
    return total


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%SZ}"
