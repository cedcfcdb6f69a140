"""A connection's share of memory: what cannot do without more has it, and only that."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import duckdb

__all__ = ["Bounded", "Share"]

T = TypeVar("T")

_MORE = (2, 4, 8, 16, 64, None)
"""A statement that cannot do with the share is given so many times as much; at last, all."""

_ALL = "80%"


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


class Bounded:
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
