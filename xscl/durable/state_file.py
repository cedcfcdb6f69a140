"""The state file: read once at the start, then written a transaction at a time.

A transaction is written whole at its end, in columns, so that it costs some statements and one
forced writing whatever the size of the batch.  If it cannot be written the file is as it was.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, fields
from pathlib import Path

import duckdb
import pyarrow as pa

from xscl.bodies import Body
from xscl.document import Document
from xscl.durable import holder
from xscl.durable.changes import Changes, Counters, Kept, Text, Undelivered
from xscl.durable.making import make
from xscl.durable.migration import migrate, oldest
from xscl.durable.points import at
from xscl.durable.schema import VERSION, check_file, refused_version, version_of
from xscl.errors import StateError
from xscl.sources.polling.store import save_feeds

__all__ = ["StateFile", "looking_at"]

_AT_ONCE = 10_000
_CHECKPOINT = "64MB"
"""What is written since the last checkpoint is read again at the start: not more than this."""

_READ_LATER = ("counts", "documents_read", "feeds", "inputs", "outputs", "seen", "undelivered")
"""Relations that are read when they are needed, and not all of them in each run."""

_NUMBER, _TEXT = pa.int64(), pa.string()
_KEPT = pa.schema(
    [
        ("number", _NUMBER),
        ("name", _TEXT),
        ("text", _NUMBER),
        ("written", _TEXT),
        ("parameters", _TEXT),
        ("since", _NUMBER),
        ("position", _NUMBER),
        ("history", pa.bool_()),
    ]
)
_DOCUMENTS = pa.schema(
    [
        ("number", _NUMBER),
        ("stream", _TEXT),
        ("id", _TEXT),
        ("time", _NUMBER),
        ("json", pa.bool_()),
        ("text", _TEXT),
        ("raw", pa.binary()),
    ]
)
_UNDELIVERED = pa.schema(
    [
        ("number", _NUMBER),
        *((name, _TEXT) for name in ("sink", "query", "match", "body", "markup")),
    ]
)
_TEXTS = pa.schema([("number", _NUMBER), ("text", _TEXT), ("first", _NUMBER)])
_REVIEWS = pa.schema([("number", _NUMBER), ("position", _NUMBER), ("streams", pa.list_(_TEXT))])
_INPUTS = pa.schema([("source", _TEXT), ("position", _TEXT)])
_READ = pa.schema([("source", _TEXT), ("id", _TEXT)])
_OUTPUTS = pa.schema([("path", _TEXT), ("bytes", _NUMBER)])
_COUNTS = pa.schema([("query", _TEXT), ("matches", _NUMBER)])


class StateFile:
    """An open state file, which nobody else can open meanwhile.

    It is made where there is none.  Raises StateError for one that is in use, damaged, newer or
    none of ours.
    """

    def __init__(self, path: str | os.PathLike[str], made_by: str) -> None:
        self.path = Path(path)
        self._noted = False
        holder.claim(self.path)
        try:
            self._connection = self._open(made_by)
            holder.note(self.path)
            self._noted = True
        except BaseException:
            holder.release(self.path, noted=False)
            raise

    def _open(self, made_by: str) -> duckdb.DuckDBPyConnection:
        if not self.path.exists():
            make(self.path, made_by)
        # Whatever is found to be somebody else's has not been opened for writing.
        looking_at(self.path, older=True).close()
        connection = _connect(self.path, read_only=False)
        try:
            connection.execute(f"SET wal_autocheckpoint = '{_CHECKPOINT}'")
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
            yield
        except duckdb.Error as error:
            raise _damaged(self.path, error) from error

    def _rows(self, query: str) -> list[tuple[object, ...]]:
        with self._reading():
            return self._connection.execute(query).fetchall()

    def counters(self) -> Counters:
        """The numbers as they were."""
        names = ", ".join(field.name for field in fields(Counters))
        ((*numbers,),) = self._rows(f"SELECT {names} FROM counters")
        return Counters(*numbers)  # type: ignore[arg-type]

    def texts(self) -> dict[int, Text]:
        """The query texts by number."""
        rows = self._rows("SELECT number, text, first FROM texts ORDER BY number")
        return {number: (text, first) for number, text, first in rows}  # type: ignore[misc]

    def subscriptions(self) -> Iterator[Kept]:
        """The subscriptions, in their order."""
        names = ", ".join(_KEPT.names)
        with self._reading():
            found = self._connection.execute(f"SELECT {names} FROM subscriptions ORDER BY number")
            while rows := found.fetchmany(_AT_ONCE):
                yield from (Kept(*row) for row in rows)

    def reviews(self) -> list[tuple[int, int, list[str]]]:
        """When documents were read anew: after which subscription, at which position, of which
        streams."""
        rows = self._rows("SELECT number, position, streams FROM reviews ORDER BY number")
        return [(number, position, streams) for number, position, streams in rows]  # type: ignore[misc]

    def documents(self) -> Iterator[Document]:
        """The documents, in the order in which they came."""
        names = ", ".join(_DOCUMENTS.names)
        with self._reading():
            found = self._connection.execute(f"SELECT {names} FROM documents ORDER BY number")
            while rows := found.fetchmany(_AT_ONCE):
                for number, stream, id, time, json, text, raw in rows:
                    body = raw if text is None else text.encode() if json else text
                    yield Document(number, stream, id, time, body, json)

    def inputs(self) -> dict[str, str]:
        """How far each source was read."""
        return dict(self._rows("SELECT source, position FROM inputs"))  # type: ignore[arg-type]

    def documents_read(self, source: str) -> set[str]:
        """The ids of the documents that were read from a source without positions."""
        with self._reading():
            rows = self._connection.execute(
                "SELECT id FROM documents_read WHERE source = ?", [source]
            ).fetchall()
        return {id for (id,) in rows}

    def outputs(self) -> dict[str, int]:
        """How much of each file is written, in bytes."""
        return dict(self._rows("SELECT path, bytes FROM outputs"))  # type: ignore[arg-type]

    def counts(self) -> dict[str, int]:
        """The matches of each query, of runs that counted."""
        return dict(self._rows("SELECT query, matches FROM counts"))  # type: ignore[arg-type]

    def undelivered(self) -> list[Undelivered]:
        """The matches that may not have been handed over, in order."""
        names = ", ".join(_UNDELIVERED.names)
        rows = self._rows(f"SELECT {names} FROM undelivered ORDER BY number")
        return [Undelivered(*row) for row in rows]  # type: ignore[arg-type]

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection, for what reads the file by itself."""
        return self._connection

    # Writing.

    def commit(self, changes: Changes, counters: Counters | None) -> None:
        """Writes a transaction; raises StateError if it cannot be written, and nothing is."""
        connection = self._connection
        try:
            connection.execute("BEGIN")
            self._delete(changes)
            at("within commit")
            self._insert(changes)
            if counters is not None:
                assigned = ", ".join(f"{field.name} = ?" for field in fields(Counters))
                connection.execute(f"UPDATE counters SET {assigned}", list(astuple(counters)))
            if changes.feeds is not None:
                save_feeds(connection, changes.feeds)
            connection.execute("COMMIT")
        except duckdb.Error as error:
            # After a failed writing DuckDB may refuse even this.
            with contextlib.suppress(duckdb.Error):
                connection.execute("ROLLBACK")
            reason = str(error).splitlines()[0]
            raise StateError(
                f"{self.path} cannot be written ({reason}); it is as it was before this batch: "
                "make room and run again"
            ) from error

    def _delete(self, changes: Changes) -> None:
        self._delete_from("documents", "number", _NUMBER, changes.gone)
        self._delete_from("undelivered", "number", _NUMBER, changes.delivered)
        if changes.cancelled:
            self._delete_from("subscriptions", "name", _TEXT, changes.cancelled)
            self._delete_from("counts", "query", _TEXT, changes.cancelled)
            self._delete_from(
                "undelivered", "query", _TEXT, changes.cancelled, "AND sink = 'callback'"
            )
        self._delete_from("inputs", "source", _TEXT, changes.inputs)
        self._delete_from("outputs", "path", _TEXT, changes.outputs)

    def _delete_from(
        self,
        relation: str,
        column: str,
        kind: pa.DataType,
        values: list[int] | set[str] | Mapping[str, object],
        condition: str = "",
    ) -> None:
        if values:
            self._connection.register("gone", pa.table({"value": pa.array(list(values), kind)}))
            self._connection.execute(
                f"DELETE FROM {relation} WHERE {column} IN (SELECT value FROM gone) {condition}"
            )
            self._connection.unregister("gone")

    def _insert(self, changes: Changes) -> None:
        self._insert_into("documents", _DOCUMENTS, map(_document_row, changes.documents))
        self._insert_into(
            "texts", _TEXTS, ((number, *text) for number, text in changes.texts.items())
        )
        kept = (
            (k.number, k.name, k.text, k.written, k.parameters, k.since, k.position, k.history)
            for k in changes.subscribed.values()
        )
        self._insert_into("subscriptions", _KEPT, kept)
        self._insert_into("reviews", _REVIEWS, changes.reviews)
        self._insert_into("inputs", _INPUTS, changes.inputs.items())
        self._insert_into("documents_read", _READ, changes.documents_read)
        self._insert_into("outputs", _OUTPUTS, changes.outputs.items())
        self._insert_into("undelivered", _UNDELIVERED, map(astuple, changes.undelivered))
        if changes.counts:
            self._add_counts(changes.counts)

    def _insert_into(
        self, relation: str, schema: pa.Schema, rows: Iterable[tuple[object, ...]]
    ) -> None:
        columns = list(zip(*rows, strict=True))
        if columns:
            arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
            self._connection.register("new", pa.table(arrays, schema=schema))
            self._connection.execute(f"INSERT INTO {relation} BY NAME FROM new")
            self._connection.unregister("new")

    def _add_counts(self, counts: Mapping[str, int]) -> None:
        connection = self._connection
        columns = [list(counts), list(counts.values())]
        connection.register("counted", pa.table(columns, schema=_COUNTS))
        connection.execute(
            "UPDATE counts SET matches = counts.matches + counted.matches FROM counted "
            "WHERE counts.query = counted.query"
        )
        connection.execute(
            "INSERT INTO counts FROM counted WHERE query NOT IN (SELECT query FROM counts)"
        )

    # Life.

    def tidy(self) -> None:
        """Drops texts of which no query is left, and readings anew of documents that have gone."""
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
            with contextlib.suppress(duckdb.Error):
                if unwritten:
                    _close_unwritten(self._connection)
                else:
                    self._connection.close()
        finally:
            holder.release(self.path, noted=self._noted)
            self._noted = False


def looking_at(path: Path, *, older: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection that only reads a state file; raises StateError for what is none, for one that
    is in use, and unless `older` may be for one that is to be brought to this version first."""
    check_file(path)
    connection = _connect(path, read_only=True)
    try:
        version, made_by = version_of(connection, path)
        if version < oldest():
            raise refused_version(path, version, made_by)
        if version < VERSION and not older:
            raise StateError(
                f"{path} is a state of version {version}; the next run on it (--state {path}) "
                f"brings it to version {VERSION}"
            )
    except duckdb.Error as error:
        connection.close()
        raise _damaged(path, error) from error
    except StateError:
        connection.close()
        raise
    return connection


def _connect(path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    try:
        # One thread: what is written is small, and the other cores are the engine's.
        return duckdb.connect(path, read_only=read_only, config={"threads": 1})
    except duckdb.Error as error:
        if "set lock" in str(error):
            raise holder.held_by_another(path, error) from error
        if isinstance(error, duckdb.ConnectionException):
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


def _document_row(document: Document) -> tuple[object, ...]:
    """A document's row: its body as text where it is UTF-8, which DuckDB compresses."""
    body = document.body.read() if isinstance(document.body, Body) else document.body
    text = raw = None
    if isinstance(body, str):
        text = body
    elif isinstance(body, bytes):
        raw = body
        if document.json:
            with contextlib.suppress(UnicodeDecodeError):
                text, raw = body.decode(), None
    return document.number, document.stream, document.id, document.time, document.json, text, raw
