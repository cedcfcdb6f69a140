"""What polling remembers, as two relations of DuckDB: in a file of its own, or in a state file.

`feeds` has a row for each address (where it is now, validators, times, the last error), `seen` one
for each item that a feed has shown to a stream (identity, content, and the document as it was
published, compressed, or empty where an engine has it), `shown` one for each item of the last
answer of a feed that items are withdrawn from.  The documents are published again when a run
starts, so that what comes next finds what came before.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import duckdb
import pyarrow as pa

from xscl.polling.news import SeenItem
from xscl.polling.state import FeedState
from xscl.polling.withdrawals import Shown
from xscl.web.exchange import Validators

__all__ = [
    "Changes",
    "Envelope",
    "Key",
    "SeenDocument",
    "create_feeds",
    "read_documents",
    "read_feeds",
    "read_late",
    "read_seen",
    "read_shown",
    "save_feeds",
]

Envelope = dict[str, object]

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS feeds (
        address VARCHAR, url VARCHAR, title VARCHAR, etag BLOB, last_modified BLOB, ttl DOUBLE,
        skip_hours TINYINT[], skip_days TINYINT[], last_fetch DOUBLE, last_success DOUBLE,
        next_fetch DOUBLE, failures INTEGER, error VARCHAR, gone BOOLEAN
    );
    CREATE SEQUENCE IF NOT EXISTS order_of_seeing;
    CREATE TABLE IF NOT EXISTS seen (
        number BIGINT, address VARCHAR, stream VARCHAR, identity VARCHAR, content_hash VARCHAR,
        likeness VARCHAR, time DOUBLE, document BLOB
    );
    CREATE TABLE IF NOT EXISTS shown (
        address VARCHAR, stream VARCHAR, place INTEGER, identity VARCHAR, date DOUBLE,
        published VARCHAR
    )
"""
_FEEDS = pa.schema(
    [
        *((name, pa.string()) for name in ("address", "url", "title")),
        *((name, pa.binary()) for name in ("etag", "last_modified")),
        ("ttl", pa.float64()),
        *((name, pa.list_(pa.int8())) for name in ("skip_hours", "skip_days")),
        *((name, pa.float64()) for name in ("last_fetch", "last_success", "next_fetch")),
        ("failures", pa.int32()),
        ("error", pa.string()),
        ("gone", pa.bool_()),
    ]
)
_KEY = pa.schema([(name, pa.string()) for name in ("address", "stream", "identity")])
_SEEN = pa.schema(
    [
        *((name, pa.string()) for name in _KEY.names),
        *((name, pa.string()) for name in ("content_hash", "likeness")),
        ("time", pa.float64()),
        ("document", pa.binary()),
    ]
)
_SHOWN = pa.schema(
    [
        *((name, pa.string()) for name in ("address", "stream")),
        ("place", pa.int32()),
        ("identity", pa.string()),
        ("date", pa.float64()),
        ("published", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class SeenDocument:
    """An item that was seen in a stream's feed; `envelope` as it was published, None if it was
    not: only what is remembered of it has changed, or its time (`late`) was too early.  One that is
    published `again` is so in place of what was published `before`, if that is not written yet."""

    address: str
    stream: str
    item: SeenItem
    envelope: Envelope | None
    late: float | None = None
    again: bool = False
    before: Envelope | None = None


Key = tuple[str, str, str]
"""The address of a feed, a stream that it goes to, and the identity of an item."""


@dataclass(slots=True)
class Changes:
    """Changes to write: states of feeds, by address, items, and the answers that items are
    withdrawn from, by address and stream."""

    feeds: dict[str, FeedState] = field(default_factory=dict)
    seen: dict[Key, SeenDocument] = field(default_factory=dict)
    forgotten: set[Key] = field(default_factory=set)
    shown: dict[tuple[str, str], Sequence[Shown]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.feeds or self.seen or self.forgotten or self.shown)

    def see(self, seen: SeenDocument) -> None:
        """An item was seen; one that was published before the last writing stays so."""
        key = (seen.address, seen.stream, seen.item.identity)
        before = self.seen.get(key)
        if before is not None and seen.envelope is None:
            seen = replace(before, item=seen.item)
        elif before is not None:
            seen = replace(seen, before=before.envelope)
        self.seen[key] = seen
        self.forgotten.discard(key)

    def pass_over(self, late: Sequence[Envelope]) -> list[Key]:
        """Documents that were given out came too late: nothing has been made of them.  Gives the
        items of which nothing is published, either."""
        passed = []
        times = {id(envelope): float(str(envelope["timestamp"])) for envelope in late}
        for key, seen in self.seen.items() if late else ():
            if (time := times.get(id(seen.envelope))) is None:
                continue
            if seen.again:
                self.seen[key] = replace(seen, envelope=seen.before, before=None)
            else:
                self.seen[key] = replace(seen, envelope=None, late=time)
                passed.append(key)
        return passed

    def forget(self, key: Key) -> None:
        """An item need not be remembered any more."""
        self.seen.pop(key, None)
        self.forgotten.add(key)


def create_feeds(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the relations where they are not there."""
    connection.execute(_SCHEMA)


def read_feeds(connection: duckdb.DuckDBPyConnection) -> dict[str, FeedState]:
    """The state of each feed, by address."""
    names = ", ".join(_FEEDS.names)
    rows = connection.execute(f"SELECT {names} FROM feeds ORDER BY address").fetchall()
    states = (_state(dict(zip(_FEEDS.names, row, strict=True))) for row in rows)
    return {state.address: state for state in states}


def read_seen(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], list[SeenItem]]:
    """The items seen, by address and stream, in the order of seeing."""
    rows = connection.execute(
        "SELECT address, stream, identity, content_hash, likeness FROM seen ORDER BY number"
    ).fetchall()
    found: dict[tuple[str, str], list[SeenItem]] = {}
    for address, stream, *item in rows:
        found.setdefault((address, stream), []).append(SeenItem(*item))
    return found


def read_late(connection: duckdb.DuckDBPyConnection) -> dict[Key, float]:
    """The items seen that came too late to be published, and their times."""
    rows = connection.execute(
        "SELECT address, stream, identity, time FROM seen "
        "WHERE time IS NOT NULL AND document IS NULL"
    ).fetchall()
    return {(address, stream, identity): time for address, stream, identity, time in rows}


def read_shown(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], list[Shown]]:
    """The items of the last answers that items are withdrawn from, by address and stream."""
    create_feeds(connection)  # An earlier version has not made this one.
    rows = connection.execute(
        "SELECT address, stream, identity, date, published FROM shown ORDER BY place"
    ).fetchall()
    found: dict[tuple[str, str], list[Shown]] = {}
    for address, stream, *item in rows:
        found.setdefault((address, stream), []).append(Shown(*item))
    return found


def read_documents(
    connection: duckdb.DuckDBPyConnection, keys: Sequence[tuple[str, str]]
) -> Iterator[Envelope]:
    """The documents that were published of some feeds (address and stream), in the order of their
    times."""
    asked = pa.Table.from_pylist(
        [{"address": address, "stream": stream} for address, stream in keys],
        schema=pa.schema([_KEY.field("address"), _KEY.field("stream")]),
    )
    connection.register("asked", asked)
    rows = connection.execute(
        "SELECT document FROM seen SEMI JOIN asked USING (address, stream) "
        "WHERE document IS NOT NULL ORDER BY time, number"
    ).fetchall()
    return (json.loads(zlib.decompress(document)) for (document,) in rows)


def save_feeds(connection: duckdb.DuckDBPyConnection, changes: Changes) -> None:
    """Writes changes, in a transaction that is open."""
    feeds = pa.Table.from_pylist([_row(state) for state in changes.feeds.values()], _FEEDS)
    seen = pa.Table.from_pylist([_seen_row(seen) for seen in changes.seen.values()], _SEEN)
    forgotten = pa.Table.from_pylist(
        [dict(zip(_KEY.names, key, strict=True)) for key in changes.forgotten], _KEY
    )
    connection.register("new_feeds", feeds)
    connection.register("new_seen", seen)
    connection.register("forgotten", forgotten)
    connection.execute("DELETE FROM feeds WHERE address IN (SELECT address FROM new_feeds)")
    connection.execute("INSERT INTO feeds BY NAME FROM new_feeds")
    if changes.shown:
        _save_shown(connection, changes.shown)
    # An item that is only remembered otherwise keeps the document that it was published as.
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE merged AS SELECT new_seen.* REPLACE "
        "(coalesce(new_seen.time, seen.time) AS time, "
        "coalesce(new_seen.document, seen.document) AS document) "
        "FROM new_seen LEFT JOIN seen USING (address, stream, identity)"
    )
    for gone in ("merged", "forgotten"):
        connection.execute(
            f"DELETE FROM seen USING {gone} AS gone WHERE seen.address = gone.address "
            "AND seen.stream = gone.stream AND seen.identity = gone.identity"
        )
    connection.execute(
        "INSERT INTO seen BY NAME SELECT nextval('order_of_seeing') AS number, * FROM merged"
    )


def _save_shown(
    connection: duckdb.DuckDBPyConnection, shown: Mapping[tuple[str, str], Sequence[Shown]]
) -> None:
    create_feeds(connection)
    for key in shown:
        connection.execute("DELETE FROM shown WHERE address = ? AND stream = ?", key)
    rows = [
        dict(zip(_SHOWN.names, (*key, place, *astuple(one)), strict=True))
        for key, items in shown.items()
        for place, one in enumerate(items)
    ]
    connection.register("new_shown", pa.Table.from_pylist(rows, _SHOWN))
    connection.execute("INSERT INTO shown BY NAME FROM new_shown")


def _row(state: FeedState) -> dict[str, object]:
    return {
        "address": state.address,
        "url": state.url,
        "title": state.title,
        "etag": state.validators.etag,
        "last_modified": state.validators.last_modified,
        "ttl": state.ttl,
        "skip_hours": sorted(state.skip_hours),
        "skip_days": sorted(state.skip_days),
        "last_fetch": state.last_fetch,
        "last_success": state.last_success,
        "next_fetch": state.next_fetch,
        "failures": state.failures,
        "error": state.error,
        "gone": state.gone,
    }


def _state(row: dict[str, Any]) -> FeedState:
    validators = Validators(row.pop("etag"), row.pop("last_modified"))
    for name in ("skip_hours", "skip_days"):
        row[name] = frozenset(row[name])
    return FeedState(**row, validators=validators)


def _seen_row(seen: SeenDocument) -> dict[str, object]:
    document = None
    when: object = seen.late
    if seen.envelope is not None:
        when = seen.envelope.get("timestamp")
        text = json.dumps(seen.envelope, ensure_ascii=False)
        document = zlib.compress(text.encode()) if seen.envelope else b""
    item = seen.item
    return {
        "address": seen.address,
        "stream": seen.stream,
        "identity": item.identity,
        "content_hash": item.content_hash,
        "likeness": item.likeness,
        "time": when,
        "document": document,
    }
