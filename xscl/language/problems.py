"""A problem of a query that is being read: a place and a sentence.

The steps of this package know neither the query's name nor the whole text; they leave
`Problem`s, or raise `Unreadable` where nothing after the problem can be understood.
`xscl.language.parse` makes `QueryError` and `QuerySyntaxError` of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xscl.errors import line_and_column

__all__ = ["Problem", "Unbound", "Unreadable", "enumerated", "place"]


class Problem(NamedTuple):
    """One sentence about the character at offset `at`."""

    at: int
    text: str


class Unreadable(Exception):
    """Text that is no XSCL (or nested too deeply to be read)."""

    def __init__(self, at: int, text: str) -> None:
        super().__init__(text)
        self.problem = Problem(at, text)


class Unbound(ValueError):
    """A parameter without a value, met where its value decides what the query is."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the parameter `:{name}` is not bound")
        self.name = name


def enumerated(words: Iterable[str], last: str = "or") -> str:
    """A list in a sentence.

    >>> enumerated(["`/`", "`//`", "`;`"])
    '`/`, `//` or `;`'
    """
    *front, final = words
    return f"{', '.join(front)} {last} {final}" if front else final


def place(text: str, at: int) -> str:
    """An offset as people count: lines and columns from 1."""
    line, column = line_and_column(text, at)
    return f"line {line}, column {column}"
