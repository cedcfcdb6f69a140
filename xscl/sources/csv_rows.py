"""The lines of a CSV file (RFC 4180, a header) become rows, lazily, each with its place.

A row that is none costs no other: where a quote is not closed, the lines that it has taken are read
again, each as a row of its own.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from xscl.errors import XSCLError
from xscl.sources.envelopes import Place
from xscl.sources.limits import MAX_DOCUMENT, too_large

__all__ = ["Row", "check_header", "csv_rows", "read_header"]

_SEPARATORS = ",;\t|"
_MOST_LINES = 1000
"""Lines of a row; one of more has a quote that is not closed."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the number of its first line, the bytes before it in the file, the place after it,
    and its cells, or the `problem` that it has none."""

    line: int
    start: int
    end: Place
    raw: bytes
    cells: list[str] = field(default_factory=list)
    problem: str | None = None


Line = tuple[int, int, bytes]
"""The number of a line, its place, and its bytes."""


class _Lines:
    """The lines of a file from a place on, as text; `taken` are those of the row at hand."""

    def __init__(self, file: BinaryIO, place: Place, limit: int) -> None:
        self._file, self._limit = file, limit
        self._number, self._offset = place.lines, place.offset
        self.again: deque[Line] = deque()
        self.taken: list[Line] = []

    def take(self) -> Line | None:
        """The next line."""
        if self.again:
            line = self.again.popleft()
        else:
            raw = self._file.readline(self._limit + 1)
            if not raw:
                return None
            start, length = self._offset, len(raw)
            rest = raw
            while len(rest) > self._limit and not rest.endswith(b"\n"):
                rest = self._file.readline(self._limit + 1)
                length += len(rest)
            self._number, self._offset = self._number + 1, start + length
            line = self._number, start, raw
        self.taken.append(line)
        return line

    def __iter__(self) -> Iterator[str]:
        size = 0
        while (line := self.take()) is not None:
            size += len(line[2])
            if size > self._limit:
                raise ValueError(too_large(self._limit))
            if len(self.taken) > _MOST_LINES:
                raise ValueError(f"it has more than {_MOST_LINES:,} lines: is a quote not closed?")
            yield line[2].decode()

    def end(self) -> Place:
        """The place after the row at hand."""
        offset = self.again[0][1] if self.again else self._offset
        return Place(self.taken[-1][0], offset)


def read_header(file: BinaryIO, name: str, *, tabs: bool = False) -> tuple[list[str], str, Place]:
    """The names of the columns, from a file's beginning, what separates them (of comma, semicolon,
    tab and bar the most frequent), and the place after them.  Raises XSCLError where there are
    none."""
    for row in csv_rows(file, Place(), separator="\t" if tabs else None):
        if row.problem is not None:
            raise XSCLError(f"{name}, line {row.line}: {row.problem}")
        check_header(row.cells, f"{name}, line {row.line}")
        first = row.raw.decode("utf-8-sig")
        return row.cells, "\t" if tabs else _separator(first), row.end
    raise XSCLError(f"{name} is empty; expected a header of column names")


def check_header(header: list[str], place: str) -> None:
    """Raises XSCLError for a header with a column that has no name, or that of another."""
    seen = set[str]()
    for position, name in enumerate(header):
        if not name:
            raise XSCLError(f"{place}: column {position + 1} of the header has no name")
        if name in seen:
            raise XSCLError(f"{place}: two columns are named {name!r}; rename one")
        seen.add(name)


def csv_rows(
    file: BinaryIO, place: Place, *, separator: str | None, limit: int = MAX_DOCUMENT
) -> Iterator[Row]:
    """The rows of a file from a place on; blank lines are passed over."""
    lines = _Lines(file, place, limit)
    csv.field_size_limit(max(limit, csv.field_size_limit()))
    alone = 0
    while True:
        lines.taken = []
        one_line = alone > 0
        alone = max(0, alone - 1)
        problem, cells = None, list[str]()
        try:
            cells = _parse(lines, separator, one_line=one_line)
        except UnicodeDecodeError as error:
            problem = f"it is not UTF-8: {error.reason}"
        except (ValueError, csv.Error) as error:
            problem = str(error) if isinstance(error, ValueError) else f"it is no CSV: {error}"
        if not lines.taken:
            return
        if problem is not None and len(lines.taken) > 1:
            lines.again.extendleft(reversed(lines.taken[1:]))
            alone = max(alone, len(lines.taken) - 1)
            lines.taken = lines.taken[:1]
        first, start, _ = lines.taken[0]
        raw = b"".join(line for _, _, line in lines.taken)
        if problem is None and not cells:
            continue
        yield Row(first, start, lines.end(), raw, cells, problem)


def _parse(lines: _Lines, separator: str | None, *, one_line: bool) -> list[str]:
    """The cells of the next row, none of a blank line; raises what is wrong with it."""
    texts: Iterator[str]
    if one_line:
        line = lines.take()
        texts = iter(() if line is None else (line[2].decode(),))
    else:
        texts = iter(lines)
    first = next(texts, "")
    if lines.taken and lines.taken[0][1] == 0:
        first = first.removeprefix("\ufeff")
    delimiter = separator or _separator(first)

    def all_of_it() -> Iterator[str]:
        yield first
        yield from texts

    return next(csv.reader(all_of_it(), delimiter=delimiter, strict=True), [])


def _separator(header: str) -> str:
    """What separates the columns of a header.

    >>> _separator("a;b;c,d"), _separator("a")
    (';', ',')
    """
    return max(_SEPARATORS, key=header.count)
