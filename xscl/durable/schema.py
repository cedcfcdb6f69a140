"""The relations of a state file, its mark and version, and which files are refused.

    xscl_state     (version, made_by, made_at)                  the mark: one row
    counters       one row of numbers: the intake's, and those that are given next
    texts          (number, text, first)                        query texts, each once
    subscriptions  (number, name, text, written, parameters, since, position, history)
    reviews        (number, position, streams)                  documents read again for a query
    documents      (number, stream, id, time, start, json, text, raw)  those still in reach
    inputs         (source, position)                           how far a file was read, as JSON
    documents_read (source, id)                                 of a source without positions
    outputs        (path, bytes)                                how much of a file is ours
    counts         (query, matches)                             of runs that count
    undelivered    (number, sink, query, match, body, markup)
    patterns       (template, part, snapshot)                   what patterns must remember, as JSON
    feeds, seen                                                 what polling remembers
    tallies (query, matches, since, rate, measured)  of a server (`tally_file.py`)
    floors (stream, length, most)                    streams whose recent documents are retained
    journal                                          matches of a server (`journal_file.py`)

A subscription is the query `written` in a text under that name, with the values of its
`parameters` as a JSON object (in it, too, what was known of streams that event queries publish); it
was made when `position` documents and composites had come, and sees those from number `since`.  A
file that is not ours is never written to, nor opened by DuckDB for writing; one of an earlier
version is brought to this one in a transaction.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import duckdb

from xscl.durable.points import at
from xscl.errors import StateError
from xscl.files.attached import attached
from xscl.files.whole import drafted
from xscl.polling.relations import create_feeds

__all__ = ["VERSION", "check_file", "make", "refused_version", "version_of"]

VERSION = 6

_SCHEMA = """
    CREATE TABLE xscl_state (version INTEGER, made_by VARCHAR, made_at DOUBLE);
    CREATE TABLE counters (
        next_number BIGINT, latest BIGINT, last_arrival BIGINT, documents BIGINT,
        malformed BIGINT, duplicate BIGINT, late BIGINT, lateness BIGINT,
        next_subscription BIGINT, next_text BIGINT, next_undelivered BIGINT,
        advanced BIGINT, flushed BIGINT, unknown BIGINT
    );
    CREATE TABLE texts (number BIGINT, text VARCHAR, first BIGINT);
    CREATE TABLE subscriptions (
        number BIGINT, name VARCHAR, text BIGINT, written VARCHAR, parameters VARCHAR,
        since BIGINT, position BIGINT, history BOOLEAN
    );
    CREATE TABLE reviews (number BIGINT, position BIGINT, streams VARCHAR[]);
    CREATE TABLE documents (
        number BIGINT, stream VARCHAR, id VARCHAR, time BIGINT, start BIGINT, json BOOLEAN,
        text VARCHAR, raw BLOB
    );
    CREATE TABLE inputs (source VARCHAR, position VARCHAR);
    CREATE TABLE documents_read (source VARCHAR, id VARCHAR);
    CREATE TABLE outputs (path VARCHAR, bytes BIGINT);
    CREATE TABLE counts (query VARCHAR, matches BIGINT);
    CREATE TABLE undelivered (
        number BIGINT, sink VARCHAR, query VARCHAR, match VARCHAR, body VARCHAR, markup VARCHAR
    );
    CREATE TABLE patterns (template VARCHAR, part VARCHAR, snapshot VARCHAR);
    CREATE TABLE tallies (
        query VARCHAR, matches BIGINT, since DOUBLE, rate DOUBLE, measured DOUBLE
    );
    CREATE TABLE floors (stream VARCHAR, length BIGINT, most BIGINT);
    INSERT INTO counters VALUES (0, NULL, 0, 0, 0, 0, 0, NULL, 0, 0, 0, NULL, 0, 0)
"""

_DUCKDB = (8, b"DUCK")
"""Where a DuckDB file says that it is one, and how."""


def _create(connection: duckdb.DuckDBPyConnection, made_by: str) -> None:
    """Makes the relations of a new file, and its mark."""
    connection.execute(_SCHEMA)
    connection.execute("INSERT INTO xscl_state VALUES (?, ?, ?)", [VERSION, made_by, time.time()])


def make(instance: duckdb.DuckDBPyConnection, path: Path, made_by: str) -> None:
    """Makes a state without queries, by an instance for it; raises StateError if it cannot be.

    It has its name once it is whole, so that no crash leaves half of one.  Where another process
    was faster, opening the file shows whose it is.
    """
    if not path.resolve().parent.is_dir():
        raise StateError(f"{path} cannot be made: there is no such folder")
    try:
        with contextlib.suppress(FileExistsError), drafted(path, new=True) as draft:
            with attached(instance, draft) as connection:
                connection.execute("BEGIN")
                _create(connection, made_by)
                create_feeds(connection)
                connection.execute("COMMIT")
                # At the end of a connection a failure would not be reported.
                connection.execute("CHECKPOINT")
            at("making")
    except (duckdb.Error, OSError) as error:
        reason = str(error).splitlines()[0]
        raise StateError(f"{path} cannot be made ({reason})") from error


def check_file(path: Path) -> None:
    """Raises StateError for a file that is there and can be none of ours, by its first bytes."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
    except IsADirectoryError as error:
        raise StateError(f"{path} is a folder; name a file for the state") from error
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}") from error
    where, mark = _DUCKDB
    if head[where : where + len(mark)] == mark:
        return
    if not head:
        what = "is empty"
    elif head.startswith(b"SQLite format 3\0"):
        what = "is an SQLite database"
    else:
        what = "is no DuckDB file"
    raise StateError(f"{path} {what}, and no state of ours; it is left as it is: name another file")


def version_of(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[int, str]:
    """The version of an open file, and what made it; raises StateError for a DuckDB file of
    something else, for one without a version, and for a version that is newer than ours."""
    try:
        rows = connection.execute("SELECT version, made_by FROM xscl_state").fetchall()
    except (duckdb.CatalogException, duckdb.BinderException):
        rows = []
    if len(rows) != 1:
        raise StateError(
            f"{path} is a DuckDB database of something else; it is left as it is: name another file"
        )
    ((version, made_by),) = rows
    if version is None:
        raise StateError(
            f"{path} does not state its version, and cannot be read without; it is left as it is: "
            "restore it from a copy, or name another file and read the documents again"
        )
    if version > VERSION:
        raise StateError(
            f"{path} is a state of version {version}, made by {made_by}; this program reads up to "
            f"version {VERSION}: use that one or a later one (pip install --upgrade xscl)"
        )
    return int(version), str(made_by)


def refused_version(path: Path, version: int, made_by: str) -> StateError:
    """The message for an earlier version from which nothing leads to ours."""
    return StateError(
        f"{path} is a state of version {version}, made by {made_by}, which this program cannot "
        f"bring to version {VERSION}; it is left as it is: continue with {made_by}, or name "
        "another file and read the documents again"
    )
