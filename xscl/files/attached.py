"""DuckDB files, opened one after the other by one instance of DuckDB without a file of its own.

Starting an instance takes 20 ms of a processor, attaching a file to it 1 ms; locks, and the errors
about them, are the same.  The instance belongs to a connection of `instance_for`, and ends with it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb

__all__ = ["attach", "attached", "detach", "instance_for"]

_NAME = "file"


def instance_for(path: str | os.PathLike[str]) -> duckdb.DuckDBPyConnection:
    """An instance for a file and for drafts of it; what exceeds memory is written next to the
    file."""
    # One thread: the data are small, and the other cores are for other work.
    return duckdb.connect(config={"threads": 1, "temp_directory": f"{os.fspath(path)}.tmp"})


def attach(connection: duckdb.DuckDBPyConnection, path: Path, *, read_only: bool = False) -> None:
    """Opens a file, creating it where there is none: the statements of the connection are about it
    from then on."""
    quoted = str(path).replace("'", "''")
    how = "(TYPE duckdb, READ_ONLY)" if read_only else "(TYPE duckdb)"
    connection.execute(f"ATTACH '{quoted}' AS {_NAME} {how}")
    connection.execute(f"USE {_NAME}")


def detach(connection: duckdb.DuckDBPyConnection) -> None:
    """Closes the file of a connection."""
    connection.execute("USE memory")
    connection.execute(f"DETACH {_NAME}")


@contextlib.contextmanager
def attached(
    instance: duckdb.DuckDBPyConnection, path: Path, *, read_only: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a file that is open during the block; uncommitted changes are undone."""
    with instance.cursor() as connection:
        attach(connection, path, read_only=read_only)
        try:
            yield connection
        finally:
            connection.close()
            instance.execute(f"DETACH {_NAME}")
