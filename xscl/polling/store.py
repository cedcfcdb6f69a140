"""The memory of polling from one run to the next, a small DuckDB file of the `relations`.

The file is opened for each reading and writing alone: DuckDB lets one process write at a time,
and `xscl feeds` is to show the file of a watch that is running.  A second process that writes to
one file is refused by a lock next to it.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol

import duckdb

from xscl.errors import StateError
from xscl.files.attached import attached, instance_for
from xscl.polling.news import SeenItem
from xscl.polling.relations import (
    Changes,
    Envelope,
    Key,
    create_feeds,
    read_documents,
    read_feeds,
    read_late,
    read_seen,
    read_shown,
    save_feeds,
)
from xscl.polling.state import FeedState
from xscl.polling.withdrawals import Shown

__all__ = ["FeedStore", "Store"]

_TAKEN = re.compile("set lock|already attached")
"""What DuckDB says of a file that another process has open, or another instance of this one."""

_PATIENCE = 10.0
"""For how many seconds another process' reading or writing is waited for."""


class FeedStore(Protocol):
    """The memory of polling, wherever it is kept."""

    def feeds(self) -> dict[str, FeedState]:
        """The state of each feed, by address."""

    def seen(self) -> dict[tuple[str, str], list[SeenItem]]:
        """The items seen, by address and stream, in the order of seeing."""

    def shown(self) -> dict[tuple[str, str], list[Shown]]:
        """The items of the last answers that items are withdrawn from, by address and stream."""

    def late(self) -> dict[Key, float]:
        """The items seen that came too late to be published, and their times."""

    def documents(self, keys: Sequence[tuple[str, str]]) -> Iterator[Envelope]:
        """The documents that were published of some feeds, as far as they are to be again."""

    def save(self, changes: Changes) -> None:
        """Writes changes, all or nothing."""


class Store:
    """The file; a context manager for the one process that writes to it.

    Another that does is waited for, for `patience` seconds: it may be about to end.
    """

    def __init__(self, path: str | Path, *, patience: float = 0.0) -> None:
        self._path = Path(path)
        self._patience = patience
        self._lock: IO[bytes] | None = None
        self._instance: duckdb.DuckDBPyConnection | None = None
        self._one = threading.Lock()

    def __reduce__(self) -> tuple[Callable[[], Store], tuple[()]]:
        """To another process it goes as it is before it is opened: locks stay here."""
        return partial(Store, self._path, patience=self._patience), ()

    def __enter__(self) -> Store:
        lock = open(f"{self._path}.lock", "ab")  # taken until the end
        deadline = time.monotonic() + self._patience
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    lock.close()
                    raise StateError(
                        f"{self._path} is in use by another watch or ingestion; give this one a "
                        "file (--feeds-db) or a folder (--to) of its own"
                    ) from error
                time.sleep(0.05)
        self._lock = lock
        with self._open() as connection:
            create_feeds(connection)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._lock is not None:
            self._lock.close()
        if self._instance is not None:
            self._instance.close()
            self._instance = None

    def feeds(self) -> dict[str, FeedState]:
        """The state of each feed, by address."""
        with self._open(read_only=True) as connection:
            return read_feeds(connection)

    def seen(self) -> dict[tuple[str, str], list[SeenItem]]:
        """The items seen, by address and stream, in the order of seeing."""
        with self._open(read_only=True) as connection:
            return read_seen(connection)

    def shown(self) -> dict[tuple[str, str], list[Shown]]:
        """The items of the last answers that items are withdrawn from, by address and stream."""
        with self._open() as connection:
            return read_shown(connection)

    def late(self) -> dict[Key, float]:
        """The items seen that came too late to be published, and their times."""
        with self._open(read_only=True) as connection:
            return read_late(connection)

    def counts(self) -> dict[str, int]:
        """How many items are remembered of each feed, by address."""
        with self._open(read_only=True) as connection:
            rows = connection.execute(
                "SELECT address, count(DISTINCT identity) FROM seen GROUP BY address"
            ).fetchall()
        return dict(rows)

    def documents(self, keys: Sequence[tuple[str, str]]) -> Iterator[Envelope]:
        """The documents that were published of some feeds (address and stream), in the order of
        their times."""
        with self._open(read_only=True) as connection:
            documents = read_documents(connection, keys)
        yield from documents

    def save(self, changes: Changes) -> None:
        """Writes changes, all or nothing."""
        with self._open() as connection:
            connection.execute("BEGIN")
            save_feeds(connection, changes)
            connection.execute("COMMIT")

    @contextlib.contextmanager
    def _open(self, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection, for as short as may be; another process may have the file just now."""
        deadline = time.monotonic() + _PATIENCE
        with self._one, contextlib.ExitStack() as opened:
            if self._instance is None:
                self._instance = instance_for(self._path)
            while True:
                file = attached(self._instance, self._path, read_only=read_only)
                try:
                    connection = opened.enter_context(file)
                    break
                except (duckdb.IOException, duckdb.ResourceInUseException) as error:
                    taken = _TAKEN.search(str(error))
                    if not taken or time.monotonic() > deadline:
                        raise StateError(f"{self._path} cannot be opened: {error}") from error
                    time.sleep(0.05)
            try:
                yield connection
            except duckdb.CatalogException as error:
                raise StateError(f"{self._path} is not what polling keeps: {error}") from error
