"""The state file: read once at the start, then written a transaction at a time.

A transaction is written whole at its end, with one forced writing.  If it cannot be written the
file is as it was.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields
from pathlib import Path

import duckdb

from xscl.documents.document import Document
from xscl.documents.retention import Floor
from xscl.durable import holder
from xscl.durable.changes import Changes, Counters, Kept, Undelivered
from xscl.durable.migration import migrate, oldest
from xscl.durable.schema import VERSION, check_file, make, refused_version, version_of
from xscl.durable.writing import DOCUMENTS, KEPT, READ_NOW, UNDELIVERED, write
from xscl.errors import StateError
from xscl.files.attached import attach, detach, instance_for
from xscl.memory.shares import Share
from xscl.queries.registration import Text
from xscl.xpath_stage import foreign_character

__all__ = ["StateFile", "looking_at"]

_AT_ONCE = 10_000
_PORTIONS = """
    SELECT number FROM (
        SELECT number, row_number() OVER (ORDER BY number) AS place FROM documents
    )
    WHERE place % 2000 = 1 ORDER BY number
"""
"""The first documents of those that are read at a time."""

_READ_LATER = ("counts", "documents_read", "feeds", "inputs", "outputs", "seen", "undelivered")
"""Relations that are read when they are needed, and not all of them in each run."""

_CHECKPOINT = 64 * 1024 * 1024
"""What is written since the last checkpoint is read again at the start: not more than this."""


class StateFile:
    """An open state file, which nobody else can open meanwhile, with a share of memory (bytes).

    It is made where there is none.  Raises StateError for one that is in use, damaged, newer or
    none of ours.
    """

    def __init__(self, path: str | os.PathLike[str], made_by: str, share: int) -> None:
        self.path = Path(path)
        if (alien := foreign_character(str(self.path))) is not None:
            raise StateError(f"the name {str(path)!r} holds {alien}; name the state otherwise")
        self._noted = False
        self._lock = threading.RLock()
        # The working directory may be another one later.
        self._place = Path(os.path.abspath(path))
        holder.claim(self._place, str(path))
        connection: duckdb.DuckDBPyConnection | None = None
        try:
            self._connection = connection = self._open(made_by)
            self._share = Share(self._connection, share)
            holder.note(self._place)
            self._noted = True
        except BaseException:
            if connection is not None:
                _close_unwritten(connection)
            holder.release(self._place, noted=False)
            raise

    def _open(self, made_by: str) -> duckdb.DuckDBPyConnection:
        connection = instance_for(self.path)
        try:
            if not self.path.exists():
                make(connection, self.path, made_by)
            # Whatever is found to be somebody else's has not been opened for writing.
            _look(connection, self.path, older=True)
            detach(connection)
            with _opening(self.path):
                attach(connection, self._place)
            # Where one fails within the share, DuckDB gives the whole file up: see `_checkpoint`.
            connection.execute("SET wal_autocheckpoint = '1TB'")
            for relation in _READ_LATER:
                # What is damaged is to be found before anything is written.
                connection.execute(f"SELECT bit_xor(hash(read)) FROM {relation} read").fetchall()
            migrate(connection, self.path, *version_of(connection, self.path))
        except BaseException as error:
            _close_unwritten(connection)
            if isinstance(error, duckdb.Error):
                raise _damaged(self.path, error) from error
            raise
        return connection

    # Reading.

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            # A transaction may be written meanwhile, by another thread.
            with self._lock:
                yield
        except duckdb.Error as error:
            raise _damaged(self.path, error) from error

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """The rows of a statement, from any thread; raises StateError if it cannot be read."""
        with self._reading():
            return self._share.within(lambda: self._connection.execute(query, values).fetchall())

    def counters(self) -> Counters:
        """The numbers as they were."""
        names = ", ".join(field.name for field in fields(Counters))
        ((*numbers,),) = self.rows(f"SELECT {names} FROM counters")
        return Counters(*numbers)  # type: ignore[arg-type]

    def texts(self) -> dict[int, Text]:
        """The query texts by number."""
        rows = self.rows("SELECT number, text, first FROM texts ORDER BY number")
        return {number: (text, first) for number, text, first in rows}  # type: ignore[misc]

    def subscriptions(self) -> Iterator[Kept]:
        """The subscriptions, in their order."""
        names = ", ".join(KEPT.names)
        with self._reading():
            found = self._connection.execute(f"SELECT {names} FROM subscriptions ORDER BY number")
            while rows := found.fetchmany(_AT_ONCE):
                yield from (Kept(*row) for row in rows)

    def reviews(self) -> list[tuple[int, int, list[str]]]:
        """When documents were read again: after which subscription, at which position, of which
        streams."""
        rows = self.rows("SELECT number, position, streams FROM reviews ORDER BY number")
        return [(number, position, streams) for number, position, streams in rows]  # type: ignore[misc]

    def documents(self) -> Iterator[Document]:
        """The documents, in the order in which they came; some at a time are in memory."""
        names = ", ".join(DOCUMENTS.names)
        starts = [number for (number,) in self.rows(_PORTIONS)]
        for first, after in itertools.pairwise([*starts, None]):
            until = "" if after is None else f"AND number < {after}"
            query = f"SELECT {names} FROM documents WHERE number >= {first} {until} ORDER BY number"
            for number, stream, id, time, start, json, text, raw in self.rows(query):
                body = raw if text is None else str(text).encode() if json else text
                yield Document(number, stream, id, time, body, json, None, start)  # type: ignore[arg-type]

    def inputs(self) -> dict[str, str]:
        """How far each source was read."""
        return dict(self.rows("SELECT source, position FROM inputs"))  # type: ignore[arg-type]

    def documents_read(self, source: str, ids: Collection[str]) -> set[str]:
        """The documents that earlier runs have read from a source without positions, of some that
        this one reads; it has read them from then on."""
        with self._reading():
            self._connection.execute(READ_NOW)
            rows = self._connection.execute(
                "SELECT id FROM documents_read WHERE source = $1 AND id IN (SELECT unnest($2)) "
                "AND id NOT IN (SELECT id FROM read_now WHERE source = $1)",
                [source, list(ids)],
            ).fetchall()
            self._connection.execute(
                "INSERT INTO read_now SELECT $1, unnest($2)", [source, list(ids)]
            )
        return {id for (id,) in rows}

    def patterns(self) -> dict[str, str]:
        """What patterns must remember, as JSON by query."""
        return dict(self.rows("SELECT template, snapshot FROM patterns"))  # type: ignore[arg-type]

    def floors(self) -> dict[str, Floor]:
        """The streams whose recent documents are retained."""
        rows = self.rows("SELECT stream, length, most FROM floors")
        return {stream: Floor(length, most) for stream, length, most in rows}  # type: ignore[misc,arg-type]

    def outputs(self) -> dict[str, int]:
        """How much of each file is written, in bytes."""
        return dict(self.rows("SELECT path, bytes FROM outputs"))  # type: ignore[arg-type]

    def counts(self) -> dict[str, int]:
        """The matches of each query, of runs that counted."""
        return dict(self.rows("SELECT query, matches FROM counts"))  # type: ignore[arg-type]

    def undelivered(self, sink: str, after: int = -1, most: int = 2**62) -> list[Undelivered]:
        """The matches that a sink may not have got, in order: those after a number, so many."""
        names = ", ".join(UNDELIVERED.names)
        rows = self.rows(
            f"SELECT {names} FROM undelivered "
            "WHERE sink = ? AND number > ? ORDER BY number LIMIT ?",
            [sink, after, most],
        )
        return [Undelivered(*row) for row in rows]  # type: ignore[arg-type]

    def waiting(self, after: int = -1) -> dict[str, int]:
        """How many matches, of those after a number, each sink may not have got."""
        rows = self.rows(
            "SELECT sink, count(*) FROM undelivered WHERE number > ? GROUP BY sink ORDER BY sink",
            [after],
        )
        return dict(rows)  # type: ignore[arg-type]

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection, for what reads the file by itself."""
        return self._connection

    # Writing.

    def commit(self, changes: Changes, counters: Counters | None) -> None:
        """Writes a transaction; raises StateError if it cannot be written, and nothing is."""
        try:
            with self._lock:
                self._share.within(lambda: write(self._connection, changes, counters))
                self._checkpoint()
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise StateError(
                f"{self.path} cannot be written ({reason}); it is as it was before this batch: "
                "make room and run again"
            ) from error

    def _checkpoint(self) -> None:
        """Moves what the log has into the file, where that is much; with what memory it takes."""
        log = self._place.with_name(f"{self._place.name}.wal")
        if log.exists() and log.stat().st_size > _CHECKPOINT:
            with self._share.lifted():
                self._connection.execute("CHECKPOINT")

    # Life.

    def tidy(self) -> None:
        """Drops texts of which no query is left, and re-readings of documents that have gone."""
        # What is not dropped now is the next time.
        with contextlib.suppress(duckdb.Error):
            self._connection.execute(
                "DELETE FROM texts WHERE number NOT IN (SELECT text FROM subscriptions)"
            )
            self._connection.execute(
                "DELETE FROM reviews WHERE NOT EXISTS "
                "(SELECT 1 FROM documents WHERE documents.number < reviews.position)"
            )

    def close(self, *, unwritten: bool = False) -> None:
        """Closes the file and gives it back; `unwritten` is one that is left as it is, not even
        what is in its log is written to it."""
        try:
            # Closing is a checkpoint, too.
            with contextlib.suppress(duckdb.Error), self._share.lifted():
                if unwritten:
                    _close_unwritten(self._connection)
                else:
                    self._connection.close()
        finally:
            holder.release(self._place, noted=self._noted)
            self._noted = False


def looking_at(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection that looks at a state file (see `_look`)."""
    connection = instance_for(path)
    try:
        _look(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _look(connection: duckdb.DuckDBPyConnection, path: Path, *, older: bool = False) -> None:
    """Opens a state file for reading only; raises StateError for what is none, for one that is in
    use, and unless `older` may be for one that is to be brought to this version first."""
    check_file(path)
    with _opening(path):
        attach(connection, path, read_only=True)
        version, made_by = version_of(connection, path)
    if version < oldest():
        raise refused_version(path, version, made_by)
    if version < VERSION and not older:
        raise StateError(
            f"{path} is a state of version {version}; the next run on it (--state {path}) "
            f"brings it to version {VERSION}"
        )


@contextlib.contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        if "set lock" in str(error):
            raise holder.held_by_another(path, error) from error
        if isinstance(error, duckdb.ResourceInUseException):
            raise holder.held_here(path) from error
        raise _damaged(path, error) from error


def _close_unwritten(connection: duckdb.DuckDBPyConnection) -> None:
    """Closes a connection that has written nothing, without writing its log to the file."""
    with contextlib.suppress(duckdb.Error):
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.close()


def _damaged(path: Path, error: Exception) -> StateError:
    reason = str(error).splitlines()[0]
    return StateError(
        f"{path} cannot be read ({reason}); it is left as it is: restore it from a copy, or name "
        "another file and read the documents again"
    )
