"""The errors that a user's input can cause, one hierarchy.

    XSCLError
    ├── QueryError            a query that cannot be subscribed: .query .line .column
    │   └── QuerySyntaxError  text that is no XSCL
    ├── DocumentError         a document that cannot be read: .stream .document
    ├── MatchError            a match that cannot be written: .query .documents
    ├── QueryStopped          a query that needs more than the engine allows: .query
    └── StateError            the engine's state does not allow what was asked

Each message says what was wrong, where, and what to do.  Several errors of one
query file come as an `ExceptionGroup` whose members they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache

__all__ = [
    "DocumentError",
    "MatchError",
    "QueryError",
    "QueryStopped",
    "QuerySyntaxError",
    "StateError",
    "XSCLError",
    "line_and_column",
]


_NAMED = 3
"""The documents of a match that its error names."""


class XSCLError(Exception):
    """The base of every error raised for a user's input."""


class QueryError(XSCLError):
    """A query that says something impossible.

    `query` is its name, `line` and `column` (1-based) the place in the text it came in,
    `problem` the one-line reason.  `str()` shows all of them, the line and a caret.
    """

    def __init__(self, problem: str, *, query: str, text: str, at: int) -> None:
        self.query = query
        self.problem = problem
        self.line, self.column = line_and_column(text, at)
        self._text = text
        super().__init__(problem)

    @property
    def source(self) -> str:
        """The line with the problem (cut out on demand: it may be the text's only one)."""
        starts = _line_starts(self._text)
        end = starts[self.line] - 1 if self.line < len(starts) else len(self._text)
        return self._text[starts[self.line - 1] : end].rstrip("\r")

    def __str__(self) -> str:
        line, caret = _excerpt(self.source, self.column)
        return (
            f"query {self.query!r}, line {self.line}, column {self.column}: {self.problem}\n"
            f"    {line}\n    {caret}"
        )


class QuerySyntaxError(QueryError):
    """Text that is no XSCL: the problem says what was found and what was expected."""


class DocumentError(XSCLError):
    """A document that cannot be read; the others are unaffected.

    `envelope` is its envelope, if it was one of several that were published.
    """

    envelope: Mapping[str, object] | None = None

    def __init__(self, problem: str, *, stream: str, document: str) -> None:
        self.stream = stream
        self.document = document
        self.problem = problem
        super().__init__(f"document {document!r} of stream {stream!r}: {problem}")


class MatchError(XSCLError):
    """A match that cannot be written; the others are unaffected.  It is reported, never raised."""

    def __init__(self, problem: str, query: str, documents: Sequence[str]) -> None:
        self.query = query
        self.documents = documents
        self.problem = problem
        over = f" of {', '.join(map(repr, documents[:_NAMED]))}" if documents else ""
        more = ", …" if len(documents) > _NAMED else ""
        super().__init__(f"a match{over}{more} of query {query!r}: {problem}")


class QueryStopped(XSCLError):
    """A query that was cancelled because it needs more than the engine allows; the others are
    unaffected.  It is reported, never raised."""

    def __init__(self, problem: str, query: str) -> None:
        self.query = query
        self.problem = problem
        super().__init__(f"query {query!r} was stopped: {problem}")


class StateError(XSCLError):
    """The engine's state does not allow what was asked (it is closed, a name is unknown)."""


def line_and_column(text: str, at: int) -> tuple[int, int]:
    """An offset as people count: lines and columns from 1.

    >>> line_and_column("S//a;\\nS//b[", 11)
    (2, 6)
    """
    starts = _line_starts(text)
    at = min(max(at, 0), len(text))
    line = bisect_right(starts, at)
    return line, at - starts[line - 1] + 1


# A text may have as many errors as lines: lines are counted once, not for each error.
@lru_cache(maxsize=2)
def _line_starts(text: str) -> list[int]:
    starts = [0]
    while end := text.find("\n", starts[-1]) + 1:
        starts.append(end)
    return starts


def _excerpt(source: str, column: int, width: int = 100) -> tuple[str, str]:
    """The part of a line around a column, and a caret under that column."""
    source = source.replace("\t", " ")
    start = 0 if len(source) <= width else max(0, min(column - width // 2, len(source) - width))
    line = source[start : start + width]
    caret = " " * (column - 1 - start) + "^"
    if start:
        line, caret = "…" + line, " " + caret
    if start + width < len(source):
        line += "…"
    return line, caret
