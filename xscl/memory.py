"""One bound on the memory of an engine, and the shares that its rooms have of it.

Beyond its share the join state's relations lie in a temporary database, bodies of documents in a
temporary file, and the view cache, the memo of signatures and the trees of documents let go of what
was not used for longest.  The rest are the records of the documents held and the strings that they
join by, in Python's dictionaries: these grow with what is held, and have an eighth of the bound for
a reserve.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import duckdb

from xscl.errors import StateError, XSCLError
from xscl.sizes import size_of_text

__all__ = ["LEAST_MEMORY", "Budget", "Relations", "Share"]

T = TypeVar("T")

LEAST_MEMORY = 64 * 1024 * 1024
"""Bytes, of which the relations can do with half."""

_LEAST_OF_STATE = 16 * 1024 * 1024
"""Bytes without which a state file would have to be given more in almost every transaction."""

_MORE = (2, 4, 8, 16, 64, None)
"""A statement that cannot do with the share is given so many times as much; at last, all."""

_ALL = "80%"


@dataclass(frozen=True, slots=True)
class Budget:
    """The shares of a bound: bytes of the relations, of what is kept at hand for joins in process,
    of documents' trees and bodies, and of what a state file has in memory; None without bound."""

    relations: int | None = None
    at_hand: int | None = None
    trees: int | None = None
    bodies: int | None = None
    state: int = 256 * 1024 * 1024

    @classmethod
    def of(cls, memory: int | str | None) -> Budget:
        """The shares of so many bytes, or of a size as text; raises XSCLError for what is no size,
        and if it is too small."""
        if memory is None:
            return cls()
        if isinstance(memory, str):
            try:
                memory = size_of_text(memory)
            except ValueError as error:
                raise XSCLError(f"memory: {error}") from error
        if not isinstance(memory, int) or isinstance(memory, bool):
            problem = f"memory: {memory!r} is no size; give bytes as an int, or text such as '64MB'"
            raise XSCLError(problem)
        if memory < LEAST_MEMORY:
            raise XSCLError(
                f"memory: {memory:,} bytes are not enough for the relations of a join state; "
                "give 64 MiB or more"
            )
        return cls(
            relations=memory // 2,
            at_hand=memory // 16 * 3,
            trees=memory // 16,
            bodies=memory // 8,
            state=max(memory // 8, _LEAST_OF_STATE),
        )


def _with_more(share: int, limit: Callable[[str], object], run: Callable[[], T]) -> T:
    """Runs what a share was too little for with more and more memory; raises what it raised last
    if all of it is too little."""
    for times in _MORE:
        limit(_ALL if times is None else f"{times * share}B")
        try:
            return run()
        except duckdb.Error as error:
            if not _is_shortage(error):
                raise
            shortage = error
    raise shortage


class Share:
    """The share of memory that a connection of its own database has; what cannot do without more
    has it, and only that."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, share: int) -> None:
        self._connection = connection
        self._share = share
        self._limit(f"{share}B")

    def within(self, run: Callable[[], T]) -> T:
        """Runs what leaves nothing behind where it fails; again, with more memory, where that was
        too little."""
        try:
            return run()
        except duckdb.Error as error:
            if not _is_shortage(error):
                raise
        try:
            return _with_more(self._share, self._limit, run)
        finally:
            # A failure here is of what was found meanwhile: the next one tells of it.
            with contextlib.suppress(duckdb.Error):
                self._limit(f"{self._share}B")

    @contextlib.contextmanager
    def lifted(self) -> Iterator[None]:
        """For what must not fail for the bound: it may have what it takes, until its end."""
        self._limit(_ALL)
        try:
            yield
        finally:
            with contextlib.suppress(duckdb.Error):
                self._limit(f"{self._share}B")

    def _limit(self, limit: str) -> None:
        self._connection.execute(f"SET memory_limit = '{limit}'")


def _is_shortage(error: duckdb.Error) -> bool:
    """Whether there was too little memory; a COMMIT tells it by its words alone."""
    return isinstance(error, duckdb.OutOfMemoryException) or "memory limit" in str(error)


class _Bounded:
    """A connection whose statements have a share of memory, and more only where one cannot do
    without it, until the next one; `exceeded` counts these."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, share: int) -> None:
        self._connection = connection
        self._limits = connection.cursor()
        self._share = share
        self._raised = False
        self.exceeded = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def execute(
        self, query: str, parameters: Sequence[object] | None = None
    ) -> duckdb.DuckDBPyConnection:
        """Executes a statement; what it has done is undone where it fails."""
        if self._raised:
            # Not before: what the last one has found may not have been fetched.
            with contextlib.suppress(duckdb.OutOfMemoryException):
                self._limit(f"{self._share}B")
                self._raised = False
        try:
            return self._connection.execute(query, parameters)
        except duckdb.OutOfMemoryException:
            self.exceeded += 1
            self._raised = True
        return _with_more(
            self._share, self._limit, lambda: self._connection.execute(query, parameters)
        )

    def _limit(self, limit: str) -> None:
        self._limits.execute(f"SET memory_limit = '{limit}'")


class Relations:
    """The database of an engine's relations, opened when it is first asked for: in memory, or with
    a share of it in files of a temporary directory, which go when it is closed."""

    def __init__(self, share: int | None) -> None:
        self._share = share
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._bounded: _Bounded | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None

    def connect(self) -> duckdb.DuckDBPyConnection:
        """The connection to it."""
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _open(self) -> duckdb.DuckDBPyConnection:
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
        self._bounded = _Bounded(connection, self._share)
        return cast(duckdb.DuckDBPyConnection, self._bounded)

    def close(self) -> None:
        """Closes the database; its files go."""
        if self._connection is not None:
            self._connection.close()
        if self._directory is not None:
            self._directory.cleanup()

    @contextlib.contextmanager
    def shortage_told(self) -> Iterator[None]:
        """Tells plainly what there is too little of: memory, or room for temporary files."""
        try:
            yield
        except duckdb.OutOfMemoryException as error:
            raise StateError(
                "a batch needs more memory for its join than there is; give smaller ones"
            ) from error
        except duckdb.IOException as error:
            problem = str(error).partition("\n")[0]
            raise StateError(f"the temporary files of --memory have no room: {problem}") from error

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
