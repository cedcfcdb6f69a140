"""A connection's share of memory: a statement that cannot do without more gets more, and only that
one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import duckdb

__all__ = ["Bounded", "Share"]

T = TypeVar("T")

_MORE = (2, 4, 8, 16, 64, None)
"""A statement that fails within the share gets so many times as much; at last, all."""

_ALL = "80%"


def _with_more(share: int, limit: Callable[[str], object], run: Callable[[], T]) -> T:
    """Runs an action that failed within a share with more and more memory; raises its last error if
    all of it is too little."""
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
    """The share of memory that a connection of its own database has; an action that cannot do
    without more gets more, and only that one."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, share: int) -> None:
        self._connection = connection
        self._share = share
        self._limit(f"{share}B")

    def within(self, run: Callable[[], T]) -> T:
        """Runs an action that leaves nothing behind where it fails; again, with more memory, where
        that was too little."""
        try:
            return run()
        except duckdb.Error as error:
            if not _is_shortage(error):
                raise
        try:
            return _with_more(self._share, self._limit, run)
        finally:
            # A failure here is of what was found meanwhile: the next one reports it.
            with contextlib.suppress(duckdb.Error):
                self._limit(f"{self._share}B")

    @contextlib.contextmanager
    def lifted(self) -> Iterator[None]:
        """For an action that must not fail for the bound: it may use what it needs, until its
        end."""
        self._limit(_ALL)
        try:
            yield
        finally:
            with contextlib.suppress(duckdb.Error):
                self._limit(f"{self._share}B")

    def _limit(self, limit: str) -> None:
        self._connection.execute(f"SET memory_limit = '{limit}'")


def _is_shortage(error: duckdb.Error) -> bool:
    """Whether there was too little memory; only the text of an error of COMMIT says so."""
    return isinstance(error, duckdb.OutOfMemoryException) or "memory limit" in str(error)


class Bounded:
    """A connection whose statements have a share of memory.  A statement that cannot do with it
    gets more, until the next one; `exceeded` counts these."""

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
        """Executes a statement; its changes are undone where it fails."""
        if self._raised:
            # Only now: the result of the last statement may not have been fetched before.
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
