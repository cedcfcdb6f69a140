"""What is known of an object -> a small HTML table for a notebook, of bounded size.  Its texts,
which strangers may have written, are never markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

from xscl.printable import printable

__all__ = ["MOST_ROWS", "short", "table"]

MOST_ROWS = 20
"""The maximal number of rows shown."""

_LONGEST = 1_000


def table(
    title: str,
    rows: Iterable[Sequence[object]],
    *,
    heads: Sequence[str] = (),
    of: int | None = None,
) -> str:
    """A table of the first rows; `of` is how many there are.  Without heads the first cell of a row
    is its head.

    >>> table("a<b", [("x", 7)])
    '<table><caption>a&lt;b</caption><tr><th>x</th><td>7</td></tr></table>'
    """
    lines = [f"<table><caption>{_cell(title)}</caption>"]
    if heads:
        lines.append(_row(heads, heads=len(heads)))
    shown = [_row(row, heads=0 if heads else 1) for row in islice(rows, MOST_ROWS)]
    if of is not None and of > len(shown):
        shown.append(_row([f"… {of - len(shown):,} more"], heads=0))
    return "".join([*lines, *shown, "</table>"])


def short(texts: Sequence[str], most: int = 4) -> str:
    """Some texts in a line: the first ones whole or cut, and how many more.

    >>> short(["d1", "d2"]), short(list("abcdef"))
    ("'d1', 'd2'", "'a', 'b', 'c', 'd', … 2 more")
    """
    shown = [repr(text if len(text) <= 80 else f"{text[:79]}…") for text in texts[:most]]
    more = [f"… {len(texts) - most:,} more"] if len(texts) > most else []
    return ", ".join([*shown, *more])


def _row(cells: Sequence[object], *, heads: int) -> str:
    tags = ("th" if number < heads else "td" for number in range(len(cells)))
    return "".join(
        [
            "<tr>",
            *(f"<{tag}>{_cell(cell)}</{tag}>" for tag, cell in zip(tags, cells, strict=True)),
            "</tr>",
        ]
    )


def _cell(value: object) -> str:
    text = str(value)
    return escape(printable(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"))
