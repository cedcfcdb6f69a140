"""Matches as JSON Lines: a JSON object a line for each match, in UTF-8."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xscl.matches.match import Match

__all__ = ["json_lines"]

_SIDES = attrgetter("_sides")


def json_lines(matches: Iterable[Match]) -> Iterator[bytes]:
    """Each match as a line; those of a query that follow each other are written together."""
    from xscl.matches.match import json_line, row_form

    for form, some in groupby(matches, row_form):
        if form is None:
            yield from map(json_line, some)
        else:
            made, query = form
            yield from made.lines(query, map(_SIDES, some))
