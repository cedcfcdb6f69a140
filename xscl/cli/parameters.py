"""`--params NAME=FILE.csv`: the rows of a CSV file (RFC 4180) as parameters of a query."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path

from xscl.errors import XSCLError
from xscl.files.gzipped import read_whole

__all__ = ["read_parameters"]

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")


def read_parameters(path: str | Path) -> Iterator[dict[str, object]]:
    """The rows of a CSV file (UTF-8, a header, RFC 4180) as parameters.

    A column of JSON numbers alone is one of numbers, any other is text: with `007` in it, an
    empty cell, or an integer of so many digits that no double has them.  The column `name`, which
    names queries, is always text.  Blank lines are skipped.
    Raises XSCLError with the file and line for what is no such file; it is read whole before the
    first row is given.
    """
    header, lines = _read_csv(path)
    columns: list[Sequence[object]] = []
    for name, *cells in zip(header, *lines, strict=True):
        numbers = [_number(cell) for cell in cells]
        columns.append(cells if name == "name" or None in numbers else numbers)
    return (dict(zip(header, row, strict=True)) for row in zip(*columns, strict=True))


def _read_csv(path: str | Path) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a file, all of one width."""
    content = read_whole(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise XSCLError(f"{path}, line {line}: it is not UTF-8: {error.reason}") from error
    header: list[str] = []
    lines = []
    for line, cells in _csv_rows(path, text):
        if not header:
            header = _checked(cells, f"{path}, line {line}")
        elif len(cells) != len(header):
            raise XSCLError(
                f"{path}, line {line}: found {len(cells)} cells; expected {len(header)}, one for "
                "each column of the header"
            )
        else:
            lines.append(cells)
    if not header:
        raise XSCLError(f"{path}, line 1: the file is empty; expected a header of column names")
    return header, lines


def _csv_rows(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line it starts on."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise XSCLError(f"{path}, line {line}: it is no CSV: {error}") from error


def _checked(header: list[str], place: str) -> list[str]:
    for position, name in enumerate(header):
        if not name:
            raise XSCLError(f"{place}: column {position + 1} of the header has no name")
        if name in header[:position]:
            raise XSCLError(f"{place}: two columns are named {name!r}; rename one")
    return header


def _number(cell: str) -> int | float | None:
    """The number that a cell is in JSON; None for text, for what is beyond all doubles and for an
    integer that no double is, which would be compared as another."""
    found = _JSON_NUMBER.fullmatch(cell)
    if found is None or not isfinite(float(cell)):
        return None
    if found["fraction"]:
        return float(cell)
    return int(cell) if int(cell) == float(cell) else None
