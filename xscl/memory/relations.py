"""The database of an engine's relations: opened, and DuckDB imported, when a batch needs it."""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING, cast

from xscl.errors import StateError

if TYPE_CHECKING:
    import duckdb

    from xscl.memory.shares import Bounded

__all__ = ["Relations", "shortage"]


class Relations:
    """The database of an engine's relations, opened on demand: in memory, or with a share of it in
    files of a temporary directory, which are removed when it is closed."""

    def __init__(self, share: int | None) -> None:
        self._share = share
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._bounded: Bounded | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None

    def connect(self) -> duckdb.DuckDBPyConnection:
        """The connection to it."""
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _open(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        from xscl.memory.shares import Bounded

        if self._share is None:
            return duckdb.connect()
        self._directory = tempfile.TemporaryDirectory(prefix="xscl-")
        folder = self._directory.name
        # Nothing of it outlives the process: there is nothing to be synchronised.
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{self._share}B",
            "temp_directory": f"{folder}/spilled",
            "fsync_mode": "NONE",
        }
        connection = duckdb.connect(f"{folder}/relations.duckdb", config=config)
        self._bounded = Bounded(connection, self._share)
        return cast("duckdb.DuckDBPyConnection", self._bounded)

    def close(self) -> None:
        """Closes the database; its files are removed."""
        if self._connection is not None:
            self._connection.close()
        if self._directory is not None:
            self._directory.cleanup()

    @property
    def exceeded(self) -> int:
        """How many statements have needed more than the share."""
        return 0 if self._bounded is None else self._bounded.exceeded

    def sizes(self) -> tuple[int, int]:
        """The bytes that it has in memory, and in files."""
        ((memory, spilled),) = (
            self.connect()
            .execute(
                "SELECT sum(memory_usage_bytes), sum(temporary_storage_bytes) FROM duckdb_memory()"
            )
            .fetchall()
        )
        ((blocks,),) = (
            self.connect()
            .execute("SELECT sum(total_blocks * block_size) FROM pragma_database_size()")
            .fetchall()
        )
        return int(memory), int(spilled) + int(blocks or 0)


def shortage(error: BaseException) -> StateError | None:
    """What is short, memory or space for files, if an error of a batch is about that."""
    # Errors of DuckDB occur only after it was imported.
    if "duckdb" not in sys.modules:
        return None
    import duckdb

    if isinstance(error, duckdb.OutOfMemoryException):
        return StateError("a batch needs more memory for its join than there is; give smaller ones")
    if isinstance(error, duckdb.IOException):
        problem = str(error).partition("\n")[0]
        return StateError(f"the temporary files of --memory have no room: {problem}")
    return None
