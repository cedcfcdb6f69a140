"""One bound on the memory of an engine, and the shares that its rooms have of it.

Beyond its share the join state's relations lie in a temporary database, bodies of documents in a
temporary file, and the view cache and the memo of signatures let go of what was not used for
longest.  What is left are the records of the documents held and the strings that they join by,
in Python's dictionaries: these grow with what is held, and have an eighth of the bound for a
reserve.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from xscl.errors import StateError, XSCLError

__all__ = ["LEAST_MEMORY", "Budget", "Relations"]

LEAST_MEMORY = 64 * 1024 * 1024
"""Bytes, of which the relations can do with half."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The shares of a bound: bytes of the relations, of what is kept at hand for joins in process,
    and of documents' bodies; None without bound."""

    relations: int | None = None
    at_hand: int | None = None
    bodies: int | None = None

    @classmethod
    def of(cls, memory: int | None) -> Budget:
        """The shares of so many bytes; raises XSCLError if they are too few."""
        if memory is None:
            return cls()
        if memory < LEAST_MEMORY:
            raise XSCLError(
                f"memory: {memory:,} bytes are not enough for the relations of a join state; "
                "give 64 MiB or more"
            )
        return cls(memory // 2, memory // 4, memory // 8)


class Relations:
    """The database of an engine's relations: in memory, or with a share of it in files of a
    temporary directory, which go when it is closed."""

    def __init__(self, share: int | None) -> None:
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        if share is None:
            self.connection = duckdb.connect()
            return
        self._directory = tempfile.TemporaryDirectory(prefix="xscl-")
        folder = self._directory.name
        # Nothing of it outlives the process: there is nothing to be synchronised.
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{share}B",
            "temp_directory": f"{folder}/spilled",
            "fsync_mode": "NONE",
        }
        self.connection = duckdb.connect(f"{folder}/relations.duckdb", config=config)

    def close(self) -> None:
        """Closes the database; its files go."""
        self.connection.close()
        if self._directory is not None:
            self._directory.cleanup()

    @contextlib.contextmanager
    def bounded(self) -> Iterator[None]:
        """Tells plainly where the relations would need more memory, or more room for files, than
        there is."""
        try:
            yield
        except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
            problem = str(error).partition("\n")[0]
            raise StateError(
                f"the relations have too little room: {problem}; give a larger `memory` (--memory) "
                "or smaller batches, or room for temporary files"
            ) from error

    def sizes(self) -> tuple[int, int]:
        """The bytes that it has in memory, and in files."""
        ((memory, spilled),) = self.connection.execute(
            "SELECT sum(memory_usage_bytes), sum(temporary_storage_bytes) FROM duckdb_memory()"
        ).fetchall()
        ((blocks,),) = self.connection.execute(
            "SELECT sum(total_blocks * block_size) FROM pragma_database_size()"
        ).fetchall()
        return int(memory), int(spilled) + int(blocks or 0)
