"""A state file without the room that has become free: copied, and put in its place in one step.

DuckDB uses freed room again but does not give it back.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from xscl.durable import holder
from xscl.durable.state_file import looking_at
from xscl.errors import StateError
from xscl.files.attached import attach, detach
from xscl.files.whole import drafted

__all__ = ["compact"]


def compact(path: Path) -> tuple[int, int]:
    """Rewrites a file; returns its size before and after, in bytes.

    Raises StateError for one that is none, or in use.
    """
    holder.claim(path, str(path))
    try:
        with looking_at(path) as connection:
            detach(connection)
            with drafted(path) as draft:
                before = _write(connection, path, draft)
        return before, path.stat().st_size
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise StateError(f"{path} cannot be rewritten ({reason}); it is as it was") from error
    finally:
        holder.release(path, noted=False)


def _write(connection: duckdb.DuckDBPyConnection, path: Path, draft: Path) -> int:
    """Copies a file to a draft; returns the size that it had."""
    attach(connection, path)
    # All that is in its log is in the file then: the log goes with the old file.
    connection.execute("CHECKPOINT")
    before = path.stat().st_size
    quoted = str(draft).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS draft")
    connection.execute("COPY FROM DATABASE file TO draft")
    connection.execute("DETACH draft")
    detach(connection)
    return before
