"""What a transaction writes: changes into the relations of a state file, in columns.

So it costs some statements, whatever the size of the batch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import astuple, fields

import duckdb
import pyarrow as pa

from xscl.documents.bodies import Body
from xscl.documents.document import Document
from xscl.durable.changes import Changes, Counters
from xscl.durable.points import at
from xscl.polling.relations import save_feeds

__all__ = ["DOCUMENTS", "KEPT", "READ_NOW", "UNDELIVERED", "write"]

READ_NOW = "CREATE TEMP TABLE IF NOT EXISTS read_now (source VARCHAR, id VARCHAR)"
"""The documents that this run has come across, of sources without positions."""

_FEW = 2
"""So few rows are cheaper as statements than as a table of Arrow."""

_NUMBER, _TEXT = pa.int64(), pa.string()
KEPT = pa.schema(
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
DOCUMENTS = pa.schema(
    [
        ("number", _NUMBER),
        ("stream", _TEXT),
        ("id", _TEXT),
        ("time", _NUMBER),
        ("start", _NUMBER),
        ("json", pa.bool_()),
        ("text", _TEXT),
        ("raw", pa.binary()),
    ]
)
UNDELIVERED = pa.schema(
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
_PATTERNS = pa.schema([(name, _TEXT) for name in ("template", "part", "snapshot")])
_FOUND = pa.schema([("number", _NUMBER), *((name, _TEXT) for name in ("match", "query", "line"))])
_TALLIES = pa.schema(
    [
        ("query", _TEXT),
        ("matches", _NUMBER),
        *((n, pa.float64()) for n in ("since", "rate", "measured")),
    ]
)
_FLOORS = pa.schema([("stream", _TEXT), ("length", _NUMBER), ("most", _NUMBER)])
_COUNTS = pa.schema([("query", _TEXT), ("matches", _NUMBER)])


def write(
    connection: duckdb.DuckDBPyConnection, changes: Changes, counters: Counters | None
) -> None:
    """Writes changes in a transaction; nothing of it stays where it fails."""
    try:
        connection.execute("BEGIN")
        _delete(connection, changes)
        at("within commit")
        _insert(connection, changes)
        if counters is not None:
            assigned = ", ".join(f"{field.name} = ?" for field in fields(Counters))
            connection.execute(f"UPDATE counters SET {assigned}", list(astuple(counters)))
        if changes.feeds is not None:
            save_feeds(connection, changes.feeds)
        connection.execute("COMMIT")
    except duckdb.Error:
        # After a failed writing DuckDB may refuse even this.
        with contextlib.suppress(duckdb.Error):
            connection.execute("ROLLBACK")
        raise


def _delete(connection: duckdb.DuckDBPyConnection, changes: Changes) -> None:
    _delete_from(connection, "documents", "number", _NUMBER, changes.gone)
    _delete_from(connection, "undelivered", "number", _NUMBER, changes.delivered)
    if changes.cancelled:
        _delete_from(connection, "subscriptions", "name", _TEXT, changes.cancelled)
        _delete_from(connection, "counts", "query", _TEXT, changes.cancelled)
        _delete_from(
            connection, "undelivered", "query", _TEXT, changes.cancelled, "AND sink = 'callback'"
        )
        _delete_from(connection, "tallies", "query", _TEXT, changes.cancelled)
    _delete_from(connection, "tallies", "query", _TEXT, changes.tallies)
    _delete_from(connection, "floors", "stream", _TEXT, changes.floors)
    for source in changes.sources_read:
        # A source without any document may only be out of reach.
        connection.execute(READ_NOW)
        connection.execute(
            "DELETE FROM documents_read WHERE source = $1 "
            "AND id NOT IN (SELECT id FROM read_now WHERE source = $1) "
            "AND EXISTS (SELECT 1 FROM read_now WHERE source = $1)",
            [source],
        )
    if changes.oldest_found:
        connection.execute("DELETE FROM journal WHERE number < ?", [changes.oldest_found])
    _delete_from(connection, "inputs", "source", _TEXT, changes.inputs)
    _delete_from(connection, "outputs", "path", _TEXT, changes.outputs)
    _delete_from(connection, "patterns", "template", _TEXT, changes.patterns)


def _delete_from(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    column: str,
    kind: pa.DataType,
    values: list[int] | set[str] | Mapping[str, object],
    condition: str = "",
) -> None:
    if not values:
        return
    command = f"DELETE FROM {relation} WHERE {column} IN"
    if len(values) <= _FEW:
        places = ", ".join("?" * len(values))
        connection.execute(f"{command} ({places}) {condition}", list(values))
    else:
        connection.register("gone", pa.table({"value": pa.array(list(values), kind)}))
        connection.execute(f"{command} (SELECT value FROM gone) {condition}")
        connection.unregister("gone")


def _insert(connection: duckdb.DuckDBPyConnection, changes: Changes) -> None:
    _insert_into(connection, "documents", DOCUMENTS, map(_document_row, changes.documents))
    _insert_into(
        connection, "texts", _TEXTS, ((number, *text) for number, text in changes.texts.items())
    )
    kept = (
        (k.number, k.name, k.text, k.written, k.parameters, k.since, k.position, k.history)
        for k in changes.subscribed.values()
    )
    _insert_into(connection, "subscriptions", KEPT, kept)
    _insert_into(connection, "reviews", _REVIEWS, changes.reviews)
    _insert_into(connection, "inputs", _INPUTS, changes.inputs.items())
    _insert_into(connection, "documents_read", _READ, changes.documents_read)
    _insert_into(connection, "outputs", _OUTPUTS, changes.outputs.items())
    _insert_into(connection, "undelivered", UNDELIVERED, map(astuple, changes.undelivered))
    told = ((name, "told", one) for name, one in changes.patterns.items() if one is not None)
    _insert_into(connection, "patterns", _PATTERNS, told)
    _insert_into(connection, "journal", _FOUND, changes.found)
    floors = ((stream, *floor) for stream, floor in changes.floors.items() if floor is not None)
    _insert_into(connection, "floors", _FLOORS, floors)
    _insert_into(connection, "tallies", _TALLIES, changes.tallies.values())
    if changes.counts:
        _add_counts(connection, changes.counts)


def _insert_into(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    schema: pa.Schema,
    rows: Iterable[tuple[object, ...]],
) -> None:
    some = list(rows)
    if len(some) <= _FEW:
        names, places = ", ".join(schema.names), ", ".join("?" * len(schema))
        for row in some:
            connection.execute(f"INSERT INTO {relation} ({names}) VALUES ({places})", row)
    else:
        columns = zip(*some, strict=True)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
        connection.register("new", pa.table(arrays, schema=schema))
        connection.execute(f"INSERT INTO {relation} BY NAME FROM new")
        connection.unregister("new")


def _add_counts(connection: duckdb.DuckDBPyConnection, counts: Mapping[str, int]) -> None:
    columns = [list(counts), list(counts.values())]
    connection.register("counted", pa.table(columns, schema=_COUNTS))
    connection.execute(
        "UPDATE counts SET matches = counts.matches + counted.matches FROM counted "
        "WHERE counts.query = counted.query"
    )
    connection.execute(
        "INSERT INTO counts FROM counted WHERE query NOT IN (SELECT query FROM counts)"
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
    head = document.number, document.stream, document.id, document.time, document.start
    return *head, document.json, text, raw
